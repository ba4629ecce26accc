"""A margin for any loss."""

from .._validation import RealInterval
from ._base import Loss


class MarginLoss(Loss):
    r"""A loss of scores that the target must beat by a margin.

    .. math:: \ell_m(z; q) = \ell(z + m (1 - q); q)

    raises the scores of the wrong classes, or, which is the same for a mapping that
    does not mind shifts, lowers the target's score by m. It is the cost-augmented
    loss for the cost 1 - q. With softmax and cosines as scores it is AM-softmax, also
    called CosFace.

    Parameters
    ----------
    loss : Loss
        The loss, with its mapping.
    margin : float, default=0.0
        In units of the scores; not negative.

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
        "loss": [Loss],
        "margin": [RealInterval(0, None, closed="left")],
    }

    def __init__(self, loss, margin=0.0):
        self.loss = loss
        self.margin = margin

    @property
    def mapping(self):
        """The mapping of the loss."""
        return self.loss.mapping

    @property
    def is_convex(self):
        """Whether the loss is."""
        return self.loss.is_convex

    @property
    def has_bounded_hessian(self):
        """Whether the loss has one."""
        return self.loss.has_bounded_hessian

    @property
    def is_separable(self):
        """Whether the loss is."""
        return self.loss.is_separable

    @property
    def has_negative_entropy(self):
        """Whether the loss has one."""
        return self.loss.has_negative_entropy

    @property
    def total_margin(self):
        """The margin, with that of the loss."""
        return self.margin + self.loss.total_margin

    def negative_entropy(self, probabilities):
        return self.loss.negative_entropy(probabilities)

    def with_mapping(self, mapping):
        return MarginLoss(self.loss.with_mapping(mapping), self.margin)

    def check(self):
        self._validate_params()
        self.loss.check()
        self._check_polytope()

    def constant(self, target, n_available=None):
        return self.loss.constant(target, n_available)

    def stages(self):
        return [
            *(MarginLoss(stage, self.margin) for stage in self.loss.stages()[:-1]),
            self,
        ]

    def check_on(self, make_scores):
        self.loss.check_on(make_scores)

    def evaluate(self, scores, target):
        return self.loss.evaluate(self._augmented(scores, target), target)

    def linearize(self, scores, target):
        return self.loss.linearize(self._augmented(scores, target), target)

    def _augmented(self, scores, target):
        scores += self.margin
        target.add_to(scores, -self.margin)
        return scores
