"""cv="loo": raw predictions of left-out rows, or folds where these take too long."""

from dataclasses import replace

import numpy as np

from ...data import as_design
from ...objective import leave_one_out
from .._training_rows import RowsInMemory
from ..fit import check_leave_one_out, folds_to_leave_out, objectives_of


def folds_of_leave_one_out(specs, data, grid):
    """The folds of a search with cv="loo".

    Parameters
    ----------
    specs : list of FitSpec
        One for each value of the grid.
    data : TrainingData
    grid : Grid

    Returns
    -------
    folds : list of tuple of ndarray, or [None]
        Training and test rows of each fold, which are those of ``C="loo"``. None stands
        for one fit to all rows, from which each row is left out.
    """
    if data.encoded.target_type == "label_set":
        data.encoded.check_has_label()
    rows = RowsInMemory(specs[0], data)
    for spec in specs:
        spec = replace(spec, l1_ratio=float(grid.l1_ratios.max()))
        check_leave_one_out(spec, rows, "cv='loo'", "a number of folds")
    spec = replace(specs[0], C=grid.Cs[0].max()).for_rows(rows)
    objective = objectives_of(spec, rows)[-1]
    all_rows = labelled = np.arange(data.X.shape[0])
    if data.encoded.labelled is not None:
        labelled = np.flatnonzero(data.encoded.labelled)
    tests = [labelled[fold.rows] for fold in folds_to_leave_out(objective, rows.weight)]
    return [(np.delete(all_rows, test), test) for test in tests] or [None]


def left_out_predictions(objective, solution, model, data):
    """Raw predictions (n_samples, M) of each row by the model without it.

    Rows without a target are in no fit; `model`, the model of all others, predicts
    them.
    """
    with np.errstate(all="ignore"):
        raw = leave_one_out(objective, solution.parameters, point=solution.point)
        left_out = np.concatenate(raw)
    labelled = data.encoded.labelled
    if labelled is None:
        return left_out
    raw = as_design(data.X).matvec(model.coef).astype(np.float64) + model.intercept
    raw[labelled] = left_out
    return raw
