"""The training objective of wide rows, in coordinates of the space that they span."""

import numpy as np

from .._utils.tuning import Tuning
from ._linear import LinearObjective


class WideObjective(LinearObjective):
    """A :class:`LinearObjective` whose columns are coordinates of a ``RowSpace``.

    Value, penalty and minimum are the same as in the features, and :meth:`to_model`
    returns coefficients of the features.

    Parameters
    ----------
    blocks : Blocks of Block
        Their designs have the coordinates of the space.
    loss : Loss
    space : RowSpace
    l2 : float
        Positive.
    fit_intercept : bool
    tuning : Tuning

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.data import RowSpace
    >>> from skprob.losses import FenchelYoungLoss
    >>> from skprob.mappings import Softmax
    >>> from skprob.objective import WideObjective, split_rows
    >>> from skprob.targets import LabelTarget
    >>> X, weight = np.eye(3, 50), np.ones(3)
    >>> space = RowSpace.of(X, weight, fit_intercept=True, factors=None, l2=0.1)
    >>> target = LabelTarget(np.arange(3), n_classes=3)
    >>> objective = WideObjective(
    ...     split_rows(space.coordinates, target, weight),
    ...     FenchelYoungLoss(Softmax()),
    ...     space,
    ...     l2=0.1,
    ...     fit_intercept=True,
    ... )
    >>> objective.shape, objective.coef_shape  # Two coordinates, and 50 features.
    ((3, 3), (3, 50))
    """

    def __init__(self, blocks, loss, space, *, l2, fit_intercept, tuning=Tuning()):
        options = {"l2": l2, "fit_intercept": fit_intercept, "tuning": tuning}
        super().__init__(blocks, loss, **options)
        self._space = space
        self.coef_shape = self.shape[0], space.n_features

    def to_model(self, parameters):
        """Coefficients (M, n_features) and intercepts (M,) of parameters."""
        coef, intercept = self._space.to_features(*super().to_model(parameters))
        if self.description.is_shift_invariant and self.description.has_intercept:
            # Before the minimum is reached, intercepts may not have mean zero.
            intercept -= intercept.mean()
        return coef, intercept

    def features_with_little_penalty(self):
        """None: the columns are not features of X."""
        none = np.empty(0, int)
        return none, none, none

    def from_model(self, coef, intercept):
        """Parameters of the coefficients' projection onto the space, and of intercepts.

        The other part of the coefficients adds to the penalty and not to the scores.
        """
        return super().from_model(*self._space.from_features(coef, intercept))
