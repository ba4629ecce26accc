"""A margin for any loss."""

from __future__ import annotations

from typing import Any

from .._utils.typing import Array, ArrayLike
from .._utils.validation import InstancesOf, RealInterval
from ._base import Loss, LossLike


class MarginLoss(Loss):
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
    def mapping(self) -> Any:
        """The mapping of the loss."""
        return self.loss.mapping

    @property
    def is_convex(self):
        """Whether the loss is convex."""
        return self.loss.is_convex

    @property
    def has_kinks(self):
        """Whether the loss is convex, with a gradient that jumps."""
        return self.loss.has_kinks

    @property
    def supports_array_api(self):
        """Whether the kernels of the loss take arrays of any library."""
        return self.loss.supports_array_api

    @property
    def has_bounded_hessian(self):
        """Whether the second derivatives of the loss are bounded."""
        return self.loss.has_bounded_hessian

    @property
    def is_separable(self):
        """Whether the loss is a sum of losses of one score each."""
        return self.loss.is_separable

    @property
    def has_negative_entropy(self):
        """Whether the loss has the method `negative_entropy`."""
        return self.loss.has_negative_entropy

    def negative_entropy(self, probabilities: Array) -> Array:
        return self.loss.negative_entropy(probabilities)

    def constant(self, target, n_available=None):
        return self.loss.constant(target, n_available)

    def check_on(self, make_scores):
        self.loss.check_on(make_scores)

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
