"""Solvers of composite problems: a smooth function plus a shrinkage.

`_proximal_newton.py` has the steps: read it first, from top to bottom. In the order of
a step, `_working_set.py` chooses features, `_minimised_model.py` the curvature of the
quadratic model (`_hessian_choice.py`: what a Hessian costs), `_quadratic_model.py`
minimises the model plus the shrinkage, and `_step_length.py` goes along the way there.
Curvatures (`_curvature.py`) are the Hessian of some parameters, written out in
`_piece_hessian.py`; products with it, in `_hessian_products.py`; or those of L-BFGS, in
`_lbfgs_matrix.py`.
"""

from ._proximal_newton import ProximalNewton

__all__ = ["ProximalNewton"]
