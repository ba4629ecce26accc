"""Losses of two classes, as functions of the difference of their scores.

The difference u, and derivatives in it, are of shape (n_samples, 1). The scores of the
two classes are -u/2 and +u/2.
"""

from .._utils.arrays import copied
from .._utils.scores import pair_adjoint, pair_scores
from ..mappings import DiagonalMatrices
from ._base import LossLinearization
from ._fenchel_young import FenchelYoungLoss


def evaluate_difference(loss, difference, target):
    """Values without the constant, (n_samples,), and gradient in the difference."""
    pair = _formula(loss, difference)
    if pair is not None:
        return _value_and_gradient(pair, difference[:, 0], target)
    values, gradient = loss.evaluate(pair_scores(difference), target)
    return values, pair_adjoint(gradient)


def linearize_difference(loss, difference, target):
    """:class:`LossLinearization` in the difference."""
    pair = _formula(loss, difference)
    if pair is None:
        return in_difference(loss.linearize(pair_scores(difference), target))
    values, gradient = _value_and_gradient(pair, difference[:, 0], target)
    hessian = DiagonalMatrices(lambda: pair.derivative()[:, None])
    return LossLinearization(values, lambda: copied(gradient), hessian.product, hessian)


def in_difference(linear):
    """A :class:`LossLinearization` at two scores, as one in their difference."""

    def product(direction):
        return pair_adjoint(linear.hessian_product(pair_scores(direction)))

    return LossLinearization(
        linear.values, lambda: pair_adjoint(linear.residual()), product
    )


def _formula(loss, difference):
    """The ``DifferenceLinearization`` of the mapping; None if it gives no loss."""
    # A subclass may have another loss.
    if type(loss) is not FenchelYoungLoss:
        return None
    return loss.mapping.linearize_difference(difference[:, 0])


def _value_and_gradient(pair, u, target):
    """Value and gradient of the Fenchel-Young loss in the difference u."""
    second = target.second
    # ⟨q, z⟩ of standard scores: zero where the target is the class of the larger score.
    inner = u * (second - 0.5) - abs(u) / 2
    return pair.potential - inner, (pair.second - second)[:, None]
