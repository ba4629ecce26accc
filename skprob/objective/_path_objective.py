"""A linear objective whose loss or penalty changes from fit to fit."""

from ._linear import LinearObjective
from ._penalty_batch import PenaltyBatch

# In multiplications: what a number of an array costs in a Newton step of a batch, and
# what a step may cost before the calls of functions are not what counts.
_NUMBER = 300
_LITTLE = 3e6


class PathObjective(LinearObjective):
    """A linear objective that knows its loss where the last fit ended.

    A fit that starts there under another penalty need not pass over the data for its
    first point; nor, ever again, for zero parameters.

    Parameters
    ----------
    blocks, loss, l2, fit_intercept
        As for :class:`LinearObjective`.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.losses import FenchelYoungLoss, SparseTarget
    >>> from skprob.mappings import Softmax
    >>> from skprob.objective import PathObjective, split_rows
    >>> from skprob.solvers import newton_batch
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> target = SparseTarget.from_labels(np.array([0, 1, 0, 1]), n_classes=2)
    >>> blocks = split_rows(X, target, np.ones(4))
    >>> objective = PathObjective(blocks, FenchelYoungLoss(Softmax()), l2=1.0)
    >>> found, converged = newton_batch(
    ...     objective, np.array([1.0, 0.01]), 2 * [np.zeros(2)], tol=1e-6, max_iter=20
    ... )
    >>> converged
    array([ True,  True])
    >>> coefs = np.array([coef for coef, _ in found])
    >>> coefs.round(3)  # the less penalty, the larger
    array([0.191, 0.868])
    """

    def __init__(self, blocks, loss, *, l2, fit_intercept=True):
        super().__init__(blocks, loss, l2=l2, fit_intercept=fit_intercept)
        self._last, self._zero = _Memory(), _Memory()
        self._batch = self._batch_of = None

    @classmethod
    def of(cls, objective, loss=None):
        """That of a linear objective, or of its data with another loss."""
        other = cls(
            objective.blocks,
            objective.loss if loss is None else loss,
            l2=objective.l2,
            fit_intercept=objective.fit_intercept,
        )
        other._moments = objective.feature_moments()
        other._has_every_class = objective._has_every_class
        if objective.fit_intercept:
            other._target_sums = objective.target_sums()
        if isinstance(objective, cls):
            other._batch, other._batch_of = objective._batch, objective._batch_of
        return other

    @property
    def suits_batch(self):
        """Whether fits under several penalties are faster where they go together.

        The data must be little, and the loss such that Newton's method suits it.
        """
        n_outputs, n_features = self.coef_shape
        n_scores = self.n_rows * max(n_outputs, 2)
        products = self.n_rows * n_outputs * (n_outputs + 1) / 2 * (n_features + 1) ** 2
        return (
            self.is_convex
            and self.has_bounded_hessian
            and len(self.blocks) == 1
            and products + _NUMBER * n_scores * (n_outputs + 1) <= _LITTLE
        )

    def under(self, penalties, mean, scale):
        """The objective under several penalties, as a :class:`PenaltyBatch`."""
        # Along a path they are the same, whatever the loss.
        asked = b"".join(a.tobytes() for a in (penalties, mean, scale))
        if asked != self._batch_of:
            self._batch = PenaltyBatch(self, penalties, mean, scale)
            self._batch_of = asked
        return self._batch.of(self)

    def mean_loss(self, coef, intercept):
        if coef.any() or intercept.any():
            return super().mean_loss(coef, intercept)
        return self._zero.recall(super().mean_loss, coef, intercept)

    def mean_loss_linearization(self, coef, intercept):
        return self._last.recall(super().mean_loss_linearization, coef, intercept)


class _Memory:
    """The last result of a function of coefficients and intercepts."""

    def __init__(self):
        self._model = None

    def recall(self, function, coef, intercept):
        model = coef.tobytes(), intercept.tobytes()
        if model != self._model:
            self._model, self._result = model, function(coef, intercept)
        value, coef_gradient, *rest = self._result
        # The penalty is added to the gradient in place.
        return value, coef_gradient.copy(), *rest
