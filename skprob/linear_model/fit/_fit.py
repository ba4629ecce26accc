"""The steps of a fit, from checked rows to fitted attributes."""

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from ..._utils.arrays import to_numpy
from ..._utils.columns import order_by_name, order_of
from ..._utils.warnings import warn
from ...losses import FenchelYoungLoss
from ...mappings import Softmax
from ...objective import CosineObjective, LinearObjective
from .._checks import check_kernel
from ..predict._prediction import BlockwisePrediction, of_classes
from ._fitted import replace_fitted
from ._minimise import attributes_of
from ._progress import FitProgress
from ._rows import warn_of_lost_labels
from ._start import start_of
from ._strength import check_total_weight, penalty


def fit_to_rows(estimator, rows):
    """Fit an estimator to checked rows, and set its fitted attributes.

    Parameters
    ----------
    estimator : BaseLinearClassifier
    rows : RowsInMemory or DaskRows
    """
    warn_of_lost_labels(rows)
    check_total_weight(rows.total_weight)
    model = estimator._model(rows) | {"classes_": rows.labels}
    is_warm = estimator.warm_start and hasattr(estimator, "coef_")
    with np.errstate(over="ignore", invalid="ignore"):
        objectives = objectives_of(estimator, rows, model, last_only=is_warm)
    if is_warm:
        start = _last_fit(estimator, objectives[0], model)
    else:
        start = start_of(objectives[0])
    inputs = estimator._inputs(model)
    if rows.kind == "label_set":
        rule = rows.threshold_rule(estimator, model["mapping_"])

    def fitted_attributes(parameters):
        # Of the model as it is now: its mapping may be learnt, too.
        coef, intercept = inputs.to_model(*objectives[-1].to_model(parameters))
        coef = rows.beside_X(coef.astype(rows.dtype))
        intercept = rows.beside_X(intercept.astype(rows.dtype))
        attributes = {**model, "coef_": coef, "intercept_": intercept}
        if rows.kind == "label_set":
            of_scores = of_classes(model["mapping_"], len(rows.classes))
            how = coef, intercept, inputs, of_scores
            attributes["threshold_"] = rule(
                lambda X, given: BlockwisePrediction(X, *how, given)
            )
        return attributes

    context = estimator._init_callback_context(
        max_subtasks=estimator._most_iterations(objectives)
    )
    context.call_on_fit_task_begin(estimator=estimator, **rows.data)
    progress = FitProgress(estimator, context, rows.data, fitted_attributes)
    solution = estimator._minimise(objectives, model, start, progress)
    attributes = fitted_attributes(solution.parameters)
    replace_fitted(estimator, attributes | attributes_of(solution))
    _warn_unless_converged(estimator, solution)
    context.call_on_fit_task_end(
        estimator=estimator, reconstruction_attributes=dict, **rows.data
    )


def objectives_of(estimator, rows, model, last_only=False):
    """The objectives to minimise one after the other, or only the last of them.

    Parameters
    ----------
    estimator : BaseLinearClassifier
    rows : RowsInMemory or DaskRows
    model : dict
        Fitted attributes that do not depend on the coefficients.
    last_only : bool, default=False

    Returns
    -------
    objectives : list of LinearObjective or CosineObjective
    """
    l2 = penalty(model["C_"], rows.total_weight)
    mapping, loss = model["mapping_"], model["loss_"]
    inputs, polytope = estimator._inputs(model), mapping.polytope
    rows.check_target(loss)
    check_kernel(mapping, rows.n_scores, rows.dtype)
    loss.check_on(lambda: rows.trial_scores(inputs, polytope))
    losses = loss.stages()
    if mapping.is_only_a_function:
        # At zero scores its gradient may vanish: start where softmax ends.
        losses = [FenchelYoungLoss(Softmax()), *losses]
    if last_only:
        losses = losses[-1:]
    blocks = rows.blocks(inputs, polytope)
    if estimator.similarity == "cosine":
        first = CosineObjective(blocks, losses[0])
    else:
        intercept = {"fit_intercept": estimator.fit_intercept}
        first = LinearObjective(blocks, losses[0], l2=l2, **intercept)
    return [first, *(first.with_loss(loss) for loss in losses[1:])]


def _last_fit(estimator, objective, model):
    """The coefficients of the last fit, as parameters of an objective.

    `model` has the fitted attributes of the new fit, whose classes may be in another
    order.
    """
    coef, intercept = to_numpy(estimator.coef_), to_numpy(estimator.intercept_)
    coef, intercept = estimator._inputs(vars(estimator)).from_model(coef, intercept)
    if sparse.issparse(coef):
        coef = coef.toarray()
    if coef.shape != objective.coef_shape:
        raise ValueError(
            "warm_start=True starts from the last fit, whose coef_ has shape "
            f"{coef.shape}; these data need {objective.coef_shape}. Use "
            "warm_start=False or a clone."
        )
    order = _order_of_last_fit(estimator, model)
    if len(coef) == 1:
        # The difference of two classes.
        sign = 1 if order == [0, 1] else -1
        coef, intercept = sign * coef, sign * intercept
    else:
        # The class of rows without a label is the last.
        order += range(len(order), len(coef))
        coef, intercept = coef[order], intercept[order]
    return objective.from_model(coef, intercept)


def _order_of_last_fit(estimator, model):
    """The positions of the new classes among the classes of the last fit."""
    new = to_numpy(model["classes_"]).tolist()
    if not hasattr(estimator, "classes_"):
        # Coefficients that were assigned are those of the new classes.
        return list(range(len(new)))
    old = to_numpy(estimator.classes_).tolist()
    if estimator.target_type_ == model["target_type_"] == "class":
        order = order_by_name(old, new)
    else:
        order = order_of(old, new, are_labels=False)
    if order is None:
        raise ValueError(
            "warm_start=True starts from the last fit, which had the classes "
            f"{old[:10]}; these data have {new[:10]}. Use warm_start=False or a clone."
        )
    return order


def _warn_unless_converged(estimator, solution):
    """Warn if a fit did not converge, and say what would help."""
    if solution.converged or solution.stopped:
        return
    larger = {"max_iter": f"max_iter (now {estimator.max_iter})", "tol": "tol"}
    larger = [text for name, text in larger.items() if name in solution.remedies]
    advice = ["increase " + " or ".join(larger)] if larger else []
    # Cosines have no penalty, and some mappings leave it out.
    is_penalised = estimator.similarity == "dot"
    is_penalised = is_penalised and not estimator.mapping_.is_scale_invariant
    if "penalty" in solution.remedies and is_penalised:
        advice.append(f"lower C (now {estimator.C_:.3g})")
    advice = ", or ".join(advice)
    warn(
        f"{type(estimator).__name__} did not converge: {solution.message}. "
        f"{advice[:1].upper() + advice[1:]}.",
        ConvergenceWarning,
    )
