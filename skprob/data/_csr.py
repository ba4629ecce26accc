"""Rows in a CSR matrix."""

from functools import cached_property

import numpy as np
from scipy import sparse

from .._utils.single_precision import squares_fit
from ._dense import precise_moments
from ._design import DesignMatrix
from ._one_pass import variance_of_sums


class CSRDesign(DesignMatrix):
    """Rows in a CSR matrix, which remains sparse.

    A product with an array in single precision is computed in single precision.

    Parameters
    ----------
    X : CSR array or matrix of shape (n_rows, n_columns)
    """

    def __init__(self, X):
        self.host_X = X
        self.shape, self.dtype, self.n_stored = X.shape, X.dtype, X.nnz

    def matvec(self, coef, shift=None):
        coef = coef.astype(min(coef.dtype, self.dtype), copy=False)
        if coef[:, :1].any() or coef.any():
            X = self._in_precision_of(coef).host_X
            raw = X @ np.ascontiguousarray(coef.T)
        else:  # Coefficients of zero, at which most fits start, need no product.
            raw = np.zeros((self.shape[0], len(coef)), coef.dtype)
        if shift is not None:
            raw = raw.astype(self.dtype, copy=False)
            raw += shift.astype(self.dtype)
        return raw

    def rmatvec(self, residual):
        return (self._in_precision_of(residual)._transpose @ residual).T

    def class_sums(self, class_numbers, weight, n_classes):
        # One product for all classes: each has columns of its own. For 20 classes of 20
        # newsgroups it takes 0.2 times as long as products with an array of all
        # classes.
        X, (n_rows, n_columns) = self.host_X, self.shape
        size = n_classes * n_columns
        dtype = np.promote_types(X.indices.dtype, np.min_scalar_type(-size))
        first = (class_numbers * n_columns).astype(dtype)
        indices = np.repeat(first, np.diff(X.indptr))
        indices += X.indices
        shape = size, n_rows
        columns = _compressed(sparse.csc_array, shape, X.data, indices, X.indptr)
        return (columns @ weight).reshape(n_classes, n_columns)

    def moments(self, weight):
        """See :meth:`DenseDesign.moments`."""
        total = weight.sum(dtype=np.float64)
        share = weight / (total or np.float64(1))
        data = self.host_X.data.astype(np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = self._transposed(data) @ share
            squares = self._transposed(np.square(data)) @ share
            variance, lost = variance_of_sums(
                mean, squares, lambda tiny: data[tiny.take(self.host_X.indices)].any()
            )
        # The variance of a column that is mostly zeros loses no digits.
        if len(lost):
            return total, *precise_moments(self, share)
        return total, mean, np.sqrt(np.maximum(variance, 0))

    def moments_in_units(self, share, unit=None):
        """Sums for ``precise_moments``."""
        # NumPy converts indices of other types at every use.
        column = self.host_X.indices.astype(np.intp, copy=False)
        values = self.host_X.data.astype(np.float64, copy=False)
        if unit is not None:
            values = values / unit[column]
        # Weight of the zeros that are not stored: the rest of the total. Both sums have
        # the same order, so the rest of a full column is exactly zero.
        ones = np.ones(self.n_stored)
        absent = np.cumsum(share)[-1] - self._transposed(ones) @ share
        mean = self._transposed(values) @ share
        z = values - mean.take(column)
        mean_error = self._transposed(z) @ share - absent * mean
        variance = np.maximum(absent, 0) * mean**2
        variance += self._transposed(np.square(z, out=z)) @ share
        return mean, mean_error, variance

    def largest_of_columns(self):
        """Largest absolute number of each column, in float64."""
        largest = np.zeros(self.shape[1])
        np.maximum.at(largest, self.host_X.indices, np.abs(self.host_X.data))
        return largest

    def power_sums(self, weights):
        design = self._in_precision_of(weights)
        first = design._transpose @ weights
        squares = self._transposed(np.square(design.host_X.data))
        return first.T, (squares @ weights).T

    @property
    def largest(self):
        data = self.host_X.data
        return max(data.max(initial=0), -data.min(initial=0))

    @property
    def fits_single_precision(self):
        return squares_fit(self.largest)

    def in_single_precision(self):
        return self._single

    def scaled_columns(self, columns, factors, outputs):
        """CSC array (n_rows, n_numbers) of factors[i, outputs[p]] X[i, columns[p]]."""
        X = self._by_column
        lengths = np.diff(X.indptr)[columns]
        ends = np.append(0, np.cumsum(lengths))
        places = np.arange(ends[-1])
        places += np.repeat(X.indptr[columns] - ends[:-1], lengths)
        rows = X.indices.take(places)
        data = X.data.take(places) * factors[rows, np.repeat(outputs, lengths)]
        shape = self.shape[0], len(columns)
        return _compressed(sparse.csc_array, shape, data, rows, ends)

    def divided(self, scale, n_columns):
        """CSR array in single precision of the columns divided by a scale.

        They are followed by columns of zeros, so that there are `n_columns`. Indices
        are those of X, and not copied.
        """
        X = self.host_X
        data = (1 / scale).astype(np.float32).take(X.indices)
        np.multiply(data, X.data, out=data, casting="same_kind")
        shape = self.shape[0], n_columns
        return _compressed(sparse.csr_array, shape, data, X.indices, X.indptr)

    @cached_property
    def _by_column(self):
        return self.host_X.tocsc()

    def take(self, rows):
        X = self.host_X
        if not isinstance(rows, slice):
            return CSRDesign(X[rows])
        start, stop, _ = rows.indices(X.shape[0])
        shape, first, last = (stop - start, X.shape[1]), X.indptr[start], X.indptr[stop]
        indptr = X.indptr[start : stop + 1] - first
        data, indices = X.data[first:last], X.indices[first:last]
        return CSRDesign(_compressed(sparse.csr_array, shape, data, indices, indptr))

    def joined(self, others):
        parts = [self.host_X, *(other.host_X for other in others)]
        return CSRDesign(sparse.vstack(parts, format="csr"))

    def columns(self, rows):
        return self.host_X[rows].T.toarray().astype(np.float64, order="C", copy=False)

    def _in_precision_of(self, array):
        """The design whose numbers have the precision of an array, or its own."""
        is_single = array.dtype == np.float32 != self.dtype
        return self._single if is_single else self

    @cached_property
    def _single(self):
        """The design of the rows in single precision."""
        X = self.host_X
        data = X.data.astype(np.float32, copy=False)
        return CSRDesign(
            _compressed(sparse.csr_array, X.shape, data, X.indices, X.indptr)
        )

    @cached_property
    def _transpose(self):
        return self._transposed(self.host_X.data)

    def _transposed(self, data):
        """Xᵀ with other values of its non-zeros."""
        X, shape = self.host_X, self.shape[::-1]
        return _compressed(sparse.csc_array, shape, data, X.indices, X.indptr)


def _compressed(kind, shape, data, indices, indptr):
    """A CSR or CSC array of these parts, without the constructor's copy."""
    array = kind(shape, dtype=data.dtype)
    array.data, array.indices, array.indptr = data, indices, indptr
    return array
