"""Base class of the estimators: weights of the training rows for new rows."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted, validate_data

from .._utils.arrays import dense
from .._utils.checks import (
    InstancesOf,
    IntegerInterval,
    OneOf,
    RealInterval,
    check_squares,
    naming,
    refuse_arrays,
    refuse_unreadable_numbers,
)
from .._utils.names import KeywordsChecked
from .._utils.parts import slices
from .._utils.saving import PlainState
from .._utils.typing import MatrixLike
from ..mappings import Mapping, MappingLike, get_mapping

# Most pairs of new and training rows in a block (8 MiB).
_MOST_PAIRS = 1 << 20
# Most training rows whose nearest neighbours give the unit of distances.
_N_FOR_UNIT = 1000


class BaseAttention(KeywordsChecked, PlainState, BaseEstimator):
    """Weighted means of the training rows' targets (Nadaraya-Watson)."""

    _parameter_constraints: dict = {
        "mapping": [InstancesOf(Mapping), callable, str],
        "similarity": [OneOf("distance", "dot")],
        "temperature": [RealInterval(0, None, closed="neither")],
        "n_neighbors": [IntegerInterval(1, None, closed="left"), None],
    }

    def __init__(
        self,
        mapping: MappingLike = "sparsemax",
        *,
        similarity: Literal["distance", "dot"] = "distance",
        temperature: float = 1.0,
        n_neighbors: int | None = 100,
    ) -> None:
        self.mapping = mapping
        self.similarity = similarity
        self.temperature = temperature
        self.n_neighbors = n_neighbors

    def attention_weights(self, X: MatrixLike) -> sparse.csr_array:
        """Weights of the training rows, the keys, for new rows, the queries.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            New rows, which are compared with the training rows.

        Returns
        -------
        weights : CSR array of shape (n_queries, n_samples)
            Rows sum to one; only non-zero weights are stored.
        """
        X = self._checked_queries(X)
        parts = [self._weights(X[rows]) for rows in self._blocks(X)]
        return sparse.vstack(parts, format="csr")

    def _check_X(self, X, reset):
        refuse_arrays(type(self).__name__, X=X)
        with naming("X", X):
            refuse_unreadable_numbers(X)
            dtype = [np.float64, np.float32]
            X = validate_data(self, X, dtype=dtype, reset=reset)
        check_squares(X)
        return X

    def _checked_queries(self, X):
        check_is_fitted(self)
        return self._check_X(X, reset=False)

    def _fit_keys(self, X):
        """Store the training rows, and a search for the nearest ones."""
        mapping = get_mapping(self.mapping)
        mapping._validate_params()
        if mapping.traits.polytope != "simplex":
            raise ValueError(
                "mapping must give probabilities that sum to one; those of "
                f"{mapping!r} are marginals."
            )
        if getattr(mapping, "learn_noise", False):
            raise ValueError(
                "mapping must have learn_noise=False: attention estimates no scales."
            )
        self._mapping, self._similarity = mapping, self.similarity
        self._temperature, self._n_neighbors = self.temperature, self.n_neighbors
        self._keys = X
        self.n_samples_fit_ = len(X)
        if self.similarity == "dot":
            self.scale_ = float(np.sqrt(X.shape[1]))
            return
        _check_spread(X)
        self._search = NearestNeighbors().fit(X)
        some = X[:: -(-len(X) // _N_FOR_UNIT)]
        # The nearest row is the row itself, or an equal one.
        nearest = self._search.kneighbors(some, min(2, len(X)))[0][:, -1]
        mean = float(np.mean(nearest**2))
        self.scale_ = mean if mean > 0 else 1.0

    def _blocks(self, X):
        """Slices of the rows whose pairs with keys fit into memory."""
        n_keys = self.n_samples_fit_
        if self._n_neighbors is not None and self._similarity == "distance":
            n_keys = min(int(self._n_neighbors), n_keys)
        return slices(len(X), max(1, _MOST_PAIRS // n_keys))

    def _weights(self, X):
        """The weights for some checked rows, as a CSR array."""
        similarity, columns = self._similarities(X)
        weights = self._mapping(similarity / (self._temperature * self.scale_))
        indptr = np.arange(0, weights.size + 1, weights.shape[1])
        shape = len(X), self.n_samples_fit_
        csr = sparse.csr_array((weights.ravel(), columns.ravel(), indptr), shape)
        csr.sort_indices()
        csr.eliminate_zeros()
        return csr

    def _similarities(self, X):
        """Similarities to some training rows, and the numbers of these rows."""
        n = self.n_samples_fit_
        k = n if self._n_neighbors is None else min(self._n_neighbors, n)
        if self._similarity == "distance":
            distance, columns = self._search.kneighbors(X, k)
            return -(distance**2), columns
        products = X @ self._keys.T
        if k == n:
            return products, np.tile(np.arange(n), (len(X), 1))
        columns = np.argpartition(products, n - k, axis=1)[:, n - k :]
        return np.take_along_axis(products, columns, axis=1), columns

    def _means(self, X, of_means):
        """A function of the weighted means of the targets, as one array."""
        X = self._checked_queries(X)
        parts = [
            of_means(dense(self._weights(X[rows]) @ self._values))
            for rows in self._blocks(X)
        ]
        return np.concatenate(parts)


def _check_spread(X):
    """Raise where rows differ so little that the squared distances vanish."""
    spread, least = float(np.ptp(X, axis=0).max()), np.sqrt(np.finfo(X.dtype).tiny)
    if 0 < spread < least:
        raise ValueError(
            f"X must have rows that differ by more than {least:.1g}, or the squared "
            f"distances of {X.dtype} vanish; they differ by at most {spread:.1g}. "
            "Scale the features."
        )


PARAMETERS = """mapping : Mapping, callable or str, default="sparsemax"
        The mapping from similarities to the weights of the training rows. With
        sparsemax or entmax the number of neighbours with a positive weight differs from
        query to query.
    similarity : {"distance", "dot"}, default="distance"
        Minus the squared Euclidean distance, or the inner product.
    temperature : float, default=1.0
        The similarities are divided by ``temperature * scale_``. The higher it is, the
        more training rows contribute to a prediction.
    n_neighbors : int or None, default=100
        Only this many training rows, the most similar ones, can have a positive weight;
        None stands for all rows. If fewer rows have a positive weight anyway, as with
        sparsemax, the limit has no effect."""

ATTRIBUTES = """scale_ : float
        The unit of similarities: the mean squared distance of a training row to its
        nearest neighbour, over up to 1000 rows; for inner products the square root of
        the number of features.
    n_samples_fit_ : int
        Number of training rows.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        Names of the features, if X had them."""
