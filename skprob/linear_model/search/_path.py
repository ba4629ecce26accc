"""Fits over a grid, each started from its neighbours' solutions."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...solvers import minimize_path
from .._known_threshold import is_fitted_to_rows, known_threshold
from .._training_rows import RowsInMemory
from ..fit import attributes_of, model_of, objectives_of, penalty_strength
from ..predict import FittedModel
from ._leave_one_out import left_out_predictions


class PathPoint(NamedTuple):
    """One fit of a path.

    Attributes
    ----------
    model : FittedModel
        The fitted model, without a threshold that is fitted to rows.
    attributes : dict
        Fitted attributes of a classifier, by name.
    converged : bool
        Whether the gradient is within the tolerance.
    n_iter : int
    left_out : ndarray of shape (n_samples, M) or None
        Raw predictions of each row by the model without it, if `leaves_out`.
    """

    model: FittedModel
    attributes: dict
    converged: bool
    n_iter: int
    left_out: np.ndarray | None = None


def fitted_path(specs, data, grid, leaves_out):
    """Yield a :class:`PathPoint` for every path of the grid and every C on it.

    A fit starts from the solution for the C before, and the first fit of a value from
    that for the value before. Quantities that depend on the features alone are computed
    once.

    Parameters
    ----------
    specs : list of FitSpec
        One for each value of the grid.
    data : TrainingData
    grid : Grid
    leaves_out : bool
        Whether to compute the raw predictions of left-out rows.
    """
    if data.encoded.target_type == "label_set":
        data.encoded.check_has_label()
    rows = RowsInMemory(specs[0], data)
    objective, starts, last_ratio = None, [], None
    for number, ratio in grid.paths:
        Cs = grid.Cs[number, ratio, grid.columns]
        strengths = np.array([penalty_strength(C, rows.total_weight) for C in Cs])
        spec = replace(specs[number], l1_ratio=float(grid.l1_ratios[ratio]))
        spec = replace(spec, C=_weakest(Cs, spec)).for_rows(rows)
        if ratio != last_ratio:
            objective, starts, last_ratio = None, [], ratio
        if objective is None:
            (objective,) = objectives_of(spec, rows)
        else:
            objective = objective.with_loss(spec.loss)
        solutions = minimize_path(objective, strengths, starts, **spec.solver_options)
        starts = []
        for C, strength, solution in zip(Cs, strengths, solutions, strict=True):
            starts.append(solution.parameters)
            penalised = objective if strength > 0 else objective.with_l2(0.0)
            model = model_of(*penalised.to_model(solution.parameters), spec, rows)
            if rows.target_type == "label_set" and not is_fitted_to_rows(
                spec.threshold
            ):
                cuts = known_threshold(spec.threshold, rows.classes)
                model = model.with_threshold(cuts)
            attributes = attributes_of(replace(spec, C=C), model)
            left_out = None
            if leaves_out:
                at_strength = objective.with_l2(strength)
                left_out = left_out_predictions(at_strength, solution, model, data)
            converged, n_iter = solution.converged, solution.n_iter
            yield PathPoint(model, attributes, converged, n_iter, left_out)


def _weakest(Cs, spec):
    """The C at which features are scaled: the weakest penalty.

    It is the largest C, or with a positive l1_ratio the largest finite one, if there is
    one. A stronger penalty would hide features that vary little.
    """
    is_finite = np.isfinite(Cs)
    selects = spec.l1_ratio > 0 and is_finite.any()
    return Cs[is_finite][-1] if selects else Cs[-1]
