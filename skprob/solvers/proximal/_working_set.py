"""The features that a step is restricted to, before the next pass over all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._utils.typing import Array


class WorkingSet(NamedTuple):
    """Numbers of features, and the relative tolerance of the gradient on them."""

    features: Array
    left: float


def working_set(problem, point, tuning):
    """The :class:`WorkingSet` at a point; None for all features.

    It has the features with a coefficient, and those whose gradient exceeds the
    threshold most.
    """
    description = problem.description
    n_outputs, size = description.shape
    n_features = size - description.has_intercept
    is_wide = n_features > description.n_rows
    if not is_wide and description.n_stored <= tuning.little_of_features:
        return None
    parameters = point.parameters.reshape(n_outputs, size)[:, :n_features]
    gradient = point.gradient.reshape(n_outputs, size)[:, :n_features]
    support = parameters.any(axis=0)
    excess = np.where(support, 0.0, np.abs(gradient).max(axis=0))
    n_kept, others = np.count_nonzero(support), np.flatnonzero(excess)
    fewest, share = tuning.fewest_added, tuning.most_added
    if description.n_stored < tuning.sparse_share * description.n_rows * size:
        fewest, share = tuning.fewest_added_of_sparse, tuning.most_added_of_sparse
    most = max(fewest, int(share * n_kept))
    n_chosen = n_kept + min(len(others), most)
    if n_chosen > tuning.largest_working_set * n_features:
        return None
    # No other feature would enter, and the Hessian of the chosen features costs no more
    # than a pass.
    is_last = len(others) <= most and n_outputs * n_chosen**2 <= 2 * size
    if len(others) > most:
        others = others[np.argpartition(-excess[others], most)[:most]]
    features = np.sort(np.append(np.flatnonzero(support), others))
    left = tuning.left_on_few if is_last else tuning.left_on_working_set
    return WorkingSet(features, left)
