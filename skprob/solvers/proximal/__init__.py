"""Solvers of composite problems: a smooth function plus a shrinkage.

`_proximal_newton.py` has the steps and the working set of features. Each step minimises
a quadratic model plus the shrinkage, in `_quadratic_model.py`, with second derivatives
from `_curvature.py`: the Hessian of some parameters, products with it, or L-BFGS.
"""

from ._proximal_newton import ProximalNewton

__all__ = ["ProximalNewton"]
