"""Models that are fitted to folds, from which a threshold is chosen."""

from ..._utils.arrays import numpy_dtype, take
from ._rows import RowsInMemory, TrainingData
from ._run import fit_to_rows


class SeparateFolds:
    """Models of folds that are fitted one by one.

    Parameters
    ----------
    spec : FitSpec
        Of the fit to all rows, for label sets.
    start : LastFit or None, default=None
        Of the fit to all rows, where the fits to folds start; None stands for zero.
    """

    def __init__(self, spec, start=None):
        self.spec, self._start = spec, start

    def starting_from(self, start):
        """The same, started from the solution of all rows."""
        return SeparateFolds(self.spec, start)

    def models(self, X, labels, weight, splits, given):
        """Yield the :class:`FittedModel` of the training rows of each fold."""
        spec = self.spec.for_folds(self._start)
        for train, _ in splits:
            data = TrainingData(
                take(X, train), labels[train], weight[train], given.of(train)
            )
            encoded = spec.encoded(data.y, numpy_dtype(X))
            yield fit_to_rows(spec, RowsInMemory(spec, data, encoded)).model
