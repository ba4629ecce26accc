"""Newton's step of the intercepts alone, for the duality gap: see `_certificates`."""

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from . import _block_point
from ._linear_point import LinearCurvature, LinearPoint


def intercept_step(objective, point):
    """Newton's step (M,) of the intercepts alone, by conjugate gradients, to 1/2000.

    A ``LinearPoint`` has the raw predictions of its rows. For another point they are
    computed, in half a pass, and kept.
    """
    if isinstance(point, LinearPoint):
        curvature = point
    else:
        objective.count(0.5)
        parameters = point.parameters.reshape(objective.shape)
        function = _block_point.point_at
        kept = objective.blocks.map(function, parameters, objective.loss)
        curvature = LinearCurvature(objective, parameters, kept)
    gradient = point.gradient.reshape(objective.shape)[:, -1]
    n = len(gradient)
    # A class's curvature is about in proportion to its share of the target.
    share = objective.target_sums().mean[:n]
    scale = 1 / np.sqrt(np.maximum(share, np.finfo(float).eps))

    def product(direction):
        if not np.isfinite(direction).all():
            # The product before had no curvature, by which SciPy divides.
            return direction
        return scale * curvature.intercept_product(scale * direction)

    hessian = LinearOperator((n, n), matvec=product, dtype=np.float64)
    step, _ = cg(hessian, -scale * gradient, rtol=1 / 2000, maxiter=n)
    # The step is not finite if there is no curvature.
    return scale * step if np.isfinite(step).all() else np.zeros(n)
