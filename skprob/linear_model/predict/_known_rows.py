"""Rows with precomputed predictions, for the scores of many models."""

from typing import NamedTuple

import numpy as np

from .._given import Given
from ._prediction import Prediction


class KnownRows(NamedTuple):
    """Rows with available classes, offsets and, possibly, their scores under a model.

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
        """Whether a method that predicts was called with these rows."""
        return X is self.X and available is None and offset is None


class KnownPrediction(Prediction):
    """Predictions that have been computed, in one NumPy array."""

    def __init__(self, rows):
        self._rows, self.n_rows = rows, len(rows)

    def __iter__(self):
        yield self._rows

    def to_dense(self):
        return self._rows
