"""Models that are fitted to folds, from which a threshold is chosen."""

from dataclasses import replace

from ..._utils.arrays import numpy_dtype, take
from ...solvers import plan, solve
from .._training_data import TrainingData
from ._objectives import objectives_of
from ._rows import RowsInMemory
from ._run import fit_to_rows, model_at

# Factor of the tolerance in fits to folds from zero, if the objective is convex, and
# the largest tolerance that results. With 1e-2 and with 1e-4 the rules "micro" and
# "macro" of 1.5-entmax have mean F1 scores within 0.1 points of each other on eight
# label sets.
_TOL_FACTOR, _LARGEST_TOL = 100, 1e-2
# Fits from the solution of all rows end where no entry of the gradient is larger than
# this share of the largest one at the start: 2,000 times the tolerance, at most 0.3.
# On enron the predictions for left-out rows keep at most 0.6% of the influence of these
# rows with 0.1, and 2.5% (softmax) or 6% (1.5-entmax) with 0.3. With 0.2 micro-F1 for
# new rows is within 0.5 points of that by exact fits, and fits with all folds take 0.6
# to 0.8 times as long as with folds from zero.
_SHARE_FACTOR, _LARGEST_SHARE = 2000, 0.3
# The tolerance of these fits, so small that they end by the share.
_TOL_BELOW_SHARE = 1e-7
# Separate outputs, from the same start, end one by one, by a tolerance. With 1e-2 their
# F1 score is 1.7 points too high on bibtex and 1.2 on enron; with 1e-3 it is 0.2 too
# high.
_TOL_FACTOR_NEAR, _LARGEST_TOL_NEAR = 10, 1e-3


class SeparateFolds:
    """Models of folds that are fitted one by one.

    Parameters
    ----------
    spec : FitSpec
        The spec of the fit to all rows, whose targets are label sets.
    start : LastFit or None, default=None
        The fit to all rows, from which the fits to folds start; None stands for zero.
    """

    def __init__(self, spec, start=None):
        self.spec, self._start = spec, start

    def starting_from(self, start):
        """The same, started from the solution of all rows."""
        return SeparateFolds(self.spec, start)

    def models(self, X, labels, weight, splits, given):
        """Yield the :class:`FittedModel` of the training rows of each fold."""
        # The weights of rows include those of classes.
        spec = replace(self.spec, threshold=0, class_weight=None, last_fit=self._start)
        for train, _ in splits:
            data = TrainingData(
                take(X, train), labels[train], weight[train], given.of(train)
            )
            rows = RowsInMemory(spec, data, spec.encoded(data.y, numpy_dtype(X)))
            yield _model(spec, rows)


def _model(spec, rows):
    """The :class:`FittedModel` of a fold."""
    if spec.last_fit is not None:
        model = _model_from_start(spec, rows)
        if model is not None:
            return model
    tol = spec.tol
    if spec.loss.traits.is_convex and spec.unit_rows is None:
        tol = _looser(tol, _TOL_FACTOR, _LARGEST_TOL)
    return fit_to_rows(replace(spec, tol=tol, last_fit=None), rows).model


def _model_from_start(spec, rows):
    """The model of a fold, from the solution of all rows; None if its shape differs.

    At the start the gradient is that of the left-out rows, with the other sign. The
    smaller the share of it that is left, the less the model depends on these rows.
    """
    spec = spec.for_rows(rows)
    (objective,) = objectives_of(spec, rows)
    start = spec.last_fit
    if start.coef.shape != objective.coef_shape:
        return None  # Only some folds have rows without a label.
    if plan(objective.description, spec.tuning).by_output:
        tol, share = _looser(spec.tol, _TOL_FACTOR_NEAR, _LARGEST_TOL_NEAR), 0.0
    else:
        tol = min(spec.tol, _TOL_BELOW_SHARE)
        share = min(_SHARE_FACTOR * spec.tol, _LARGEST_SHARE)
    options = spec.solver_options | {
        "tol": tol,
        "share_of_start": share,
        "reports_gap": False,
    }
    parameters = objective.from_model(start.coef, start.intercept)
    solution = solve(objective, parameters, **options)
    return model_at(solution.parameters, objective, spec, rows)


def _looser(tol, factor, largest):
    """The tolerance times a factor, but no larger than `largest` by it."""
    return max(tol, min(factor * tol, largest))
