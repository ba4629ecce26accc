"""The checked data, the grid and the folds of a search."""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from sklearn.utils.validation import _check_method_params

from ...objective import n_raw_predictions
from .._known_threshold import is_fitted_to_rows, known_threshold
from .._training_rows import RowsInMemory, TrainingData
from ..fit import FitSpec, attributes_of, model_of
from ._grid import Grid
from ._label_sets import LeftOutRows
from ._search import scored_path
from ._search_results import Results


class PreparedSearch(NamedTuple):
    """Checked data, the grid, and the folds of a search.

    Attributes
    ----------
    data : TrainingData
    template : classifier
        An unfitted classifier with the parameters that all fits share.
    specs : list of FitSpec
        One for each value of the grid.
    grid : Grid
    folds : list of tuple of ndarray, or [None]
        Training and test rows of each fold; None stands for leave-one-out.
    scorer : callable
    score_params : dict
        Metadata for the scorer, of all rows.
    """

    data: TrainingData
    template: Any
    specs: list[FitSpec]
    grid: Grid
    folds: list
    scorer: Any
    score_params: dict

    def unknown_results(self):
        """The :class:`Results` to be filled in."""
        n_outputs = n_raw_predictions(self.data.encoded.n_scores, "simplex")
        X = self.data.X
        return Results.unknown(
            shape=(len(self.folds), *self.grid.Cs.shape),
            coef_shape=(n_outputs, X.shape[1]),
            dtype=X.dtype,
        )

    def paths(self):
        """Functions :func:`scored_path` of the results of each fold."""
        return [partial(scored_path, prepared=self, fold=fold) for fold in self.folds]

    def score_params_of(self, rows):
        """Metadata for the scorer, of some rows; None stands for all."""
        return _check_method_params(self.data.X, self.score_params, indices=rows)

    @property
    def fits_thresholds(self):
        """Whether thresholds and scores are computed from the rows of all folds."""
        is_set = self.data.encoded.target_type == "label_set"
        return is_set and is_fitted_to_rows(self.template.threshold)

    def scored_left_out_rows(self, results):
        """The rows that choose thresholds, after the models are scored by them.

        Returns
        -------
        left_out : LeftOutRows or None
            None if thresholds are not fitted to rows.
        """
        if not self.fits_thresholds:
            return None
        left_out = LeftOutRows(self, results)
        left_out.score()
        return left_out

    def threshold(self, choice, left_out):
        """The threshold of label sets at a :class:`Choice`; None for other targets."""
        if left_out is not None:
            return left_out.threshold(choice.place)
        if self.data.encoded.target_type != "label_set":
            return None
        return known_threshold(self.template.threshold, self.data.encoded.classes)

    def chosen_spec(self, choice):
        """The spec of a fit with the chosen parameters."""
        C, l1_ratio = choice.params["C"], float(choice.params["l1_ratio"])
        return replace(self.specs[choice.place[0]], C=C, l1_ratio=l1_ratio)

    def mean_of_folds(self, results, choice, threshold):
        """Fitted attributes of a model with the folds' mean coefficients.

        Parameters
        ----------
        results : Results
            The results of all folds.
        choice : Choice
        threshold : float, ndarray of shape (n_classes,), DecisionRule or None
            The rule of label sets; None for other targets.

        Returns
        -------
        attributes : dict
        """
        spec = self.chosen_spec(choice)
        rows = RowsInMemory(spec, self.data)
        spec = spec.for_rows(rows)
        coef = results.coefs[:, *choice.place].mean(axis=0)
        intercept = results.intercepts[:, *choice.place].mean(axis=0)
        model = model_of(coef, intercept, spec, rows)
        if threshold is not None:
            model = model.with_threshold(threshold)
        return attributes_of(spec, model)

    def chosen_classifier(self, choice):
        """An unfitted classifier with the chosen parameters."""
        # The checked array: names in a dict would not be found in an array X.
        factors = self.chosen_spec(choice).penalty_factors
        return self.template.set_params(**choice.params, penalty_factors=factors)
