"""With little or no penalty: a fit that reports success is within tol of the least."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

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
    optimum = minimize(mean_loss, start, jac=True, method="L-BFGS-B", options=options)
    return optimum.fun


@pytest.mark.parametrize(
    ("seed", "condition"), [(0, 1e4), (3, 1e6), (0, 1e8), (3, 1e8), (4, 1e8)]
)
def test_a_success_is_within_tol(seed, condition):
    Z, X, Y = label_sets(seed, condition)
    least = least_objective(Z, Y)
    at_zero = SparsemaxClassifier(C=1e-12).fit(X, Y).objective_
    for tol in (1e-2, 1e-3, 1e-4):
        # Warnings are errors: each fit reports success.
        # With a threshold there are no fits to folds, whose rows can be separable.
        model = SparsemaxClassifier(C=np.inf, tol=tol, threshold=0.5).fit(X, Y)
        allowed = tol * (model.objective_ + tol * at_zero)
        assert least - 1e-8 <= model.objective_ <= least + 2 * allowed
        assert model.n_iter_ <= 20


def test_where_no_step_is_precise_a_warning_says_so():
    """A curvature of 1e-20 times the largest: float64 cannot tell it from none."""
    for seed in range(3):
        Z, X, Y = label_sets(seed, 1e10)
        model = SparsemaxClassifier(C=np.inf, tol=1e-2, max_iter=100, threshold=0.5)
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


@pytest.mark.parametrize(
    ("seed", "about"),
    [
        (0, {"C": np.inf}),
        (3, {"C": np.inf}),
        (3, {"C": 100.0, "l1_ratio": 1.0}),
        (10, {"C": 100.0, "l1_ratio": 1.0}),
    ],
)
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


def overlapping_iris():
    X, y = load_iris(return_X_y=True)
    return X, np.where(np.arange(150) % 4 == 0, np.arange(150) // 4 % 3, y)


@pytest.mark.parametrize(
    ("dtype", "smallest", "unit", "container"),
    [
        ("f8", 1e-152, 1e-155, np.asarray),
        ("f8", 1e-152, 1e-300, sparse.csr_array),
        ("f8", 1e-152, 1e-320, np.asarray),
        ("f4", 1e-29, 1e-32, sparse.csr_array),
        ("f4", 1e-29, 1e-40, np.asarray),
    ],
)
def test_features_too_small_for_coefficients_are_named_without_a_penalty(
    dtype, smallest, unit, container
):
    """They were constant without a word, and the fit the frequency of the classes."""
    X, y = overlapping_iris()
    reference = LogisticRegression(C=np.inf, tol=1e-8, max_iter=10_000).fit(X, y)
    least = log_loss(y, reference.predict_proba(X))

    def in_unit(unit):
        return container((X * unit).astype(dtype))

    model = LinearClassifier(C=np.inf).fit(in_unit(smallest), y)
    assert model.objective_ == pytest.approx(least, rel=1e-4)
    allowed = {
        True: "are constant or have a standard deviation",
        False: "are zero or have a root mean square",
    }
    for fit_intercept, fact in allowed.items():
        model = LinearClassifier(C=np.inf, fit_intercept=fit_intercept)
        match = rf"X must have features that {fact} above .*; column 0 has a"
        with pytest.raises(ValueError, match=match):
            model.fit(in_unit(unit), y)
    some_free = LinearClassifier(penalty_factors=[1, 1, 0, 1])
    with pytest.raises(ValueError, match=r"column 2 has a smaller one\. Scale the"):
        some_free.fit(in_unit(unit), y)
    # A penalty makes their coefficients zero.
    share = np.bincount(y) / len(y)
    for about in ({}, {"l1_ratio": 1.0}):
        model = LinearClassifier(**about).fit(in_unit(unit), y)
        assert np.abs(model.predict_proba(in_unit(unit)) - share).max() < 1e-3
    # A feature that is left out needs none.
    one = np.column_stack([X[:, 0] * unit, X[:, 1] * smallest]).astype(dtype)
    left_out = LinearClassifier(C=np.inf, penalty_factors=[np.inf, 1])
    left_out.fit(container(one), y)
    assert (left_out.coef_[:, 0] == 0).all() and left_out.coef_[:, 1].any()


def test_tiny_constant_features_are_constant_without_a_penalty():
    X, y = overlapping_iris()
    expected = LinearClassifier(C=np.inf).fit(X[:, :2], y).predict_proba(X[:, :2])
    X[:, 2], X[:, 3] = 1e-310, 0.0
    model = LinearClassifier(C=np.inf).fit(X, y)
    assert np.abs(model.predict_proba(X) - expected).max() < 1e-3


@pytest.mark.parametrize(
    ("outlier", "tol"),
    [(1e11, 1e-4), (1e12, 1e-2), (1e12, 1e-3), (1e12, 1e-4), (1e13, 1e-3)],
)
def test_an_outlier_that_hides_the_curvature_of_its_feature(outlier, tol):
    """Its square leaves no digits for the other rows in the Hessian.

    Fits ended after the last step that the Hessian could resolve, 6 % too high.
    """
    X, y = load_iris(return_X_y=True)
    row = 75
    X[row, 0] = outlier
    # An upper bound of the least objective: coefficients that ignore this row.
    others = np.delete(np.arange(150), row)
    without = SparsemaxClassifier(C=1.0, tol=1e-9).fit(X[others], y[others])
    scores, q = X @ without.coef_.T + without.intercept_, np.eye(3)[y]
    p = sparsemax(scores - scores.max(axis=1, keepdims=True))
    # Σ p (z - p / 2) + Σ q² / 2 - Σ q z, without the difference of large scores.
    losses = ((p - q) * scores).sum(axis=1) + (
        (q**2).sum(axis=1) - (p**2).sum(axis=1)
    ) / 2
    assert losses[row] == 0
    bound = (losses.sum() + (without.coef_**2).sum() / 2) / 150
    assert bound == pytest.approx(149 / 150 * without.objective_, rel=1e-9)
    model = SparsemaxClassifier(C=1.0, tol=tol).fit(X, y)
    assert model.objective_ <= bound * (1 + tol)
