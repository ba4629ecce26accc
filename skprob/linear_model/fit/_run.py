"""The steps of a fit, from checked rows to fitted attributes."""

import math
from typing import NamedTuple

import numpy as np

from ..._utils.arrays import moved
from ...decision import LeastCost
from ...losses import LOSSES, FenchelYoungLoss
from ...mappings import MAPPINGS, Softmax
from ...objective import LinearObjective
from ...solvers import Iteration, Solution, solve
from .._trials import check_kernel, check_loss
from ..predict import FittedModel
from ._spec import FitSpec
from ._start import start_from


def fit_to_rows(spec, rows, choose_threshold=None, progress=None, path_start=None):
    """The :class:`Fit` of a linear model to checked rows.

    Parameters
    ----------
    spec : FitSpec
    rows : RowsInMemory or DaskRows
    choose_threshold : ThresholdRule, default=None
        Function that chooses the threshold of a model of label sets; None for none.
    progress : FitProgress, default=None
        It is notified of iterations, and may stop the fit.
    path_start : PathStart, default=None
        The objective and a point near its minimum, if C is chosen along a path.
    """
    spec = spec.for_rows(rows)
    options = spec.solver_options
    if path_start is not None:
        objectives, start = [path_start.objective], path_start.parameters
        # At the tolerance itself the fit would take no step, and end less accurately
        # than a fit from zero.
        options["tol_at_start"] = spec.tuning.tol_at_start * spec.tol
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            objectives = objectives_of(spec, rows)
        if spec.last_fit is None:
            start = objectives[0].initial()
        else:  # Then there is one objective.
            start = start_from(objectives[0], spec.last_fit, rows)
    objective = objectives[-1]  # The others are minimised before it.
    is_single = len(objectives) == 1 and not objective.description.has_shrinkage
    if is_single and spec.noise is None and progress is None:
        solution = solve(objective, start, **options)
        # The last state of the solver takes memory, and is not used.
        solution = solution._replace(state=None)
    else:
        from ._in_turn import minimised_in_turn  # Imported when used.

        spec, solution = minimised_in_turn(
            objectives, start, spec, rows, choose_threshold, progress, options
        )
    # Without a duality gap, outliers of a feature may hide that this is no minimum.
    seems_done = solution.converged or solution.remedies == ("penalty",)
    if seems_done and math.isnan(solution.history[-1].duality_gap):
        from ._outliers import examined  # Imported when used.

        solution = examined(solution, objective, spec, rows)

    model = model_of(*objective.to_model(solution.parameters), spec, rows)
    if choose_threshold is not None:
        from ._left_out import near_solution  # Imported when used.

        near = near_solution(objective, solution.parameters, model, spec, rows)
        model = model.with_threshold(choose_threshold(model.probabilities, **near))
    return Fit(spec, model, solution)


def objectives_of(spec, rows):
    """The objectives to minimise one after the other, of a spec for these rows.

    If the spec has coefficients to start from, only the last of them is returned.
    """
    strength = penalty_strength(spec.C, rows.total_weight)
    _check_on_rows(spec, rows)
    losses = spec.loss.stages()
    if spec.last_fit is not None:
        losses = losses[-1:]
    elif spec.loss.mapping.traits.is_only_a_function:
        # The gradient may vanish at zero scores: start from the solution of softmax.
        losses = [FenchelYoungLoss(Softmax()), *losses]
    loss, *later_losses = losses
    is_ridge = strength > 0 and spec.l1_ratio == 0 and spec.penalty_factors is None
    if is_ridge and spec.unit_rows is None and rows.wide_X is None:
        objective = LinearObjective(
            rows.blocks(spec.loss.mapping.traits.polytope, tuning=spec.tuning),
            loss,
            l2=strength,
            fit_intercept=spec.fit_intercept,
            tuning=spec.tuning,
        )
    else:
        from ._other_objectives import other_objective  # Imported when used.

        objective = other_objective(spec, rows, loss, strength)
    return [objective, *map(objective.with_loss, later_losses)]


def _check_on_rows(spec, rows):
    """Raise if mapping and loss cannot be used with these features and targets."""
    loss = spec.loss
    mapping = loss.mapping
    polytope = mapping.traits.polytope
    if polytope == "cube":  # The sum of marginals may have a budget.
        rows.check_target(loss)
    if type(mapping) not in MAPPINGS.values():  # It may be a user's own.
        check_kernel(mapping, rows.n_scores, rows.dtype)
    if type(loss) not in LOSSES.values():  # It may be a user's own.
        check_loss(loss, rows.n_scores)
    loss.check_on(lambda: rows.trial_scores(polytope, spec.unit_rows))


def penalty_strength(C, total):
    """The strength 1 / (C Σs) of the penalty, for weights with this sum."""
    weight = float(C) * float(total)
    l2 = 1 / weight if weight > 0 else np.inf
    if l2 == np.inf:
        raise ValueError(
            f"C must be larger: with C={C} and weights of the rows that sum to "
            f"{total:.6g}, the penalty 1 / (C * sum) overflows."
        )
    return l2


def model_of(coef, intercept, spec, rows):
    """The :class:`FittedModel` with coefficients of the rows, transformed or not.

    It has the rule of class labels, and no threshold of label sets.
    """
    if spec.unit_rows is not None:
        coef, intercept = spec.unit_rows.to_model(coef, intercept)
    # Other thresholds are chosen from the probabilities of the model.
    rule_of_labels = spec.threshold if isinstance(spec.threshold, LeastCost) else None
    coef, intercept = coef.astype(rows.dtype), intercept.astype(rows.dtype)
    if not rows.is_on_host:
        coef, intercept = moved(coef, rows.X), moved(intercept, rows.X)
    return FittedModel(
        coef=coef,
        intercept=intercept,
        classes=rows.classes_like_y,
        target_type=rows.target_type,
        mapping=spec.loss.mapping,
        has_none=rows.has_none,
        unit_rows=spec.unit_rows,
        threshold=rule_of_labels,
    )


class Fit(NamedTuple):
    """The result of a fit."""

    spec: FitSpec  #: The spec for these rows, with the estimated noise if any.
    model: FittedModel
    solution: Solution


def attributes_of(spec, model, solution=None):
    """Fitted attributes of a classifier, by name.

    If there is a solution, they include the attributes of the solver.
    """
    attributes = {
        "classes_": model.classes,
        "target_type_": model.target_type,
        "mapping_": model.mapping,
        "loss_": spec.loss,
        "has_none_class_": model.has_none,
        "C_": spec.C,
        "coef_": model.coef,
        "intercept_": model.intercept,
        "similarity_": "dot",
    }
    if spec.unit_rows is not None:
        attributes |= spec.unit_rows.attributes()
    if spec.noise is not None:
        attributes |= spec.noise.attributes(model.mapping)
    if model.threshold is not None:
        attributes["threshold_"] = model.threshold
    if solution is not None:
        *iterations, last = solution.history
        # The gap of the solution may be tighter than that of the last criterion.
        iterations.append(last._replace(duality_gap=solution.duality_gap))
        columns = map(np.array, zip(*iterations, strict=True))
        attributes |= {
            "n_iter_": solution.n_iter,
            "objective_": solution.value,
            "gradient_norm_": solution.gradient_norm,
            "duality_gap_": solution.duality_gap,
            "solver_": solution.solver,
            "history_": dict(zip(Iteration._fields, columns, strict=True)),
        }
    return attributes
