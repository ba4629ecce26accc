"""A margin for any loss."""

from __future__ import annotations

from numbers import Real
from typing import Any

from .._utils.arrays import as_type, asarray_like
from .._utils.checks import InstancesOf, RealInterval, as_margins
from .._utils.typing import Array, ArrayLike
from ._base import Loss


class MarginLoss(Loss):
    r"""A loss with a margin between the target's score and the others.

    .. math:: \ell_m(z; q) = \ell(z + m (1 - q); q)

    adds m to the scores of the wrong classes. For a shift-invariant mapping this is the
    same as subtracting m from the target's score. With softmax and cosines as scores it
    is AM-softmax, also called CosFace.

    With a matrix of costs C instead of a number it is the cost-augmented loss
    :math:`\ell(z + C^\top q; q)`: for the true class i, the score of class j is raised
    by :math:`C_{ij}`. The number m is the matrix with m outside the diagonal.

    Parameters
    ----------
    loss : Loss
        The loss without a margin, with its mapping.
    margin : float, array-like or pandas DataFrame, default=0.0
        Non-negative number that is added to the scores of the wrong classes, or costs
        of shape (n_classes, n_classes): the row is the true class, the column the
        class whose score is raised. The diagonal must be zero. In a fit to labels,
        rows and columns of a DataFrame are matched with the classes by name.
        In a fit to label sets of which some are empty, the last row and column are
        those of "no label".

    See Also
    --------
    skprob.decision.LeastCost : Costs in prediction.

    References
    ----------
    Wang, Cheng, Liu, Liu, "Additive margin softmax for face verification", IEEE
    Signal Processing Letters 2018.

    Blondel, Martins, Niculae, "Learning with Fenchel-Young losses", JMLR 2020 (cost
    margins).

    Gimpel, Smith, "Softmax-margin CRFs: training log-linear models with cost
    functions", NAACL 2010.

    Examples
    --------
    >>> from skprob.losses import FenchelYoungLoss, MarginLoss
    >>> loss = FenchelYoungLoss("sparsemax")
    >>> loss.value([[1.0, 0.0]], [[1, 0]])
    array([0.])
    >>> MarginLoss(loss, margin=0.5).value([[1.0, 0.0]], [[1, 0]])
    array([0.0625])
    >>> costs = [[0, 1], [10, 0]]
    >>> MarginLoss(loss, costs).value([[3.0, 0.0], [0.0, 3.0]], [[1, 0], [0, 1]])
    array([0., 7.])
    """

    _parameter_constraints = {
        "loss": [InstancesOf(Loss)],
        "margin": [RealInterval(0, None, closed="left"), "array-like"],
    }

    def __init__(self, loss: Loss, margin: float | ArrayLike = 0.0) -> None:
        self.loss = loss
        self.margin = margin

    @property
    def mapping(self) -> Any:
        """The mapping of the loss."""
        return self.loss.mapping

    @property
    def traits(self):
        return self.loss.traits.but(has_proximal_step=False)

    def negative_entropy(self, probabilities: Array) -> Array:
        return self.loss.negative_entropy(probabilities)

    def constant(self, target, n_available=None):
        return self.loss.constant(target, n_available)

    def check_on(self, make_scores):
        self.loss.check_on(make_scores)

    @property
    def _is_number(self):
        return isinstance(self.margin, Real)

    def margins(self, target, like):
        if self._is_number:
            margin = float(self.margin)
            margins = margin - margin * target.to_dense(like.dtype)
        else:
            margins = self._of_matrix(target, like)
        others = self.loss.margins(target, like)
        return margins if others is None else margins + others

    def for_classes(self, n_classes, labels=None):
        loss = self.loss.for_classes(n_classes, labels)
        if self._is_number:
            return MarginLoss(loss, self.margin)
        if labels is None and hasattr(self.margin, "columns"):
            raise ValueError(
                "margin must be an array for a y with a column for each class, in the "
                f"order of the columns; got a {type(self.margin).__name__}."
            )
        return MarginLoss(loss, as_margins(self.margin, n_classes, labels))

    def with_mapping(self, mapping):
        return MarginLoss(self.loss.with_mapping(mapping), self.margin)

    def check(self):
        self._validate_params()
        if not self._is_number:
            as_margins(self.margin)
        self.loss.check()
        super().check()

    def check_target(self, target):
        if not self._is_number:
            as_margins(self.margin, target.shape[1])
        self.loss.check_target(target)

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
        if self._is_number:
            margin = float(self.margin)
            scores += margin
            target.add_to(scores, -margin)
        else:
            scores += self._of_matrix(target, scores)
        return scores

    def _of_matrix(self, target, like):
        """The costs of the rows' targets, in the library and type of an array."""
        costs = as_margins(self.margin)
        return target.matmul(as_type(asarray_like(costs, like), like.dtype))
