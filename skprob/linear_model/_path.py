"""Fits over a grid of alpha and C, each started from its neighbours' solutions."""

import copy
import warnings
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from ..objective import PathObjective
from ..solvers import SOLVERS, Preconditioner, coordinates_of, newton_batch
from ._base import labelled_rows, penalty
from ._targets import class_weight_factors, encode_target
from ._threshold import threshold_rule

# Lest a path be less accurate than fits from zero, its tolerance is so many times the
# fit's own: a fit from zero ends with a step that goes beyond what was asked for. A
# start that is near enough to be accepted as it is comes without such a step.
_CARE = 0.5
_CARE_AT_ONCE = 0.05
# Fits that go together are Newton's method's, which has the next digits for nothing.
_CARE_TOGETHER = 0.01
# The way of each fit is short, and its curvature about the last one's: Gram matrices
# are renewed when they have paid for themselves so many times.
_PATIENCE = 4


class PathPoint(NamedTuple):
    """A fitted model, and whether its gradient is within the tolerance."""

    model: object
    converged: bool


def entmax_path(template, X, y, sample_weight, classes, alphas, Cs):
    """Fitted models over a grid, alpha by alpha and for each of them C by C.

    A model starts with the coefficients of the last C, the first of an alpha with
    those of the last alpha. There the gradient is but the change of the penalty, which
    points to where the optimum went. Extrapolated coefficients are nearer to it by
    their objective, but where a mapping has exact zeros they are on other pieces of
    the loss, and the way back takes many more steps than were saved. What depends on
    the features alone is computed once, and the Gram matrices of a fit are those that
    the next begins with.

    On little data, where calls of functions are what costs, all Cs of an alpha are
    fitted together, each from its solution for the last alpha.

    Parameters
    ----------
    template : EntmaxClassifier
        Its parameters are those of all models, but for alpha and C.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    y : ndarray or CSR matrix
        Checked, of the kind that ``template.target_type`` names.
    sample_weight : ndarray of shape (n_samples,)
    classes : ndarray of shape (n_classes,)
    alphas, Cs : sequence of float
        In the order of the path: from much penalty to little.

    Yields
    ------
    point : PathPoint
    """
    encoded = encode_target(y, template.target_type, X.dtype, classes)
    with warnings.catch_warnings():
        # They are counted once, for all data.
        warnings.filterwarnings("ignore", ".* rows have no label", UserWarning)
        X, row_weight = labelled_rows(X, sample_weight, encoded)
    weight = row_weight * class_weight_factors(
        template.class_weight, encoded, row_weight
    )
    fold_models = _FoldModels(classes, alphas, Cs)
    l2s = np.array([penalty(C, weight.sum()) for C in Cs])
    objective, starts = None, []
    for alpha in alphas:
        # Features are scaled as for the least penalty: others hide what varies little.
        model = clone(template).set_params(alpha=alpha, C=Cs[-1])
        model._set_target(encoded)
        model.n_features_in_ = X.shape[1]
        if objective is None:
            (single,) = model._objectives(X, encoded, weight, None)
            objective = PathObjective.of(single)
            coordinates = coordinates_of(objective)
            # Of each alpha the first: there is nothing in it that depends on the loss.
            preconditioner = Preconditioner(objective, coordinates, _PATIENCE)
        else:
            objective = PathObjective.of(objective, model.loss_)
        solutions = _solutions(objective, l2s, starts, template, preconditioner)
        starts = []
        for C, (parameters, converged) in zip(Cs, solutions, strict=True):
            starts.append(parameters)
            model = copy.copy(model)
            model.C = C
            coef, intercept = objective.unpack(parameters)
            model.coef_ = coef.astype(X.dtype)
            model.intercept_ = intercept.astype(X.dtype)
            if encoded.kind == "label_set":
                rule = threshold_rule(
                    model, X, encoded.target, row_weight, weight, fold_models
                )
                model.threshold_ = rule(model._probabilities)
            yield PathPoint(model, converged)


def _solutions(objective, l2s, starts, template, preconditioner):
    """Parameters for each penalty, and whether they are within the tolerance.

    Yields pairs. `starts` are the parameters for the same penalties and another alpha;
    empty, they stand for zeros.
    """
    starts = starts or [objective.initial()] * len(l2s)
    start = starts[0]
    found, together = starts, np.zeros(len(l2s), dtype=bool)
    if template.solver != "lbfgs" and objective.suits_batch and (l2s > 0).all():
        found, together = newton_batch(
            objective,
            l2s,
            starts,
            tol=_CARE_TOGETHER * template.tol,
            max_iter=template.max_iter,
        )
    # A start that is rejected need not be tried for the least penalty, or not again.
    last_l2, rejected, stays, tol = None, start, False, template.tol
    for l2, parameters, converged in zip(l2s, found, together, strict=True):
        if not (converged or stays or start is rejected):
            least = objective.with_penalty(l2s[-1])
            stays = _is_within(least, start, last_l2, template, preconditioner)
            rejected = start
        if stays:
            parameters, converged = start, True
        elif not converged:
            penalised = objective.with_penalty(l2)
            preconditioner = preconditioner.for_objective(penalised)
            far = last_l2 is not None and _is_far(penalised, start, last_l2, tol)
            care = _CARE if far else _CARE_AT_ONCE
            solution = _solution(penalised, start, template, preconditioner, care)
            parameters, converged = solution.parameters, solution.converged
        start, last_l2 = parameters, l2
        if not converged:
            rejected = start
        yield parameters, converged


def _is_within(objective, start, last_l2, template, preconditioner):
    """Whether another penalty's solution is well within the tolerance.

    If it is under less penalty, it is so under all that are between: gradient and
    possible gain are convex functions of the penalty.
    """
    tol = _CARE_AT_ONCE * template.tol
    if _is_far(objective, start, last_l2, tol):
        return False
    preconditioner = preconditioner.for_objective(objective)
    solve = partial(SOLVERS[template.solver], preconditioner=preconditioner)
    return solve(objective, start, tol=tol, max_iter=0).converged


def _is_far(objective, start, last_l2, tol):
    """Whether another penalty's solution is not within the tolerance."""
    coef, _ = objective.unpack(start)
    # The gradient there, but for what that solution's own tolerance has left.
    return np.abs(coef).max() * abs(objective.l2 - last_l2) > tol


def _solution(objective, start, template, preconditioner, care):
    """From a warm start, or from zero as a fit of its own."""
    solve, max_iter = SOLVERS[template.solver], template.max_iter
    if start.any():
        warm = solve(
            objective,
            start,
            tol=care * template.tol,
            max_iter=max_iter,
            preconditioner=preconditioner,
        )
        if warm.converged:
            return warm
    cold = solve(objective, objective.initial(), tol=template.tol, max_iter=max_iter)
    if start.any() and not cold.converged and warm.value <= cold.value:
        return warm
    return cold


class _FoldModels:
    """Models for a threshold, along a path of its own in each inner fold.

    To be called once for each point of the grid, in the order of the path.
    """

    def __init__(self, *grid):
        self._grid = grid
        self._paths = None

    def __call__(self, estimator, X, labels, weight, folds):
        if self._paths is None:
            template = clone(estimator).set_params(threshold=0)
            self._paths = [
                entmax_path(template, X[rows], labels[rows], weight[rows], *self._grid)
                for rows, _ in folds
            ]
        return (next(path).model for path in self._paths)
