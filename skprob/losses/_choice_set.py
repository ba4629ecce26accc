"""Any loss where some classes are not available."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array, ArrayLike
from ._base import Loss, LossLike
from ._wrapped import WrappedLoss


class ChoiceSetLoss(WrappedLoss):
    r"""Another loss, where classes that are not available have the score -inf.

    Its target is a :class:`~skprob.targets.ChoiceSetTarget`, which knows the classes
    that are available to each row; the loss of a row is the other loss, computed over
    these classes. With softmax it is the conditional logit model.

    Parameters
    ----------
    loss : Loss
        The other loss, with its mapping.

    References
    ----------
    D. McFadden, "Conditional logit analysis of qualitative choice behavior", in:
    Frontiers in Econometrics, 1974.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.losses import ChoiceSetLoss, FenchelYoungLoss
    >>> from skprob.targets import ChoiceSetTarget, SparseTarget
    >>> label = SparseTarget.from_labels(np.array([0]), n_classes=3)
    >>> target = ChoiceSetTarget(label, np.array([[True, True, False]]))
    >>> loss = ChoiceSetLoss(FenchelYoungLoss("softmax"))
    >>> loss.evaluate(np.zeros((1, 3)), target)[1]
    array([[-0.5,  0.5,  0. ]])
    """

    _parameter_constraints = {"loss": [Loss]}
    has_common_classes = False

    def __init__(self, loss: LossLike) -> None:
        self.loss = loss

    def negative_entropy(self, probabilities):
        # One distribution for all rows gives some row a class that it has not.
        return np.full(len(probabilities), np.inf)

    def with_mapping(self, mapping):
        return ChoiceSetLoss(self.loss.with_mapping(mapping))

    def check(self):
        self._validate_params()
        self.loss.check()

    def stages(self):
        return [ChoiceSetLoss(stage) for stage in self.loss.stages()]

    def constant(self, target, n_available=None):
        return self.loss.constant(target.target, target.n_available)

    def evaluate(self, scores, target):
        target.mask(scores, -np.inf)
        return self.loss.evaluate(scores, target.target)

    def linearize(self, scores, target):
        target.mask(scores, -np.inf)
        return self.loss.linearize(scores, target.target)

    def noise_gradient(self, scores: ArrayLike, target: Any) -> Array:
        target.mask(scores, -np.inf)
        return self.loss.noise_gradient(scores, target.target)
