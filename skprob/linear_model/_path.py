"""Fits over a grid of alpha and C, each started from its neighbours' solutions."""

import warnings
from typing import NamedTuple

from sklearn.base import clone

from ..solvers import SOLVERS
from ._base import labelled_rows, penalty
from ._targets import class_weight_factors, encode_target
from ._threshold import threshold_rule

# A solver stops as soon as it may, and after a warm start it may almost at once: lest
# a path be less accurate than fits from zero, it is asked for more.
_CARE = 0.1


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
    the features alone is computed once.

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
    params = template.get_params(deep=False)
    fold_models = _FoldModels(classes, alphas, Cs)
    objective = start = None
    for alpha in alphas:
        row = []
        for C in Cs:
            model = type(template)(**params | {"alpha": alpha, "C": C})
            model._set_target(encoded)
            if objective is None:
                (objective,) = model._objectives(X, encoded, weight, None)
            else:
                l2 = penalty(C, weight.sum())
                objective = objective.with_loss(model.loss_, l2)
            solution = _solution(objective, start, model)
            start = solution.parameters
            row.append(start)
            coef, intercept = objective.unpack(start)
            model.coef_ = coef.astype(X.dtype)
            model.intercept_ = intercept.astype(X.dtype)
            model.n_features_in_ = X.shape[1]
            if encoded.kind == "label_set":
                rule = threshold_rule(
                    model, X, encoded.target, row_weight, weight, fold_models
                )
                model.threshold_ = rule(model._probabilities)
            yield PathPoint(model, solution.converged)
        start = row[0]


def _solution(objective, start, model):
    solve, max_iter = SOLVERS[model.solver], model.max_iter
    if start is None:
        return solve(objective, objective.initial(), tol=model.tol, max_iter=max_iter)
    solution = solve(objective, start, tol=_CARE * model.tol, max_iter=max_iter)
    if not solution.converged:
        # Then as a fit of its own would be.
        cold = solve(objective, objective.initial(), tol=model.tol, max_iter=max_iter)
        if cold.converged or cold.value < solution.value:
            return cold
    return solution


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
