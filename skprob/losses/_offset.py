"""Any loss of scores to which something known is added."""

from __future__ import annotations

from ._wrapped import GivenLoss


class OffsetLoss(GivenLoss):
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

    def _put_into(self, scores, target):
        scores += target.offset
