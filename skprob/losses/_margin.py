"""A margin for any loss."""

from __future__ import annotations

from typing import Any

from .._typing import Array, ArrayLike
from .._validation import InstancesOf, RealInterval
from ._base import Loss, LossLike
from ._wrapped import WrappedLoss


class MarginLoss(WrappedLoss):
    r"""A loss that asks for a margin between the target's score and the others.

    .. math:: \ell_m(z; q) = \ell(z + m (1 - q); q)

    adds m to the scores of the wrong classes. For a shift-invariant mapping this is the
    same as subtracting m from the target's score. It is the cost-augmented loss for the
    cost 1 - q. With softmax and cosines as scores it is AM-softmax, also called
    CosFace.

    Parameters
    ----------
    loss : Loss
        The loss without a margin, with its mapping.
    margin : float, default=0.0
        What is added to the scores of the wrong classes; non-negative.

    References
    ----------
    Wang, Cheng, Liu, Liu, "Additive margin softmax for face verification", IEEE
    Signal Processing Letters 2018.

    Blondel, Martins, Niculae, "Learning with Fenchel-Young losses", JMLR 2020 (cost
    margins).

    Examples
    --------
    >>> from skprob.losses import FenchelYoungLoss, MarginLoss
    >>> loss = FenchelYoungLoss("sparsemax")
    >>> loss.value([[1.0, 0.0]], [[1, 0]])
    array([0.])
    >>> MarginLoss(loss, margin=0.5).value([[1.0, 0.0]], [[1, 0]])
    array([0.0625])
    """

    _parameter_constraints = {
        "loss": [InstancesOf(Loss)],
        "margin": [RealInterval(0, None, closed="left")],
    }

    def __init__(self, loss: LossLike, margin: float = 0.0) -> None:
        self.loss = loss
        self.margin = margin

    @property
    def total_margin(self):
        """The margin, with that of the loss."""
        return self.margin + self.loss.total_margin

    def with_mapping(self, mapping):
        return MarginLoss(self.loss.with_mapping(mapping), self.margin)

    def check(self):
        self._validate_params()
        self.loss.check()
        self._check_polytope()

    def stages(self):
        return [
            *(MarginLoss(stage, self.margin) for stage in self.loss.stages()[:-1]),
            self,
        ]

    def evaluate(self, scores, target):
        return self.loss.evaluate(self._augmented(scores, target), target)

    def linearize(self, scores, target):
        return self.loss.linearize(self._augmented(scores, target), target)

    def noise_gradient(self, scores: ArrayLike, target: Any) -> Array:
        return self.loss.noise_gradient(self._augmented(scores, target), target)

    def _augmented(self, scores, target):
        scores += self.margin
        target.add_to(scores, -self.margin)
        return scores
