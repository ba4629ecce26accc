"""Newton's methods: a direction from the Hessian, then a line search.

`_newton_cholesky.py` writes the Hessian out and factorises it, `_newton_cg.py` solves
by conjugate gradients (`_conjugate_gradients.py`), preconditioned with a part of the
Hessian (`_preconditioner.py`). `_newton_family.py` takes several little problems of the
same rows at once.
"""
