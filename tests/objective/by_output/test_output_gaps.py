"""The bound of each label is above what it can still gain, and tight at the minimum."""

import numpy as np
import pytest

from skprob.losses import FenchelYoungLoss
from skprob.mappings import Sigmoid
from skprob.objective import LinearObjective, split_rows
from skprob.solvers import solve
from skprob.targets import as_target


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [1.0, 1.5])
def test_bounds_where_intercepts_are_too_low_or_too_high(alpha, fit_intercept):
    """The mean probability of a label is then below or above its share."""
    rng = np.random.default_rng(0)
    X, n_labels = rng.normal(size=(80, 3)), 4
    scores = X @ rng.normal(size=(3, n_labels)) + [2, 0, -1, -2]
    Y = (scores + rng.logistic(size=scores.shape) > 0).astype(float)
    objective = LinearObjective(
        split_rows(X, as_target(Y, Y.shape, float, "cube"), rng.uniform(1, 2, 80)),
        FenchelYoungLoss(Sigmoid(alpha)),
        l2=0.03,
        fit_intercept=fit_intercept,
    )
    best = solve(objective, objective.initial(), tol=1e-10, max_iter=1000).parameters
    best = best.reshape(objective.shape)
    least = objective.separate_at(best).values
    for size in (0.0, 1e-3, 0.1, 1.0):
        for sign in (-1, 1):
            near = best + size * rng.normal(size=best.shape) / 10
            near[:, -1] += sign * size
            point = objective.separate_at(near)
            gains, bounds = point.values - least, point.duality_gaps()
            assert (bounds >= gains - 1e-12).all()
            # The bound is at most the loss, and near the gain where this is small.
            assert (bounds <= point.values).all()
            assert size > 1e-3 or (bounds <= 0.02 * least).all()
