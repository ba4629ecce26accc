"""Any loss where some classes are not available."""

from __future__ import annotations

import numpy as np

from ._wrapped import GivenLoss


class ChoiceSetLoss(GivenLoss):
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

    def _put_into(self, scores, target):
        target.mask(scores, -np.inf)

    def constant(self, target, n_available=None):
        return self.loss.constant(target.target, target.n_available)
