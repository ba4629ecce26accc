"""The parameters at which a fit starts."""

import numpy as np

from ...mappings import get_mapping
from ...objective import LinearObjective


def start_of(objective):
    """Parameters of an objective at which all rows have probabilities.

    They are zeros for most mappings. Where zero scores have no probabilities, all
    intercepts are the same; without intercepts the coefficients are the means of the
    classes, of which the largest entry becomes 1.

    Parameters
    ----------
    objective : LinearObjective or CosineObjective

    Returns
    -------
    parameters : ndarray of shape (n_parameters,)
    """
    base = get_mapping(objective.loss.mapping).base_score
    if base == 0 or not isinstance(objective, LinearObjective):
        return objective.initial()
    if objective.description.has_intercept:
        intercept = np.full(objective.coef_shape[0], base)
        return objective.from_model(np.zeros(objective.coef_shape), intercept)
    means = objective.target_sums().coupling
    return means.ravel() / (np.abs(means).max() or 1)
