"""Probabilities of all rows for which the duality gap is small: see `_certificates`."""

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from .._arrays import as_type, beside, copied, namespace, to_numpy
from ..mappings import get_mapping
from . import _block

# Raw predictions and probabilities of all rows are held in memory up to so many numbers
# (128 MiB each), or 8 for each number of X.
_MOST_PREDICTIONS = 1 << 24


def fit_in_memory(description):
    """Whether those of all rows do; never where each sum is a round trip."""
    n_predictions = description.n_rows * description.shape[0]
    limit = max(8 * description.n_stored, _MOST_PREDICTIONS)
    return n_predictions <= limit and not description.is_remote


class RowsNearby:
    """A block's rows near parameters: what steps do to their probabilities."""

    def __init__(self, block, points, loss):
        self._block, self._loss = block, loss
        self._predictions = _block.raw_predictions(block.design, points)
        self._linear = _block.linearize_loss(loss, self._predictions, block.target)

    def product(self, shift):
        """Hessian in the intercepts, times a shift of them."""
        product = self._linear.hessian_product(self._along(shift))
        _block.check_finite("second derivative of the loss", product, self._loss)
        return (to_numpy(self._block.weight @ product),)

    def dual_point(self, step, is_shift):
        """Sums over the rows for probabilities to first order along a step.

        Rows where these leave the polytope get those at the end of the step. The sums
        are negative entropy, that of ⟨p, q⟩, and the gradient of the loss with these
        probabilities.
        """
        block, target, weight = self._block, self._block.target, self._block.weight
        if is_shift:
            along = self._along(step[:, -1])
        else:
            along = _block.raw_predictions(block.design, step[None])
        residual = self._linear.gradient + self._linear.hessian_product(along)
        p = _probabilities(residual, target)
        outside = _outside(p, get_mapping(self._loss.mapping))
        if outside is not None:
            end = _block.evaluate_loss(self._loss, self._predictions + along, target)[1]
            residual = namespace(p).where(outside[:, None], end, residual)
            p = _probabilities(residual, target)
        entropy = _block.weighted_total(self._loss.negative_entropy(p), weight)[0]
        coupling = _block.weighted_total(target.inner(p), weight)[0]
        residual *= weight[:, None]
        return entropy, coupling, _block.gradients(block.design, residual, 1)[0]

    def _along(self, shift):
        # In the layout of what it is multiplied with.
        along = namespace(self._predictions).empty_like(self._predictions)
        along[...] = as_type(beside(shift, along), along.dtype)
        return along


def _probabilities(residual, target):
    """Of all classes, from their difference to the target in raw predictions."""
    is_pair = residual.shape[1] < target.shape[1]
    p = _block.scores_of(2 * residual) if is_pair else copied(residual)
    target.add_to(p, 1)
    return p


def _outside(p, mapping):
    """Which rows are not in the polytope of a mapping, but for rounding; or None."""
    xp, (least, most) = namespace(p), mapping.sum_range
    rounding, total = 1e3 * xp.finfo(p.dtype).eps, xp.sum(p, axis=1)
    is_wrong = (total < least - rounding) | (total > most + rounding)
    if xp.min(p) >= 0 and xp.max(p) <= 1 + rounding and not xp.any(is_wrong):
        return None
    return is_wrong | (xp.min(p, axis=1) < 0) | (xp.max(p, axis=1) > 1 + rounding)


def intercept_step(rows, gradient, share):
    """Newton's step of the intercepts alone, by conjugate gradients, to 1/2000.

    A class's curvature is about in proportion to its `share` of the target.
    """
    n = len(gradient)
    scale = 1 / np.sqrt(np.maximum(share[:n], np.finfo(float).eps))

    def product(direction):
        return scale * rows.sum(RowsNearby.product, scale * direction)[0]

    hessian = LinearOperator((n, n), matvec=product, dtype=np.float64)
    step, _ = cg(hessian, -scale * gradient, rtol=1 / 2000, maxiter=n)
    # Without any curvature it is not finite.
    return scale * step if np.isfinite(step).all() else np.zeros(n)
