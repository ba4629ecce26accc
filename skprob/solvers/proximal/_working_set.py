"""The features that a fit works on before the next pass over all of them."""

import numpy as np


def working_set(problem, point, tuning):
    """Numbers of the features to work on; None for all.

    They are those with a coefficient, and those whose gradient exceeds the threshold
    most.
    """
    description = problem.description
    if description.n_stored <= tuning.little_of_features:
        return None
    n_outputs, size = description.shape
    n_features = size - description.has_intercept
    parameters = point.parameters.reshape(n_outputs, size)[:, :n_features]
    gradient = point.gradient.reshape(n_outputs, size)[:, :n_features]
    support = parameters.any(axis=0)
    excess = np.where(support, 0.0, np.abs(gradient).max(axis=0))
    n_kept, others = np.count_nonzero(support), np.flatnonzero(excess)
    is_wide = n_features > description.n_rows
    is_few = is_wide and not problem.shrinkage.is_by_column
    part = tuning.most_added_of_wide if is_few else tuning.most_added
    most = max(tuning.fewest_added, int(part * n_kept))
    n_chosen = n_kept + min(len(others), most)
    if n_chosen > tuning.largest_working_set * n_features:
        return None
    if len(others) > most:
        others = others[np.argpartition(-excess[others], most)[:most]]
    return np.sort(np.append(np.flatnonzero(support), others))
