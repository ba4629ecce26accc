"""Without a penalty: a fit that reports success is within tol of the optimum."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize

from skprob import SparsemaxClassifier

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
    thresholds = (np.cumsum(ordered, axis=1) - 1) / np.arange(1, N_LABELS + 1)
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
