"""What a linear model predicts, a block of rows at a time."""

import functools

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from .._typing import Decorated
from ..data import as_design, row_slices
from ..objective import scores_of
from ._checks import check_predictions, is_dask, refuse_for_dask
from ._given import NOTHING


def lazy_for_dask(method: Decorated) -> Decorated:
    """A method of X that gives a lazy Dask array where X is a Dask collection."""

    @functools.wraps(method)
    def wrapped(self, X, *, available=None, offset=None):
        given = {"available": available, "offset": offset}
        if not is_dask(X):
            return method(self, X, **given)
        from ._dask import lazily

        check_is_fitted(self)
        refuse_for_dask(**given)
        return lazily(self, method.__name__, X)

    return wrapped  # type: ignore[return-value]


class BlockwisePrediction:
    """What a function makes of a linear model's scores, block by block.

    It can be iterated over any number of times; the scores of one block are all that
    is in memory.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    coef : ndarray or CSR array of shape (M, n_features)
    intercept : ndarray of shape (M,)
    inputs : callable
        ``inputs(rows_of_X)`` is what the coefficients are multiplied with.
    of_scores : callable
        ``of_scores(scores)``, for scores of shape (n_rows, n_classes), is an array
        with as many rows.
    given : Given
        Of the rows, for the classes of the output.
    """

    def __init__(self, X, coef, intercept, *, inputs, of_scores, given=NOTHING):
        self._X = X
        dtype = np.result_type(X.dtype, coef.dtype)
        self._coef, self._intercept = coef.astype(dtype), intercept.astype(dtype)
        self._inputs = inputs
        self._of_scores = of_scores
        self._given = given

    def __iter__(self):
        for rows in self._slices():
            with np.errstate(over="ignore", invalid="ignore"):
                X = self._inputs(self._X[rows]).astype(self._coef.dtype, copy=False)
                predictions = _products(X, self._coef)
                predictions += self._intercept
            check_predictions(predictions, first_row=rows.start)
            scores = scores_of(predictions)
            self._given.put_into(scores, rows)
            yield self._of_scores(scores)

    def to_dense(self):
        """All of it as one array."""
        result = None
        for rows, block in zip(self._slices(), self, strict=True):
            if result is None:
                result = np.empty((self._X.shape[0], *block.shape[1:]), block.dtype)
            result[rows] = block
        return result

    def to_sparse(self):
        """All of it as one CSR array, of the non-zeros only."""
        return sparse.vstack([sparse.csr_array(block) for block in self], format="csr")

    def _slices(self):
        return row_slices(self._X, self._coef.shape[0])


def _products(X, coef):
    if sparse.issparse(coef):
        return safe_sparse_dot(X, coef.T, dense_output=True)
    return as_design(X).matvec(coef)
