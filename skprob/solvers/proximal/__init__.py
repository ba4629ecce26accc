"""Solvers of composite problems: a smooth function plus a shrinkage.

Read `_proximal_newton.py` first, from top to bottom: it has the steps. In the order of
a step, `_working_set.py` chooses features, `_minimised_model.py` chooses the curvature
of the quadratic model (by the costs of `_hessian_choice.py`), `_quadratic_model.py`
minimises the model plus the shrinkage, and `_step_length.py` searches along the step to
its minimum. There are three kinds of curvature (`_curvature.py`): the Hessian matrix of
some parameters (`_piece_hessian.py`), products with the Hessian
(`_hessian_products.py`), and the approximation of L-BFGS (`_lbfgs_matrix.py`).
"""

from ._proximal_newton import ProximalNewton

__all__ = ["ProximalNewton"]
