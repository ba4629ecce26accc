"""With little or no penalty: a fit that reports success is within tol of the least."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_iris

from skprob import LinearClassifier, SparsemaxClassifier

N_ROWS, N_FEATURES, N_LABELS = 68, 16, 6


def label_sets(seed, condition):
    """Orthonormal coordinates Z, features X = Z A whose A is ill-conditioned, and Y."""
    rng = np.random.default_rng(seed)
    Z = np.linalg.qr(rng.normal(size=(N_ROWS, N_FEATURES))).Q * np.sqrt(N_ROWS)
    rotation = np.linalg.qr(rng.normal(size=(N_FEATURES, N_FEATURES))).Q
    X = Z * np.geomspace(1, 1 / condition, N_FEATURES) @ rotation
    scores = 3 * X @ rng.normal(size=(N_FEATURES, N_LABELS))
    scores += rng.normal(size=scores.shape)
    return Z, X, (scores > np.sort(scores)[:, [-2]] - 0.5).astype(int)


def sparsemax(scores):
    """Projection onto the simplex, by its definition."""
    ordered = -np.sort(-scores)
    sizes = np.arange(1, scores.shape[1] + 1)
    thresholds = (np.cumsum(ordered, axis=1) - 1) / sizes
    size = (ordered > thresholds).sum(axis=1)
    threshold = thresholds[np.arange(len(scores)), size - 1]
    return np.maximum(scores - threshold[:, None], 0)


def least_objective(Z, Y):
    """The least mean loss: SciPy's, in the coordinates Z and an intercept."""
    design, q = np.column_stack([Z, np.ones(N_ROWS)]), Y / Y.sum(axis=1, keepdims=True)

    def mean_loss(parameters):
        scores = design @ parameters.reshape(-1, N_LABELS)
        p = sparsemax(scores)
        potential = (p * scores - p**2 / 2).sum(axis=1)
        losses = potential - (q * scores).sum(axis=1) + (q**2).sum(axis=1) / 2
        return losses.mean(), (design.T @ (p - q)).ravel() / N_ROWS

    start = np.zeros(design.shape[1] * N_LABELS)
    options = {"maxiter": 10_000, "maxfun": 20_000, "gtol": 1e-7, "ftol": 0}
    found = minimize(mean_loss, start, jac=True, method="L-BFGS-B", options=options)
    return found.fun


@pytest.mark.parametrize("condition", [1e4, 1e6, 1e8])
@pytest.mark.parametrize("seed", [0, 3, 4])
def test_a_success_is_within_tol(seed, condition):
    Z, X, Y = label_sets(seed, condition)
    least = least_objective(Z, Y)
    at_zero = SparsemaxClassifier(C=1e-12).fit(X, Y).objective_
    for tol in (1e-2, 1e-3, 1e-4):
        # Warnings are errors: each fit reports success.
        model = SparsemaxClassifier(C=np.inf, tol=tol).fit(X, Y)
        allowed = tol * (model.objective_ + tol * at_zero)
        assert least - 1e-8 <= model.objective_ <= least + 2 * allowed
        assert model.n_iter_ <= 20


def test_where_no_step_is_precise_a_warning_says_so():
    """A curvature of 1e-20 times the largest: float64 cannot tell it from none."""
    for seed in range(3):
        Z, X, Y = label_sets(seed, 1e10)
        model = SparsemaxClassifier(C=np.inf, tol=1e-2, max_iter=100)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, Y)
        assert caught or model.objective_ <= 1.03 * least_objective(Z, Y)


def least_with_offsets(X, y, offset, margin, lasso):
    """The same for labels, with offsets, a margin and a lasso; U - V are W."""
    n_rows, n_features = X.shape
    target = np.eye(3)[y]
    shift = offset + margin * (1 - target)

    def objective(parameters):
        positive, negative, intercept = np.split(
            parameters, [3 * n_features, 6 * n_features]
        )
        W = (positive - negative).reshape(3, n_features)
        scores = X @ W.T + intercept + shift
        p = sparsemax(scores)
        potential = (p * scores - p**2 / 2).sum(axis=1)
        losses = potential - (target * scores).sum(axis=1) + 0.5
        gradient = ((p - target).T @ X / n_rows).ravel()
        penalty = lasso * (positive + negative).sum()
        parts = gradient + lasso, lasso - gradient, (p - target).mean(axis=0)
        return losses.mean() + penalty, np.concatenate(parts)

    start = np.zeros(6 * n_features + 3)
    bounds = [(0, None)] * (6 * n_features) + [(None, None)] * 3
    options = {"maxiter": 10_000, "maxfun": 20_000, "gtol": 1e-8, "ftol": 0}
    about = {"jac": True, "bounds": bounds, "options": options}
    return minimize(objective, start, method="L-BFGS-B", **about).fun


@pytest.mark.parametrize("seed", [0, 3, 10])
@pytest.mark.parametrize("about", [{"C": np.inf}, {"C": 100.0, "l1_ratio": 1.0}])
def test_many_rows_without_curvature_at_the_start(seed, about):
    """Their probabilities are one and zeros, so Newton's first step is very long."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 6)), rng.integers(0, 3, size=40)
    offset = 10 * rng.normal(size=(40, 3))
    least = least_with_offsets(X, y, offset, 2.0, 0 if len(about) == 1 else 1 / 4000)
    for solver in "newton-cg", "newton-cholesky":
        model = LinearClassifier("sparsemax", margin=2.0, solver=solver, **about)
        model.fit(X, y, offset=offset)
        assert model.objective_ == pytest.approx(least, rel=1e-4)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("unit", [1e-25, 1e-12, 1e12])
def test_single_precision_in_any_unit(unit, container):
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)).astype(np.float32)
    expected = SparsemaxClassifier(C=np.inf).fit(X, y)
    model = SparsemaxClassifier(C=np.inf).fit(container(X * np.float32(unit)), y)
    assert abs(model.objective_ - expected.objective_) < 1e-4 * expected.objective_
    assert 0 < expected.objective_ < 0.05
