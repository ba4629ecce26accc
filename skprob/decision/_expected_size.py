"""The expected number of labels of a row, by ridge regression on its features."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .._utils.typing import Array, ArrayLike, MatrixLike

# Penalties, in parts of the mean second moment of the features; inf is the mean size.
_PENALTIES = np.append(10.0 ** np.arange(-3, 3), np.inf)
_N_FOLDS = 3
# Number of Lanczos steps. With 10, 20 or 60, the errors of out-of-fold sizes differ by
# less than 0.002 of the variance on each of seven data sets.
_N_STEPS = 20
# Most entries of a dense X that are converted to float64 at a time (1 MiB).
_BLOCK_SIZE = 1 << 17


def expected_size(
    X: MatrixLike, labels: MatrixLike, weight: Array, has_none: bool
) -> ExpectedSize:
    """The `ExpectedSize` of the sets of a CSR indicator.

    With `has_none` shares sum to less than one, and the rest is the probability of no
    label. The expected size is then that of the sets that are not empty.
    """
    sizes = np.diff(labels.indptr)
    return ExpectedSize(
        X, sizes, np.where(sizes > 0, weight, 0) if has_none else weight
    )


class ExpectedSize:
    """Ridge regression of the sizes of label sets on features.

    The penalty has the least squared error over three folds. All penalties share
    one Krylov space for each fold, so that a fit takes some hundred products of X
    with a vector, and no copy of a dense X. All products are computed in float64: with
    features in float32 that are far from zero, means and predictions would lose digits.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Features of the rows.
    sizes : ndarray of shape (n_samples,)
        Number of labels of each row.
    weight : ndarray of shape (n_samples,)
        Weights of the rows.

    Attributes
    ----------
    out_of_fold : ndarray of shape (n_samples,)
        Sizes of the rows, predicted without them.
    coef, intercept : ndarray of shape (n_features,) and float

    See Also
    --------
    MetaLabeler : The rule that predicts as many labels.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(30.0)[:, None]
    >>> model = ExpectedSize(X, 1 + (X[:, 0] > 14), np.ones(30))
    >>> model(X[[0, 29]]).round(1)
    array([1., 2.])
    """

    def __init__(self, X: MatrixLike, sizes: ArrayLike, weight: Array) -> None:
        sizes, weight = np.asarray(sizes, np.float64), weight / weight.max()
        counted = sizes[weight > 0]
        self.least, self.most = counted.min(), counted.max()
        n_samples, X = len(sizes), _doubled(X)
        fold = np.arange(n_samples) % _N_FOLDS
        predicted = np.full((len(_PENALTIES), n_samples), counted.mean())
        for i in range(_N_FOLDS):
            training = np.where(fold != i, weight, 0)
            if training.any():
                coefs, intercepts = _ridge(X, sizes, training, _PENALTIES)
                in_fold = fold == i
                predicted[:, in_fold] = (_times(X, coefs) + intercepts)[in_fold].T
        np.clip(predicted, self.least, self.most, out=predicted)
        error = (predicted - sizes) ** 2 @ weight
        best = np.flatnonzero(error == error.min())[-1]
        self.out_of_fold = predicted[best]
        coefs, intercepts = _ridge(X, sizes, weight, _PENALTIES[[best]])
        self.coef, self.intercept = coefs[:, 0], intercepts[0]

    def __call__(self, X: MatrixLike) -> Array:
        """Expected sizes for the rows of X, in the range of the sizes in the fit."""
        sizes = _times(_doubled(X), self.coef) + self.intercept
        return np.clip(sizes, self.least, self.most)


def _ridge(X, y, weight, penalties):
    """Coefficients (n_features, n_penalties) and intercepts, by Lanczos' process.

    Minimises the weighted squared error plus penalty times the squared norm of the
    coefficients, in features that are centred and, if X is dense, divided by their
    deviations.
    """
    total = weight.sum()
    mean, y_mean = _adjoint(X, weight) / total, weight @ y / total
    scale, variance = _scales(X, weight, mean)

    def gram_product(direction):
        v = direction / scale
        product = weight * (_times(X, v) - mean @ v)
        return (_adjoint(X, product) - product.sum() * mean) / scale

    residual = weight * (y - y_mean)
    start = (_adjoint(X, residual) - residual.sum() * mean) / scale
    length = np.linalg.norm(start)
    coefs = np.zeros((len(start), len(penalties)))
    n_steps = min(_N_STEPS, len(start), np.count_nonzero(weight))
    if length > 0 and n_steps > 0:
        basis, T = _lanczos(gram_product, start / length, n_steps)
        values, vectors = np.linalg.eigh(T)
        values = np.maximum(values, 0)
        right = length * vectors[0]
        unit = total * variance.mean()
        damped = right[:, None] / (values[:, None] + unit * penalties)
        coefs = (basis.T @ (vectors @ damped)) / scale[:, None]
    return coefs, y_mean - mean @ coefs


def _scales(X, weight, mean):
    """Divisors of the features, and variances of the divided features."""
    total = weight.sum()
    if sparse.issparse(X):
        second = weight @ X.multiply(X).tocsr() / total
        return np.ones(X.shape[1]), np.maximum(second - mean**2, 0)
    squares = (weight[rows] @ (part - mean) ** 2 for rows, part in _blocks(X))
    deviation = np.sqrt(sum(squares) / total)
    # The deviation of a constant feature is the rounding error of its mean.
    noise = np.maximum(10 * np.finfo(X.dtype).eps * np.abs(mean), 1e-150)
    scale = np.where(deviation > noise, deviation, np.inf)
    return scale, np.isfinite(scale).astype(float)


def _lanczos(gram_product, direction, n_steps):
    """Orthonormal directions, and the matrix of a product in them.

    Returns
    -------
    basis : ndarray of shape (n, n_features)
        At most `n_steps` directions, fewer where they span all further products.
    T : ndarray of shape (n, n)
    """
    basis, T = np.empty((n_steps, len(direction))), np.zeros((n_steps, n_steps))
    for i in range(n_steps):
        basis[i] = direction
        image = gram_product(direction)
        directions = basis[: i + 1]
        T[: i + 1, i] = T[i, : i + 1] = products = directions @ image
        # Orthogonalise twice: after one pass the rounding error is large.
        image -= products @ directions
        image -= (directions @ image) @ directions
        size = np.linalg.norm(image)
        if size <= 1e-8 * np.abs(T[i, i]):
            return basis[: i + 1], T[: i + 1, : i + 1]
        direction = image / size
    return basis, T


def _times(X, v):
    """The product X v in float64."""
    product = np.empty((X.shape[0], *v.shape[1:]))
    for rows, part in _blocks(X):
        product[rows] = part @ v
    return product


def _adjoint(X, weight):
    """The product of X transposed with a weight for each row, in float64."""
    product = np.zeros(X.shape[1])
    for rows, part in _blocks(X):
        product += weight[rows] @ part
    return product


def _blocks(X):
    """Slices of rows, and these rows in float64; together they are all rows of X."""
    if sparse.issparse(X):
        yield slice(None), X
        return
    n_rows, n_features = X.shape
    step = max(_BLOCK_SIZE // n_features, 1)
    for start in range(0, n_rows, step):
        rows = slice(start, start + step)
        yield rows, X[rows].astype(np.float64, copy=False)


def _doubled(X):
    """A sparse X in float64 with the same arrays of indices; a dense X unchanged."""
    if not sparse.issparse(X) or X.dtype == np.float64:
        return X
    data = X.data.astype(np.float64)
    return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)
