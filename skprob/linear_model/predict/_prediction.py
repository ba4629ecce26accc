"""Predictions of a linear model, a block of rows at a time."""

from abc import ABC, abstractmethod

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import safe_sparse_dot

from ..._utils.arrays import (
    all_finite,
    concat,
    is_host,
    numpy_dtype,
    take,
    to_numpy,
    widened,
)
from ..._utils.parts import Repeatable
from ...data import as_design, row_slices
from ...objective import scores_of
from .._given import NOTHING


def check_predictions(predictions, first_row):
    """Raise if raw predictions overflowed; the first row has the number `first_row`."""
    if not all_finite(predictions):
        finite = np.isfinite(to_numpy(predictions)).all(axis=1)
        raise ValueError(
            "X must be small enough for finite scores; in row "
            f"{first_row + np.argmin(finite)} they overflow {predictions.dtype}."
        )


def of_classes(of_scores, n_classes):
    """A function of scores without the column of the class for rows without a label."""
    return lambda scores: of_scores(scores)[:, :n_classes]


class Prediction(ABC):
    """Predictions of a model for some rows, in blocks of rows.

    It can be iterated over any number of times.

    Attributes
    ----------
    n_rows : int
    """

    n_rows: int

    @abstractmethod
    def __iter__(self):
        """The blocks, each an array with a result for each of its rows."""

    def to_dense(self):
        """All blocks as one array."""
        result, start = None, 0
        for block in self:
            if result is None:
                result = np.empty((self.n_rows, *block.shape[1:]), block.dtype)
            result[start : start + len(block)] = block
            start += len(block)
        return result

    def to_sparse(self):
        """All blocks as one CSR array, without stored zeros."""
        blocks = [sparse.csr_array(block) for block in self.on_host()]
        return sparse.vstack(blocks, format="csr")

    def on_host(self):
        """The blocks as NumPy arrays."""
        return Repeatable(map, to_numpy, self)


class BlockwisePrediction(Prediction):
    """The results of a function of a linear model's scores.

    The scores of only one block are in memory.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        Rows in an array of any library.
    coef : array or CSR array of shape (M, n_features)
    intercept : array of shape (M,)
    unit_rows : UnitRows or None
        Transformation of the rows of X; None if there is none.
    of_scores : callable
        ``of_scores(scores)``, for scores of shape (n_rows, n_classes), is an array
        with as many rows.
    given : Given
        Available classes and offsets of the rows.
    """

    def __init__(self, X, coef, intercept, unit_rows, of_scores, given=NOTHING):
        self._X, self.n_rows = X, X.shape[0]
        coef, intercept = to_numpy(coef), to_numpy(intercept)
        if unit_rows is not None:
            coef, intercept = unit_rows.from_model(coef, intercept)
        dtype = np.result_type(numpy_dtype(X), coef.dtype)
        self._coef, self._intercept = coef.astype(dtype), intercept.astype(dtype)
        self._unit_rows = unit_rows
        self._of_scores = of_scores
        self._given = given

    def __iter__(self):
        for rows in row_slices(self._X, self._coef.shape[0]):
            with np.errstate(over="ignore", invalid="ignore"):
                X = take(self._X, rows)
                if self._unit_rows is not None:
                    X = self._unit_rows(X)
                if numpy_dtype(X) != self._coef.dtype:
                    X = widened(X)
                predictions = _products(X, self._coef, self._intercept)
            check_predictions(predictions, first_row=rows.start)
            scores = scores_of(predictions)
            self._given.put_into(scores, rows)
            yield self._of_scores(scores)

    def to_dense(self):
        return super().to_dense() if is_host(self._X) else concat(list(self))


def _products(X, coef, intercept):
    if sparse.issparse(coef):
        return safe_sparse_dot(X, coef.T, dense_output=True) + intercept
    return as_design(X).matvec(coef, intercept)
