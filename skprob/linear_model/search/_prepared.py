"""What a search works on."""

from functools import partial
from typing import Any, NamedTuple

from sklearn.utils.validation import _check_method_params

from ...objective import n_raw_predictions
from ...targets import EncodedTarget
from ..fit import FitSpec, TrainingData
from ._grid import Grid
from ._label_sets import LeftOutRows
from ._search import scored_path
from ._search_results import Results


class PreparedSearch(NamedTuple):
    """Checked data, the grid, and the folds of a search.

    Attributes
    ----------
    data : TrainingData
    encoded : EncodedTarget
        Of the same rows.
    template : classifier
        Unfitted, with the parameters that all fits share.
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
    encoded: EncodedTarget
    template: Any
    specs: list[FitSpec]
    grid: Grid
    folds: list
    scorer: Any
    score_params: dict

    def unknown_results(self):
        """The :class:`Results` to be filled in."""
        n_outputs = n_raw_predictions(self.encoded.n_scores, "simplex")
        X = self.data.X
        return Results.unknown(
            shape=(len(self.folds), *self.grid.Cs.shape),
            coef_shape=(n_outputs, X.shape[1]),
            dtype=X.dtype,
        )

    def paths(self, are_scored):
        """For each fold the function :func:`scored_path` of its results."""
        return [
            partial(
                scored_path,
                specs=self.specs,
                estimator=self.template,
                scorer=self.scorer if are_scored else None,
                score_params=_check_method_params(
                    self.data.X,
                    self.score_params,
                    indices=None if fold is None else fold[1],
                ),
                data=self.data,
                fold=fold,
                grid=self.grid,
            )
            for fold in self.folds
        ]

    def left_out_rows(self, results):
        """Predictions of label sets for rows that the folds leave out."""
        return LeftOutRows(
            results,
            self.specs,
            self.template,
            self.data,
            self.encoded,
            self.folds,
            self.grid,
        )
