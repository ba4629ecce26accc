"""Gram matrix and products of rows less their weighted mean, without a copy of them.

Centred dense rows are computed for a part of the columns at a time. Sparse rows would
not remain sparse, so the mean is subtracted from their products.
"""

import numpy as np
from scipy import sparse

from ._design import CACHE_SIZE


class DenseRows:
    """Rows of an array, of which a part of the columns is centred at a time.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    share : ndarray of shape (n_rows,) or None
        Weights that sum to one; None subtracts no mean.

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
        Computed with the Gram matrix.
    """

    def __init__(self, X, share):
        self._X, self._share, self.mean = X, share, np.zeros(X.shape[1])

    def gram(self, factors):
        """Inner products of the centred rows, and the size of what was subtracted.

        Parameters
        ----------
        factors : ndarray of shape (n_features,) or None
            Divisors of the products of each feature; None stands for ones.

        Returns
        -------
        gram : ndarray of shape (n_rows, n_rows)
        lost : float
            Largest eigenvalue that was subtracted from the products, which bounds
            rounding errors; zero if rows were centred before the products.
        """
        share, gram = self._share, np.zeros((len(self._X), len(self._X)))
        for part in self._parts():
            z = self._X[:, part].astype(np.float64)
            if share is not None:
                mean = share @ z
                z -= mean
                # Subtract the rounding error of the mean, too.
                error = share @ z
                z -= error
                self.mean[part] = mean + error
            if factors is not None:
                z /= np.sqrt(factors[part])
            gram += z @ z.T
        return gram, 0.0

    def combined(self, combinations):
        """Combinations (M, n_rows) of the centred rows: (M, n_features)."""
        result = np.empty((len(combinations), len(self.mean)))
        for part in self._parts():
            np.matmul(combinations, self._centred(part), out=result[:, part])
        return result

    def scores(self, coef):
        """Inner products (M, n_rows) of coefficients (M, n_features) with the rows."""
        scores = np.zeros((len(coef), len(self._X)))
        for part in self._parts():
            scores += coef[:, part] @ self._centred(part).T
        return scores

    def _centred(self, part):
        return self._X[:, part] - self.mean[part]

    def _parts(self):
        """Slices of the columns of X, so that a copy of a part is small."""
        n_rows, n_features = self._X.shape
        step = max(4 * CACHE_SIZE // n_rows, 1)
        return [slice(start, start + step) for start in range(0, n_features, step)]


class SparseRows:
    """Rows of a CSR matrix, whose products are centred in place of the rows.

    Parameters
    ----------
    X : CSR array or matrix of shape (n_rows, n_features)
    share : ndarray of shape (n_rows,) or None
        As for :class:`DenseRows`.

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
    """

    def __init__(self, X, share):
        X = sparse.csr_array(X)
        self._X, self._share = X.astype(np.float64, copy=False), share
        self.mean = np.zeros(X.shape[1]) if share is None else self._X.T @ share

    def gram(self, factors):
        """Return what :meth:`DenseRows.gram` does, by a product of sparse matrices.

        Double centring subtracts the mean: the Gram matrix loses its weighted row means
        and column means.
        """
        X, share, mean = self._X, self._share, self.mean
        if factors is not None:
            root = np.sqrt(factors)
            data, mean = X.data / root[X.indices], mean / root
            X = sparse.csr_array((data, X.indices, X.indptr), X.shape)
        gram = (X @ X.T).toarray()
        if share is None:
            return gram, 0.0
        for _ in range(2):  # The second subtraction removes rounding errors.
            of_mean = gram @ share
            gram -= of_mean
            gram -= of_mean[:, None] - share @ of_mean
        return gram, mean @ mean

    def combined(self, combinations):
        """Combinations (M, n_rows) of the centred rows: (M, n_features)."""
        result = np.ascontiguousarray((self._X.T @ combinations.T).T)
        return result - combinations.sum(axis=1, keepdims=True) * self.mean

    def scores(self, coef):
        """Inner products (M, n_rows) of coefficients (M, n_features) with the rows."""
        scores = self._X @ np.ascontiguousarray(coef.T)
        return (scores - self.mean @ coef.T).T


def centred_rows(X, share):
    """The rows of an array or a CSR matrix, less their mean with these weights.

    None in place of weights subtracts no mean.
    """
    return (SparseRows if sparse.issparse(X) else DenseRows)(X, share)
