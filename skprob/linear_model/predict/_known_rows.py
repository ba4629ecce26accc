"""Rows whose predictions have been computed, for scores of many models."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from .._given import Given


class KnownRows(NamedTuple):
    """Rows with what is given for them and, perhaps, their scores under a model.

    Attributes
    ----------
    X : object
        The rows, which must not be changed: they are recognised as this object.
    given : Given
    scores : ndarray of shape (n_samples, n_scores) or None
        None if they have not been computed.
    probabilities : ndarray of shape (n_samples, n_classes) or None
        None with the scores.
    """

    X: object
    given: Given
    scores: np.ndarray | None = None
    probabilities: np.ndarray | None = None

    def are_arguments(self, X, available, offset):
        """Whether these are the rows of a call of a method that predicts."""
        return X is self.X and available is None and offset is None


class OneBlock:
    """Precomputed predictions, with the methods of :class:`BlockwisePrediction`."""

    def __init__(self, rows):
        self._rows = rows

    def __iter__(self):
        yield self._rows

    def on_host(self):
        """The same: they are NumPy's."""
        return self

    def to_dense(self):
        """All of them as one array."""
        return self._rows

    def to_sparse(self):
        """All of them as one CSR array."""
        return sparse.csr_array(self._rows)
