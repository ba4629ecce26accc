"""Fits over a grid of alpha and C, each started from its neighbours' solutions."""

import copy
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from ..solvers import minimize_path
from ._rows import RowsInMemory
from ._strength import penalty


class PathPoint(NamedTuple):
    """A fitted model, and whether its gradient is within the tolerance."""

    model: object
    converged: bool


def entmax_path(template, X, y, sample_weight, classes, has_none, alphas, Cs):
    """Yield a :class:`PathPoint` for every alpha and, for each of them, every C.

    A fit starts from the solution for the C before, the first of an alpha from that
    for the alpha before. What depends on the features alone is computed once.

    `template` is an EntmaxClassifier with the parameters of all models other than alpha
    and C. X, y and `sample_weight` are checked, y is of the kind that
    ``template.target_type`` names, and `Cs`, of shape (n_alphas, n_Cs), go from much
    penalty to little. With `has_none` there is a class for rows without a label.
    """
    encoded = template._encoded(y, X.dtype, classes, has_none)
    rows = RowsInMemory(template, X, encoded, sample_weight)
    shared = _Shared(classes, has_none, alphas, Cs)
    options = {name: getattr(template, name) for name in ("solver", "tol", "max_iter")}
    objective, starts = None, []
    for alpha, Cs_of_alpha in zip(alphas, Cs, strict=True):
        strengths = np.array([penalty(C, rows.total_weight) for C in Cs_of_alpha])
        # Features are scaled as for the least penalty: others hide what varies little.
        template = clone(template).set_params(alpha=alpha, C=Cs_of_alpha[-1])
        attributes = template._model(rows) | {"n_features_in_": X.shape[1]}
        if objective is None:
            (objective,) = template._objectives(rows, attributes, None)
        else:
            objective = objective.with_loss(attributes["loss_"])
        solutions = minimize_path(objective, strengths, starts, **options)
        starts = []
        for C, (parameters, converged) in zip(Cs_of_alpha, solutions, strict=True):
            starts.append(parameters)
            model = copy.copy(template)
            vars(model).update(attributes, C=C, C_=C)
            coef, intercept = objective.to_model(parameters)
            model.coef_ = coef.astype(X.dtype)
            model.intercept_ = intercept.astype(X.dtype)
            if rows.kind == "label_set":
                rule = rows.threshold_rule(model, model.mapping_, path=shared)
                model.threshold_ = rule(
                    lambda X, _, model=model: model._probabilities(X)
                )
            yield PathPoint(model, converged)


class _Shared:
    """What the thresholds of a path share: models of inner folds, and expected sizes.

    The models are those of a path of its own in each inner fold.
    """

    def __init__(self, *grid):
        self._grid, self._paths, self._sizes = grid, None, None

    def fold_models(self, estimator, X, labels, weight, folds, _):
        """Models of the next point of the grid, in the order of the path."""
        if self._paths is None:
            template = clone(estimator).set_params(threshold=0, class_weight=None)
            self._paths = [
                entmax_path(template, X[rows], labels[rows], weight[rows], *self._grid)
                for rows, _ in folds
            ]
        return (next(path).model for path in self._paths)

    def sizes(self, make):
        """What is made at the first call."""
        if self._sizes is None:
            self._sizes = make()
        return self._sizes
