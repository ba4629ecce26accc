"""Thresholds of a search for label sets, chosen from rows that its fits left out."""

from dataclasses import replace

import numpy as np

from ..._utils.parts import Repeatable
from .._training_rows import RowsInMemory
from ..fit import attributes_of, labelled_rows, model_of
from ..predict import MOST_JOINED, chained
from ._precomputed import with_attributes, with_predictions, with_raw_predictions
from ._scoring import score_of_model

# Number of parts in which a single fold is scored, each with the threshold of the
# other parts.
_N_PARTS = 5


class LeftOutRows:
    """The rows that the fits of a search left out, and the models that predict them.

    The rows are in parts: one for each fold, or five if there is a single fold.

    Parameters
    ----------
    prepared : PreparedSearch
    results : Results
        The results of all folds, after all fits.

    Raises
    ------
    ValueError
        If the folds leave out no row with a label.
    """

    def __init__(self, prepared, results):
        self._prepared, self._results = prepared, results
        data, folds = prepared.data, prepared.folds
        self._is_single_fold = len(folds) == 1
        spec = prepared.specs[0]
        self._rows = RowsInMemory(spec, data)
        self._labelled, numbers = labelled_rows(spec, self._rows)
        if data.encoded.labelled is not None:
            numbers = np.flatnonzero(data.encoded.labelled)[numbers]
        all_rows = np.arange(data.X.shape[0])
        tests = [all_rows if fold is None else all_rows[fold[1]] for fold in folds]
        if self._is_single_fold:
            n_parts = min(_N_PARTS, len(tests[0]))
            self._raw_rows = [slice(k, None, n_parts) for k in range(n_parts)]
            tests = [tests[0][rows] for rows in self._raw_rows]
        self._tests, self._parts = tests, [data.take(test) for test in tests]
        # The number of each row among the rows that choose thresholds, or -1.
        numbers_of_rows = np.full(len(all_rows), -1)
        numbers_of_rows[numbers] = np.arange(len(numbers))
        self._numbers = [numbers_of_rows[test] for test in tests]
        self._can_choose = [numbers >= 0 for numbers in self._numbers]
        if not self._has_label(self._can_choose):
            raise ValueError(
                "cv must leave out a row with a label and a positive weight, by which "
                f"threshold={spec.threshold!r} is chosen; it leaves out none."
            )

    def score(self):
        """Fill in the scores, of each part with the threshold of the other parts."""
        scorer, grid = self._prepared.scorer, self._prepared.grid
        params = [self._prepared.score_params_of(test) for test in self._tests]
        others = [self._without(test) for test in self._tests]
        columns = grid.columns
        for i, r in grid.paths:
            for j, models in zip(columns, self._models(i, r, columns), strict=True):
                scores = []
                for k, part in enumerate(self._parts):
                    threshold = self._threshold(i, models, others[k])
                    model = with_attributes(models[k], {"threshold_": threshold})
                    scores.append(score_of_model(scorer, params[k], model, part))
                scores = np.mean(scores) if self._is_single_fold else scores
                self._results.scores[:, i, r, j] = scores

    def threshold(self, place):
        """The threshold at a place in the grid, chosen from all rows."""
        i, r, j = place
        (models,) = self._models(i, r, [j])
        return self._threshold(i, models, self._can_choose)

    def _without(self, test):
        """Masks of the rows of each part from which a test part gets its threshold."""
        pairs = zip(self._can_choose, self._tests, strict=True)
        chosen = [mask & ~np.isin(rows, test) for mask, rows in pairs]
        return chosen if self._has_label(chosen) else self._can_choose

    def _has_label(self, chosen):
        return self._labelled.labels[self._order(chosen)].nnz > 0

    def _order(self, chosen):
        pairs = zip(self._numbers, chosen, strict=True)
        return np.concatenate([numbers[mask] for numbers, mask in pairs])

    def _threshold(self, i, models, chosen):
        blocks = [
            Repeatable(_chosen_rows, model._probabilities(part.X, None, None), mask)
            for model, part, mask in zip(models, self._parts, chosen, strict=True)
        ]
        threshold, order = self._prepared.specs[i].threshold, self._order(chosen)
        blocks = chained(blocks)
        if order.size * self._labelled.labels.shape[1] <= MOST_JOINED:
            # One block, which would be joined anew in each pass over it.
            blocks = list(blocks)
        return self._labelled.fitted_threshold(threshold, blocks, order)

    def _models(self, i, r, columns):
        """The models of all parts, a tuple for each of some values of C.

        The models have precomputed predictions for the rows of their part.
        """
        parts, prepared = [], self._prepared
        for k, part in enumerate(self._parts):
            of_fold = self._results.of_fold(0 if self._is_single_fold else k)
            models = [self._model(of_fold, i, r, j) for j in columns]
            raw = of_fold.left_out[i, r, columns]
            if raw[0] is None:
                most = prepared.specs[i].tuning.scored_together
                parts.append(with_predictions(part.X, models, part.given, most))
            else:
                raw = [predictions[self._raw_rows[k]] for predictions in raw]
                parts.append(with_raw_predictions(part.X, models, raw, part.given))
        return zip(*parts, strict=True)

    def _model(self, of_fold, i, r, j):
        """A fitted classifier without a threshold."""
        prepared, grid = self._prepared, self._prepared.grid
        spec = replace(prepared.specs[i], l1_ratio=float(grid.l1_ratios[r]))
        spec = replace(spec, C=grid.Cs[i, r, j]).for_rows(self._rows)
        coef, intercept = of_fold.coefs[i, r, j], of_fold.intercepts[i, r, j]
        model = model_of(coef, intercept, spec, self._rows)
        attributes = attributes_of(spec, model) | grid.params(i, r, j)
        attributes["n_features_in_"] = prepared.data.X.shape[1]
        return with_attributes(prepared.template, attributes)


def _chosen_rows(blocks, is_chosen):
    """Blocks without the rows that are not chosen."""
    start = 0
    for block in blocks:
        chosen = is_chosen[start : start + len(block)]
        start += len(block)
        if chosen.any():
            yield block[chosen]
