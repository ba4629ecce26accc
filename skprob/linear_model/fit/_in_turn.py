"""Fits of several objectives or of a noise, and fits that callbacks follow."""

from functools import partial

from ...solvers import Stage, most_iterations, solve_in_turn
from ._run import attributes_of, model_of


def minimised_in_turn(
    objectives, start, spec, rows, choose_threshold, progress, options
):
    """Minimise the last objective, after the others in turn.

    Parameters
    ----------
    objectives : list of LinearObjective or CosineObjective
    start : ndarray of shape (n_parameters,)
        Parameters to start from.
    spec : FitSpec
        The spec of these rows.
    rows : RowsInMemory or DaskRows
    choose_threshold : ThresholdRule or None
        Function that chooses the threshold of a model of label sets.
    progress : FitProgress or None
        It is notified of the iterations of all objectives, and may stop the fit.
    options : dict
        Arguments of the solver.

    Returns
    -------
    spec : FitSpec
        The spec, with the estimated noise if there is one.
    solution : Solution
    """
    attributes_at = partial(_attributes_at, objectives[-1], rows, choose_threshold)
    if spec.noise is not None:
        from ._learnt_noise import fit_with_noise  # Imported when used.

        return fit_with_noise(objectives[0], spec, start, progress, attributes_at)
    stage = Stage.EASIER_LOSS  # The stage of all objectives but the last.
    if _may_need_stronger_penalties(objectives, spec):
        (objective,) = objectives
        objectives = [*objective.under_stronger_penalties(), objective]
        start, stage = objectives[0].initial(), Stage.STRONGER_PENALTY
    if progress is not None:
        most = most_iterations(objectives, spec.solver, spec.max_iter, spec.tuning)
        progress.start(most, partial(attributes_at, spec))
    return spec, solve_in_turn(
        objectives, start, stage=stage, progress=progress, **options
    )


def _attributes_at(objective, rows, choose_threshold, spec, parameters):
    """Fitted attributes during the fit, for callbacks."""
    model = model_of(*objective.to_model(parameters), spec, rows)
    if choose_threshold is not None:
        model = model.with_threshold(choose_threshold(model.probabilities))
    return attributes_of(spec, model)


def _may_need_stronger_penalties(objectives, spec):
    """Whether a fit with few coefficients may begin under stronger penalties."""
    if len(objectives) > 1 or spec.last_fit is not None or spec.solver == "lbfgs":
        return False
    return objectives[0].description.has_shrinkage
