"""What a linear model predicts, a block of rows at a time."""

import functools

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.utils._array_api import check_same_namespace
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from ..._utils.arrays import concat, is_host, numpy_dtype, take, to_numpy, widened
from ..._utils.typing import Decorated
from ...data import as_design, row_slices
from ...objective import scores_of
from .._checks import check_predictions, is_dask, refuse_for_dask
from .._docstrings import with_shared_arguments
from .._given import NOTHING


def prediction_method(method: Decorated) -> Decorated:
    """Decorator of a method of X, for rows in memory or in a Dask collection.

    The result is a lazy Dask array if X is a Dask collection. An array of another
    library, or on another device, than X in ``fit`` is an error.
    """

    @functools.wraps(method)
    def wrapped(self, X, *, available=None, offset=None):
        given = {"available": available, "offset": offset}
        if not is_dask(X):
            if get_config()["array_api_dispatch"]:
                check_is_fitted(self)
                check_same_namespace(X, self, attribute="coef_", method=method.__name__)
            return method(self, X, **given)
        from ..dask._prediction import lazily

        check_is_fitted(self)
        refuse_for_dask(**given)
        return lazily(self, method.__name__, X)

    return with_shared_arguments(wrapped)  # type: ignore[return-value]


def of_classes(of_scores, n_classes):
    """A function of scores without the column of the class for rows without a label."""
    return lambda scores: of_scores(scores)[:, :n_classes]


class BlockwisePrediction:
    """The results of a function of a linear model's scores, block by block.

    It can be iterated over any number of times; the scores of only one block are in
    memory.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        Of any library.
    coef : array or CSR array of shape (M, n_features)
    intercept : array of shape (M,)
    inputs : Features
        The transformation of rows of X.
    of_scores : callable
        ``of_scores(scores)``, for scores of shape (n_rows, n_classes), is an array
        with as many rows.
    given : Given
        Of the rows, for the classes of the output.
    """

    def __init__(self, X, coef, intercept, inputs, of_scores, given=NOTHING):
        self._X = X
        coef, intercept = inputs.from_model(to_numpy(coef), to_numpy(intercept))
        dtype = np.result_type(numpy_dtype(X), coef.dtype)
        self._coef, self._intercept = coef.astype(dtype), intercept.astype(dtype)
        self._inputs = inputs
        self._of_scores = of_scores
        self._given = given

    def __iter__(self):
        for rows in self._slices():
            with np.errstate(over="ignore", invalid="ignore"):
                X = self._inputs(take(self._X, rows))
                if numpy_dtype(X) != self._coef.dtype:
                    X = widened(X)
                predictions = _products(X, self._coef, self._intercept)
            check_predictions(predictions, first_row=rows.start)
            scores = scores_of(predictions)
            self._given.put_into(scores, rows)
            yield self._of_scores(scores)

    def to_dense(self):
        """All of it as one array."""
        if not is_host(self._X):
            return concat(list(self))
        result = None
        for rows, block in zip(self._slices(), self, strict=True):
            if result is None:
                result = np.empty((self._X.shape[0], *block.shape[1:]), block.dtype)
            result[rows] = block
        return result

    def to_sparse(self):
        """All of it as one CSR array, of the non-zeros only."""
        blocks = [sparse.csr_array(block) for block in self.on_host()]
        return sparse.vstack(blocks, format="csr")

    def on_host(self):
        """The same in NumPy's arrays."""
        return HostBlocks(self)

    def _slices(self):
        return row_slices(self._X, self._coef.shape[0])


class HostBlocks:
    """Blocks of an iterable in NumPy's arrays, any number of times."""

    def __init__(self, blocks):
        self._blocks = blocks

    def __iter__(self):
        return map(to_numpy, self._blocks)


def _products(X, coef, intercept):
    if sparse.issparse(coef):
        return safe_sparse_dot(X, coef.T, dense_output=True) + intercept
    return as_design(X).matvec(coef, intercept)
