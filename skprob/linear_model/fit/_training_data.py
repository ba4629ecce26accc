"""The data of a fit in memory, checked."""

from typing import NamedTuple

import numpy as np

from ..._utils.arrays import is_foreign, numpy_dtype
from ..._utils.columns import in_order
from ...targets import check_target_available, column_names
from .._checks import check_fit_data
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
    classes : ndarray of shape (n_classes,)
    has_none : bool
        Whether there is a class for rows without a label beside these.
    """

    X: object
    y: object
    sample_weight: np.ndarray
    given: Given
    classes: np.ndarray
    has_none: bool

    def take(self, rows):
        """Some of the rows."""
        arrays = self.X[rows], self.y[rows], self.sample_weight[rows]
        return TrainingData(*arrays, self.given.of(rows), self.classes, self.has_none)


def checked_data(estimator, X, y, sample_weight, available, offset):
    """A user's arguments of `fit` in memory, checked, and the encoded target.

    Returns
    -------
    data : TrainingData
    encoded : EncodedTarget
    """
    if is_foreign(X):
        estimator._check_array_api()
    if estimator.class_names is not None:
        y = in_order("y", y, np.asarray(estimator.class_names))
    as_given = y
    X, y, sample_weight = check_fit_data(estimator, X, y, sample_weight)
    names = column_names(as_given, y.shape, estimator.class_names)
    dtype = numpy_dtype(X)
    encoded = estimator._encoded(y, dtype, names)
    is_pair = estimator._is_pair(encoded)
    about = {"kind": encoded.kind, "is_pair": is_pair, "dtype": dtype}
    rows = X.shape[0], encoded.classes
    given = Given.checked(available, offset, *rows, **about)
    known = given, encoded.classes, encoded.has_none
    return TrainingData(X, y, sample_weight, *known), encoded


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
