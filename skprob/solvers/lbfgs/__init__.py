"""L-BFGS, which needs values and gradients alone.

`_lbfgs.py` hands the problem to SciPy. Where the gradient of a convex problem jumps,
`_bundle.py` continues from there.
"""

from ._lbfgs import EvaluatedPoint, minimize_lbfgs

__all__ = ["EvaluatedPoint", "minimize_lbfgs"]
