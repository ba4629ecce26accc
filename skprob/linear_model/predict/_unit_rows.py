"""Rows of X that are scaled to norm one, for scores that are cosines."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from ..._utils.arrays import (
    as_type,
    asarray_like,
    concat,
    is_host,
    moved,
    namespace,
    row_dot,
    row_max,
    zeros,
)
from ..._utils.warnings import warn
from ...data import rounding_error

# Number of rows whose directions are compared.
_MOST_COMPARED = 256


class UnitRows:
    """Rows are scaled to norm one."""

    def __call__(self, X):
        return unit_rows(X)

    def for_rows(self, rows):
        """The transformation for the rows of a fit."""
        return self

    def attributes(self):
        """Fitted attributes of a classifier that hold the transformation."""
        return {"similarity_": "cosine"}

    def to_model(self, coef, intercept):
        """Convert coefficients and intercepts of transformed rows to those of X."""
        return coef, intercept

    def from_model(self, coef, intercept):
        """Convert coefficients and intercepts of X to those of transformed rows."""
        return coef, intercept


def unit_rows(X):
    """A copy of X with its rows at norm one; rows of zeros stay zeros.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Finite numbers.

    Returns
    -------
    directions : ndarray or CSR matrix of the shape of X

    Examples
    --------
    >>> import numpy as np
    >>> unit_rows(np.array([[3e-200, -4e-200], [0.0, 0.0]]))
    array([[ 0.6, -0.8],
           [ 0. ,  0. ]])
    """
    # Divide by the largest entry first: squares of tiny numbers would underflow, and
    # scikit-learn treats a norm below 1e-15 as zero.
    if not is_host(X):
        return _unit_rows_of_any(X)
    if sparse.issparse(X):
        X = X.copy()
        X.sum_duplicates()
        largest = abs(X).max(axis=1).toarray().ravel()
        X.data /= np.repeat(np.where(largest > 0, largest, 1), np.diff(X.indptr))
    else:
        largest = np.abs(X).max(axis=1, keepdims=True)
        X = X / np.where(largest > 0, largest, 1)
    return normalize(X, copy=False)


def _unit_rows_of_any(X):
    xp = namespace(X)
    largest = row_max(abs(X))
    X = X / xp.where(largest > 0, largest, 1.0)
    norm = xp.sqrt(row_dot(X, X))
    return X / xp.where(norm > 0, norm, 1.0)


@dataclass(frozen=True)
class StandardUnitRows(UnitRows):
    """Features are standardised, a constant is added, rows are scaled to norm one.

    Examples
    --------
    >>> import numpy as np
    >>> inputs = StandardUnitRows(np.array([10.0]), np.array([2.0]), 2.0)
    >>> inputs(np.array([[13.0], [10.0]]))
    array([[0.6, 0.8],
           [0. , 1. ]])
    """

    mean: np.ndarray
    scale: np.ndarray
    constant: float  #: Value of the constant feature; 0 for none.

    def __call__(self, X):
        mean, scale = (
            as_type(asarray_like(a, X), X.dtype) for a in (self.mean, self.scale)
        )
        if not is_host(X):
            column = zeros((X.shape[0], int(self.constant > 0)), X) + self.constant
            return unit_rows(concat([(X - mean) / scale, column], axis=1))
        is_sparse = sparse.issparse(X)
        if mean.any():
            X = X.toarray() if is_sparse else X
            is_sparse, X = False, X - mean
        if (scale != 1).any():
            X = (X.multiply(1 / scale)).tocsr() if is_sparse else X / scale
        if self.constant:
            column = np.full((X.shape[0], 1), self.constant, dtype=X.dtype)
            X = (
                sparse.hstack([X, column], "csr")
                if is_sparse
                else np.hstack([X, column])
            )
        return unit_rows(X)

    def attributes(self):
        return {
            "similarity_": "cosine",
            "feature_mean_": self.mean,
            "feature_scale_": self.scale,
            "constant_": self.constant,
        }

    def to_model(self, coef, intercept):
        """As for :class:`UnitRows`; the weights of the constant are the intercepts."""
        return (coef[:, :-1], coef[:, -1]) if self.constant else (coef, intercept)

    def from_model(self, coef, intercept):
        """As for :class:`UnitRows`; the intercepts become weights of the constant."""
        if self.constant and sparse.issparse(coef):
            coef = sparse.hstack([coef, intercept[:, None]], format="csr")
        elif self.constant:
            coef = np.column_stack([coef, intercept])
        return coef, np.zeros_like(intercept)


@dataclass(frozen=True)
class StandardizedFeatures:
    """Parameters from which the rows of a fit get their :class:`StandardUnitRows`."""

    standardize: bool | str  #: "auto" is True for dense rows.
    constant: float  #: Multiple of the root mean square of the norms of rows.
    least_spread: float  #: Smallest median distance of unit rows without a warning.

    def for_rows(self, rows):
        """The :class:`StandardUnitRows` for the rows of a fit."""
        is_centred = self.standardize
        if self.standardize == "auto":
            is_centred = not rows.is_sparse
        elif self.standardize and rows.is_sparse:
            raise ValueError(
                "standardize must be False or 'auto' for a sparse X, which would not "
                "stay sparse; got True. Use sklearn.preprocessing.MaxAbsScaler."
            )
        mean, deviation = rows.mean_and_deviation()
        center, scale = np.zeros_like(mean), np.ones_like(mean)
        if is_centred:
            center = mean
            # A constant feature has a deviation of rounding errors.
            least = rounding_error(mean, rows.dtype)
            scale = np.where(deviation > least, deviation, 1.0)
        square = np.sum((deviation / scale) ** 2 + ((mean - center) / scale) ** 2)
        constant = float(self.constant * (np.sqrt(square) or 1.0))
        if not rows.is_on_host:
            center, scale = moved(center, rows.X), moved(scale, rows.X)
        unit_rows = StandardUnitRows(center, scale, constant)
        if rows.is_on_host and not (rows.is_remote or rows.is_sparse):
            remedy = "Correct, clip or leave out rows of huge values."
            if not is_centred:
                remedy = f"Take standardize=True. {remedy}"
            _warn_of_one_direction(rows.X, unit_rows, self.least_spread, remedy)
        return unit_rows


def _warn_of_one_direction(X, unit_rows, least_spread, remedy):
    """Warn if most rows have nearly the same direction.

    Rows of huge values cause it, and features that are not centred.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    unit_rows : StandardUnitRows
    least_spread : float
        Smallest median distance of unit vectors that needs no warning.
    remedy : str
        What to do, in the warning.
    """
    numbers = np.linspace(0, len(X) - 1, min(len(X), _MOST_COMPARED)).astype(int)
    directions = unit_rows(X[numbers])
    distances = np.linalg.norm(directions - np.median(directions, axis=0), axis=1)
    spread = np.median(distances)
    # Equal rows, of many zeros, have the distance zero, and nothing to tell apart.
    if 0 < spread < least_spread:
        warn(
            "Most rows of X have nearly the same direction (the median distance of "
            f"their unit vectors is {spread:.2g}), so that classes can hardly be told "
            f"apart. {remedy}"
        )
