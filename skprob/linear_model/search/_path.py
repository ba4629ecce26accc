"""Fits over a grid, each started from its neighbours' solutions."""

import copy
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from ...solvers import minimize_path
from ..fit._fit import objectives_of
from ..fit._rows import RowsInMemory
from ..fit._strength import penalty
from ..predict._threshold import fold_template


class PathPoint(NamedTuple):
    """A fitted model, whether its gradient is within the tolerance, and iterations."""

    model: object
    converged: bool
    n_iter: int


def fitted_path(template, data, grid):
    """Yield a :class:`PathPoint` for every value and, for each of them, every C.

    A fit starts from the solution for the C before, the first of a value, if the grid
    says so, from that for the value before. What depends on the features alone is
    computed once. `template` is an unfitted classifier with the parameters of all
    models but for those of the :class:`Grid`, `data` a :class:`TrainingData`.
    """
    X, dtype = data.X, data.X.dtype
    encoded = template._encoded(data.y, dtype, data.classes, data.has_none)
    rows = RowsInMemory(template, data, encoded)
    shared = _Shared(data, grid)
    objective, starts = None, []
    for number in grid.order:
        Cs = grid.Cs[number, grid.columns]
        strengths = np.array([penalty(C, rows.total_weight) for C in Cs])
        # Features are scaled as for the least penalty: others hide what varies little.
        template = grid.of_value(clone(template), number, Cs[-1])
        attributes = template._model(rows) | {"n_features_in_": X.shape[1]}
        if objective is None:
            (objective,) = objectives_of(template, rows, attributes)
        else:
            objective = objective.with_loss(attributes["loss_"])
        how = template._solver_options
        solutions = minimize_path(objective, strengths, starts, **how)
        starts = []
        for C, solution in zip(Cs, solutions, strict=True):
            if grid.starts_from_last:
                starts.append(solution.parameters)
            model = copy.copy(template)
            vars(model).update(attributes, C=C, C_=C)
            coef, intercept = objective.to_model(solution.parameters)
            model.coef_ = coef.astype(dtype)
            model.intercept_ = intercept.astype(dtype)
            if rows.kind == "label_set":
                rule = rows.threshold_rule(model, model.mapping_, path=shared)

                def probabilities(X, given, model=model):
                    return model._probabilities(X, **given.arguments)

                model.threshold_ = rule(probabilities)
            yield PathPoint(model, solution.converged, solution.n_iter)


class _Shared:
    """What thresholds along a path share: models of inner folds, expected sizes.

    The models are those of a path of its own in each inner fold.
    """

    def __init__(self, data, grid):
        self._data, self._grid = data, grid
        self._paths = self._sizes = None

    def fold_models(self, estimator, X, labels, weight, folds, given):
        """Models of the next point of the grid, in the order of the path."""
        if self._paths is None:
            template = fold_template(estimator)
            data = self._data._replace(X=X, y=labels, sample_weight=weight, given=given)
            self._paths = [
                fitted_path(template, data.take(rows), self._grid) for rows, _ in folds
            ]
        return (next(path).model for path in self._paths)

    def sizes(self, make):
        """The result of the first call."""
        if self._sizes is None:
            self._sizes = make()
        return self._sizes
