"""A regressor by attention to the training rows."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import column_or_1d

from .._utils.checks import as_dense, refuse_times
from .._utils.typing import Array, MatrixLike, same_signature
from ._base import ATTRIBUTES, PARAMETERS, BaseAttention


class AttentionRegressor(RegressorMixin, BaseAttention):
    __doc__ = f"""Regressor whose predictions are means of training targets.

    The weights of the mean are computed by a mapping from similarities: the training
    rows are the keys, their targets the values (Nadaraya-Watson). With softmax every
    training row has a positive weight, as in kernel regression with a Gaussian kernel;
    with sparsemax only the nearest ones, as with an Epanechnikov kernel whose width
    adapts to the query.

    Parameters
    ----------
    {PARAMETERS}

    Attributes
    ----------
    {ATTRIBUTES}

    See Also
    --------
    AttentionClassifier : The same for classes.
    sklearn.neighbors.KNeighborsRegressor : A fixed number of neighbours.

    References
    ----------
    E. A. Nadaraya, "On estimating regression", Theory of Probability and its
    Applications 9, 1964.

    O. Anava and K. Y. Levy, "k*-nearest neighbors: from global to local", NeurIPS 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.attention import AttentionRegressor
    >>> X = np.arange(8.0)[:, None]
    >>> model = AttentionRegressor(temperature=2.0).fit(X, X[:, 0] ** 2)
    >>> model.predict([[3.5], [6.25]]).round(3)
    array([12.5  , 40.875])
    >>> model.attention_weights([[3.5]]).toarray().round(3)
    array([[0. , 0. , 0. , 0.5, 0.5, 0. , 0. , 0. ]])
    """

    # Public module of the class, which pickle and skops store.
    __module__ = __name__.rpartition(".")[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @same_signature(_fit_context(prefer_skip_nested_validation=True))
    def fit(self, X: MatrixLike, y: MatrixLike) -> Self:
        """Store the training rows and their targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: the keys.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Training targets: the values.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a parameter is not allowed, or X or y hold NaN or infinity or do not fit
            together.
        """
        X = self._check_X(X, reset=True)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None.")
        y = as_dense("y", y)
        try:
            refuse_times(y)
            y = check_array(y, ensure_2d=False, dtype="numeric", input_name="y")
        except ValueError as error:
            raise ValueError(f"y must be finite real numbers. {error}") from None
        check_consistent_length(X, y)
        if y.ndim > 2:
            raise ValueError(f"y must have one or two dimensions; got {y.ndim}.")
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        self._fit_keys(X)
        values = y.astype(np.result_type(X.dtype, np.float32), copy=False)
        self._values = values.reshape(len(X), -1)
        self._is_flat = y.ndim == 1
        return self

    def predict(self, X: MatrixLike) -> Array:
        """Weighted means of the training targets.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            New rows.

        Returns
        -------
        y : ndarray of shape (n_queries,) or (n_queries, n_outputs)
        """
        return self._means(X, lambda means: means[:, 0] if self._is_flat else means)
