"""Any loss of scores to which something known is added."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array, ArrayLike
from ._base import Loss, LossLike
from ._wrapped import WrappedLoss


class OffsetLoss(WrappedLoss):
    r"""Another loss, computed from scores to which known offsets are added.

    Its target is a :class:`~skprob.targets.OffsetTarget`, which knows the offset o of
    each row and class:

    .. math:: \ell_o(z; q) = \ell(z + o; q)

    Parameters
    ----------
    loss : Loss
        The other loss, with its mapping.

    References
    ----------
    McCullagh, Nelder, "Generalized linear models", second edition, Chapman and Hall
    1989.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.losses import FenchelYoungLoss, OffsetLoss
    >>> from skprob.targets import OffsetTarget, SparseTarget
    >>> label = SparseTarget.from_labels(np.array([0]), n_classes=2)
    >>> target = OffsetTarget(label, np.array([[np.log(3), 0.0]]))
    >>> loss = OffsetLoss(FenchelYoungLoss("softmax"))
    >>> loss.evaluate(np.zeros((1, 2)), target)[1].round(2)
    array([[-0.25,  0.25]])
    """

    _parameter_constraints = {"loss": [Loss]}
    # Rows differ in more than their target.
    has_common_classes = False

    def __init__(self, loss: LossLike) -> None:
        self.loss = loss

    def negative_entropy(self, probabilities):
        # The certificate takes one distribution for all rows, with the same scores.
        return np.full(len(probabilities), np.inf)

    def with_mapping(self, mapping):
        return OffsetLoss(self.loss.with_mapping(mapping))

    def check(self):
        self._validate_params()
        self.loss.check()

    def stages(self):
        return [OffsetLoss(stage) for stage in self.loss.stages()]

    def constant(self, target, n_available=None):
        return self.loss.constant(target.target, n_available)

    def evaluate(self, scores, target):
        scores += target.offset
        return self.loss.evaluate(scores, target.target)

    def linearize(self, scores, target):
        scores += target.offset
        return self.loss.linearize(scores, target.target)

    def noise_gradient(self, scores: ArrayLike, target: Any) -> Array:
        scores += target.offset
        return self.loss.noise_gradient(scores, target.target)
