"""Wide rows in coordinates of the space that they span.

Let there be fewer rows x_i than features, and let the penalty on coefficients W be a
ridge, ½ l2 Σ_j f_j ‖W_j‖². Where the gradient of the objective is zero, the
coefficients of each output are a combination of the rows: l2 f_j W_kj = -Σ_i g_ik x_ij.
So the minimum is among these combinations, which have fewer parameters than W.

With weights s_i that sum to one, let z_ij = (x_ij - mean_j) / √f_j, and let
U diag(λ) Uᵀ be the Gram matrix √s_i ⟨z_i, z_k⟩ √s_k. Row i gets the coordinates

    r_i = Σ_k ⟨z_i, z_k⟩ b_k    with    b = diag(√s) U diag(λ)^-½,

one for each eigenvalue that is not zero. Coefficients V of the coordinates, with the
penalty ½ l2 ‖V‖², stand for W_j = Σ_k (V b_k) z_kj / √f_j: scores and penalty are the
same. The weighted coordinates are uncorrelated, with variances λ, so that at zero
coefficients the Hessian is about diagonal. They do not depend on the order of the rows.
A row that occurs twice has the same effect as one with twice the weight.
"""

import numpy as np

from .._utils.blas import serial_blas
from ._centred_rows import centred_rows

# Largest error of an eigenvalue, in units of the largest eigenvalue times the
# precision. With 20 to 1,000 rows, half of them copies, errors of zero eigenvalues are
# at most 7.
_ROUNDING_ERRORS = 15


class RowSpace:
    """The space that rows span, with coordinates in which a ridge is a plain ridge.

    Parameters
    ----------
    rows : DenseRows or SparseRows
        Rows, less their mean if there is an intercept.
    factors : ndarray of shape (n_features,) or None
        Multiples of the penalty for each feature, not zero; None stands for ones.
    basis : ndarray of shape (n_rows, rank)
        The vectors b above.
    coordinates : ndarray of shape (n_rows, rank)

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.data import RowSpace
    >>> X = np.array([[3.0, 0.0, 1.0, 4.0], [3.0, 0.0, 1.0, -4.0]])
    >>> space = RowSpace.of(X, np.ones(2), fit_intercept=True, factors=None, l2=1.0)
    >>> abs(space.coordinates)  # The rows differ in a single direction.
    array([[4.],
           [4.]])
    """

    def __init__(self, rows, factors, basis, coordinates):
        self._rows, self._factors, self._basis = rows, factors, basis
        self.coordinates, self.n_features = coordinates, len(rows.mean)

    @classmethod
    @serial_blas
    def of(cls, X, weight, fit_intercept, factors, l2):
        """The space of the rows of X.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_rows, n_features)
        weight : ndarray of shape (n_rows,)
            Not negative, with a positive sum.
        fit_intercept : bool
        factors : ndarray of shape (n_features,) or None
            Positive. Features with infinite factors have the coefficient zero.
        l2 : float
            Smallest strength of the penalty.

        Returns
        -------
        space : RowSpace or None
            None if the Gram matrix is not accurate enough, or zero.
        """
        share = weight.astype(np.float64) / weight.sum(dtype=np.float64)
        rows = centred_rows(X, share if fit_intercept else None)
        with np.errstate(over="ignore", invalid="ignore"):
            gram, lost = rows.gram(factors)
        root = np.sqrt(share)
        weighted = root[:, None] * gram * root
        if not np.isfinite(weighted).all():
            return None
        values, vectors = np.linalg.eigh(weighted)
        # Centred rows have an eigenvalue of zero, and each row without weight has one.
        n_zero = int(fit_intercept) + np.count_nonzero(share == 0)
        n_zero = _number_of_zeros(values, n_zero, l2, lost)
        if n_zero is None:
            return None
        values, vectors = values[n_zero:], vectors[:, n_zero:]
        basis = root[:, None] * vectors / np.sqrt(values)
        return cls(rows, factors, basis, gram @ basis)

    def coordinates_of(self, X):
        """The coordinates of X, which must be the rows that the space was made of."""
        return self.coordinates

    @serial_blas
    def to_features(self, coef, intercept):
        """Coefficients (M, n_features) and intercepts (M,) of the features.

        They are computed from those of the coordinates, (M, rank) and (M,).
        """
        of_features = self._rows.combined(coef @ self._basis.T)
        if self._factors is not None:
            of_features /= self._factors
        return of_features, intercept - of_features @ self._rows.mean

    @serial_blas
    def from_features(self, coef, intercept):
        """Coefficients and intercepts of the coordinates.

        The part of the coefficients that is orthogonal to the space is dropped. This
        does not change the scores of the rows, and makes the penalty smaller.
        """
        scores = self._rows.scores(coef)
        return scores @ self._basis, intercept + coef @ self._rows.mean


def _number_of_zeros(values, n_known, l2, lost):
    """Number of the eigenvalues, in increasing order, that are zero up to rounding.

    `n_known` of them are zero by construction. The result is None if the others are not
    accurate enough: an error has little effect only if it is far below the penalty
    `l2`. Errors are in proportion to the largest eigenvalue before a mean was
    subtracted, which is at most the sum of the present one and `lost`.
    """
    limits, largest = np.finfo(np.float64), values[-1] + lost
    if not largest > limits.tiny / limits.eps:
        return None
    accuracy = np.sqrt(limits.eps)
    error = _ROUNDING_ERRORS * limits.eps * largest
    n_zero = np.count_nonzero(values <= error)
    if n_zero == len(values):  # The rows are the same.
        return None
    # Eigenvalues below the error may be zeros, of rows that occur twice, or inaccurate.
    if n_zero > n_known and error > accuracy * l2:
        return None
    if accuracy * largest > max(values[n_zero], l2):
        return None
    return n_zero
