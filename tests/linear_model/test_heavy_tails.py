"""Fits of entmax below alpha = 1, against a minimum that is found by SciPy."""

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from skprob import EntmaxClassifier, EntmaxClassifierCV

X, Y = load_wine(return_X_y=True)
X = scale(X)[:, :3]


def value(z, y, alpha):
    """The loss of a row by its definition, with the threshold by bisection."""
    gamma, d = 1 - alpha, z - z.max()

    def p(lam):
        return (1 + gamma * (lam - d)) ** (-1 / gamma)

    most = (len(z) ** gamma - 1) / gamma
    lam = brentq(lambda lam: p(lam).sum() - 1, 0, most + 1e-9, xtol=1e-14)
    omega = (np.sum(p(lam) ** alpha) - 1) / (alpha * (alpha - 1))
    return p(lam) @ z - omega - z[y]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("alpha", [0.3, 0.5])
def test_every_solver_finds_the_minimum(alpha, n_classes):
    rows = np.flatnonzero(n_classes > Y)[::9]
    x, y = X[rows], Y[rows]

    def objective(w):
        W, b = w[: 3 * n_classes].reshape(n_classes, 3), w[3 * n_classes :]
        z = x @ W.T + b
        losses = [value(row, label, alpha) for row, label in zip(z, y, strict=True)]
        return np.mean(losses) + np.sum(W**2) / (2 * len(y))

    best = minimize(objective, np.zeros(4 * n_classes), options={"gtol": 1e-6})
    for solver in ("newton-cholesky", "newton-cg", "lbfgs"):
        model = EntmaxClassifier(alpha, C=1.0, solver=solver, tol=1e-9).fit(x, y)
        # One row of coefficients for two classes has half the penalty.
        if n_classes == 3:
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
