"""Fits of entmax below alpha = 1, against a minimum that is found by SciPy."""

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from skprob import EntmaxClassifier, EntmaxClassifierCV

X, Y = load_wine(return_X_y=True)
X = scale(X)[:, :3]


def value_and_gradient(z, y, alpha):
    """The loss of a row by its definition, with the threshold by Brent's method."""
    gamma, d = 1 - alpha, z - z.max()

    def p(lam):
        return (1 + gamma * (lam - d)) ** (-1 / gamma)

    most = (len(z) ** gamma - 1) / gamma
    lam = brentq(lambda lam: p(lam).sum() - 1, 0, most + 1e-9, xtol=1e-14)
    omega = (np.sum(p(lam) ** alpha) - 1) / (alpha * (alpha - 1))
    return p(lam) @ z - omega - z[y], p(lam) - np.eye(len(z))[y]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("alpha", [0.3, 0.5])
def test_every_solver_finds_the_minimum(alpha, n_classes):
    rows = np.flatnonzero(n_classes > Y)[::9]
    x, y = X[rows], Y[rows]

    # With two classes there is one row u of coefficients, and the penalty is u² / 2:
    # twice that of W = (-u / 2, u / 2).
    factor = 2 if n_classes == 2 else 1

    def objective(w):
        W, b = w[: 3 * n_classes].reshape(n_classes, 3), w[3 * n_classes :]
        rows = zip(x @ W.T + b, y, strict=True)
        losses, slopes = zip(
            *(value_and_gradient(z, label, alpha) for z, label in rows), strict=True
        )
        slopes = np.array(slopes) / len(y)
        gradient = np.append(slopes.T @ x + factor * W / len(y), slopes.sum(axis=0))
        return np.mean(losses) + factor * np.sum(W**2) / (2 * len(y)), gradient

    # A minimum by values and slopes that agree with each other.
    start = np.zeros(4 * n_classes)
    best = minimize(objective, start, jac=True, options={"gtol": 1e-6})
    for solver in ("newton-cholesky", "newton-cg", "lbfgs"):
        model = EntmaxClassifier(alpha, C=1.0, solver=solver, tol=1e-9).fit(x, y)
        assert model.objective_ == pytest.approx(best.fun, rel=1e-9)
        assert 0 <= model.duality_gap_ <= 1e-8
        assert (model.predict_proba(1e3 * x) > 0).all()


def test_one_grid_from_heavy_tails_to_zeros():
    alphas = [0.5, 0.75, 1, 1.25, 1.5]
    search = EntmaxClassifierCV(alphas, Cs=[0.1, 1], cv=3).fit(X, Y)
    assert search.scores_.shape == (3, 5, 2)
    # Neighbours on the grid have neighbouring scores, also around softmax.
    means = search.scores_.mean(axis=0)[:, 1]
    assert np.abs(np.diff(means)).max() < 0.02
    single = EntmaxClassifier(search.alpha_, C=search.C_).fit(X, Y)
    assert single.objective_ == pytest.approx(search.objective_, rel=1e-3)


@pytest.mark.parametrize("alpha", [0, -0.5, np.nan, np.inf])
def test_bad_alphas_are_refused(alpha):
    with pytest.raises(ValueError, match="'alpha' parameter of EntmaxClassifier"):
        EntmaxClassifier(alpha).fit(X, Y)
