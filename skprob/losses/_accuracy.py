"""Smooth accuracy."""

from __future__ import annotations

from .._utils.arrays import copied
from .._utils.checks import OneOf
from ..mappings import MappingLike
from ._base import Loss, LossLinearization, shift_to_standard
from ._fenchel_young import matching_loss
from ._mapping_results import check_second_derivatives, check_shape


class AccuracyLoss(Loss):
    r"""Minus the probability of the target: smooth accuracy.

    .. math:: \ell(z; q) = -\langle q, p(z) \rangle

    is minus the expected accuracy of a class that is drawn from the probabilities. It
    is bounded, so a mislabelled row has little influence. It is not convex, so the
    result depends on the starting point. A fit starts from the optimum of the mapping's
    matching loss (for softmax the log loss).

    Parameters
    ----------
    mapping : Mapping, str or None, default=None
        A mapping, or its registered name. None stands for the mapping of the classifier
        to which the loss is passed.
    pretrain : "auto" or None, default="auto"
        The loss that a fit minimises first: the mapping's matching loss, or none.

    See Also
    --------
    LogLoss : Minus the logarithm of the same probability.

    Examples
    --------
    >>> from skprob.losses import AccuracyLoss
    >>> loss = AccuracyLoss("sparsemax")
    >>> loss.value([[0.5, 0.3], [0.0, 5.0]], [[1, 0], [1, 0]])
    array([-0.6,  0. ])
    """

    _parameter_constraints = {"pretrain": [OneOf("auto"), None]}

    def __init__(
        self, mapping: MappingLike | None = None, pretrain: str | None = "auto"
    ) -> None:
        super().__init__(mapping)
        self.pretrain = pretrain

    def stages(self):
        if self.pretrain is None:
            return [self]
        return [matching_loss(self.mapping), self]

    def linearize(self, scores, target):
        mapping = self.mapping
        q = target.to_dense(scores.dtype)
        linear = mapping.linearize(shift_to_standard(scores, mapping))
        p = linear.probabilities
        check_shape(mapping, "probabilities", p, target.shape)

        def hessian_product(direction):
            check_second_derivatives(self, linear)
            return -linear.vjp_derivative(q, direction)

        gradient = -linear.vjp(q)
        return LossLinearization(
            -target.inner(p), lambda: copied(gradient), hessian_product
        )
