"""A bound on how far each output of a separable objective is from its minimum.

The bound is that of `../certificates/_gap.py`, for one label. Because its intercept is
not penalised, the mean probability must be the target's mean. A mixture
(1 - t) p_i + t u has this mean. Each output has its own t and u, so that an output far
from its minimum does not make the bounds of the others larger.
"""

import numpy as np


def output_gaps(objective, point):
    """Bounds (m,) on the values of a point's outputs less their minima.

    Parameters
    ----------
    objective : LinearObjective
        Its loss is a sum over the outputs, without margins, and it has a penalty.
    point : OutputsPoint
        The point of the outputs `point.outputs`.
    """
    outputs, parameters = point.outputs, point.parameters
    # The loss is not negative: the value is a bound.
    bound = np.maximum(point.values, 0)
    some = slice(objective.n_features)
    slope = point.gradient[:, some]
    ridge = objective.penalty.diagonal[some]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if not objective.description.has_intercept:
            return np.fmin(bound, (slope**2 / (2 * ridge)).sum(axis=1))
        target = objective.class_means[outputs]
        mean = (target + point.gradient[:, -1]).clip(0, 1)
        t = np.maximum(_least_shares(target, mean), _least_shares(1 - target, 1 - mean))
        u = np.where(t > 0, (target - (1 - t) * mean) / np.where(t > 0, t, 1), target)
        u = u.clip(0, 1)
        # The sum of F(z) - ⟨u, z⟩, from that of F(z) - ⟨q, z⟩.
        drift = objective.target_sums().coupling.take(outputs, axis=0)  # A copy.
        drift[:, -1] -= u
        of_u = point.losses.values + (drift * parameters).sum(axis=1)
        of_u += objective.loss.negative_entropy(u[:, None])
        t, features = t[:, None], parameters[:, some]
        remainder = (1 - t) * slope + t * (ridge * features - drift[:, some])
        gap = t[:, 0] * of_u + (remainder**2 / (2 * ridge)).sum(axis=1)
    return np.fmin(bound, np.maximum(gap, 0))


def _least_shares(target, mean):
    """The least t with (1 - t) mean ≤ target, number by number."""
    excess = mean > target
    return np.where(excess, 1 - target / np.where(excess, mean, 1), 0.0)
