"""Probabilities of rows by the models without them, from which thresholds are chosen.

They are approximate (:func:`~skprob.objective.leave_one_out`). They take less time than
fits to folds if columns are few and the loss is a sum over the labels.
"""

from functools import partial

import numpy as np

from ...objective import leave_one_out, number_of_columns, scores_of
from ...solvers import plan
from ._chosen_C import missing_for_leave_one_out
from ._start import LastFit

# Largest cost of a label's Hessian, its factor and its products with all rows, in
# products with X. Three fits to folds take about 100 products with X and its transpose,
# which are slower for the same number of multiplications. With the defaults of
# `SigmoidClassifier`, leave-one-out takes 0.6 times the time of folds on scene (cost
# 365) and birds (358), 0.5 times on CAL500 (81), and 4 times on enron (1,900). The
# route changes thresholds, so this number is not in `Tuning`.
_LARGEST_COST = 400
# Most probabilities, and most entries of all Hessians (128 MiB).
_MOST_NUMBERS = 1 << 24


def near_solution(objective, parameters, model, spec, rows):
    """Keyword arguments of a ``ThresholdRule`` that save time near a solution.

    `left_out` computes the probabilities of left-out rows, or `start` is the start of
    fits to folds. `model` is the :class:`FittedModel` at the parameters.
    """
    if is_left_out_faster(spec, objective, rows):
        left_out = partial(
            left_out_probabilities,
            objective=objective,
            parameters=parameters,
            model=model,
            rows=rows,
        )
        return {"left_out": left_out}
    if plan(objective.description, spec.tuning).by_output:
        # Fits to folds from zero take twice as long as from the solution of all rows.
        return {"start": LastFit(*objective.to_model(parameters), None, None)}
    return {}


def is_left_out_faster(spec, objective, rows):
    """Whether leave-one-out is possible, and takes less time than fits to folds."""
    if missing_for_leave_one_out(spec, rows) is not None:
        return False
    description = objective.description
    if not description.is_separable or not objective.penalty.diagonal.any():
        return False
    n_rows, n_outputs = description.n_rows, objective.shape[0]
    size = number_of_columns(objective)
    cost = size * (1 + size / n_rows)
    numbers = n_outputs * max(n_rows, size**2)
    return cost <= _LARGEST_COST and numbers <= _MOST_NUMBERS


def left_out_probabilities(numbers, objective, parameters, model, rows):
    """Probabilities of rows, each by the model without the row.

    Parameters
    ----------
    numbers : ndarray of int of shape (n,)
        Numbers of the rows, among the rows with a target.
    objective : LinearObjective
    parameters : ndarray of shape (n_parameters,)
        Parameters near the minimum.
    model : FittedModel
        The model at these parameters.
    rows : RowsInMemory

    Returns
    -------
    probabilities : ndarray of shape (n, n_classes) or None
        None if the approximation is not finite.
    """
    with np.errstate(all="ignore"):
        raw = np.concatenate(leave_one_out(objective, parameters))
    if not np.isfinite(raw).all():
        return None
    scores = scores_of(raw)
    rows.given.put_into(scores, slice(None))
    return model.probabilities_of_scores(scores[numbers])
