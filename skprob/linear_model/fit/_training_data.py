"""The data of a fit in memory, checked."""

from typing import NamedTuple

import numpy as np

from ...targets import check_target_available
from .._given import Given


class TrainingData(NamedTuple):
    """Checked data of a fit, or of some of its rows.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    y : ndarray or CSR array
        Of the kind that the classifier's ``target_type`` names.
    sample_weight : ndarray of shape (n_samples,)
    given : Given
        For the classes.
    classes : ndarray of shape (n_classes,) or None
        None takes them from y.
    has_none : bool or "auto"
        Whether there is a class for rows without a label beside these; "auto" if there
        are such rows.
    known : ndarray of bool of shape (n_samples, n_classes) or None
        Which entries of `y` are known; None if all are.
    """

    X: object
    y: object
    sample_weight: np.ndarray
    given: Given
    classes: np.ndarray | None = None
    has_none: bool | str = "auto"
    known: np.ndarray | None = None

    def take(self, rows):
        """Some of the rows."""
        arrays = self.X[rows], self.y[rows], self.sample_weight[rows]
        known = None if self.known is None else self.known[rows]
        about = self.given.of(rows), self.classes, self.has_none, known
        return TrainingData(*arrays, *about)


def of_labelled(given, encoded):
    """The same for the rows with a target, whose classes must be available."""
    rows = np.arange(encoded.target.shape[0])
    if encoded.labelled is not None:
        rows, given = np.flatnonzero(encoded.labelled), given.of(encoded.labelled)
    if encoded.has_none:
        given = given.with_none_class()
    if given.available is not None:
        check_target_available(encoded.target, given.available, rows)
    return given
