"""L-BFGS, which needs only values and gradients.

`_lbfgs.py` calls SciPy. If the gradient of a convex problem jumps, `_bundle.py`
continues.
"""

from ._lbfgs import EvaluatedPoint, minimize_lbfgs

__all__ = ["EvaluatedPoint", "minimize_lbfgs"]
