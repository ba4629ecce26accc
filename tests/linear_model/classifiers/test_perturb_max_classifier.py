"""Perturb-max as a classifier: logit, probit and the noises without a mean."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.integrate import quad_vec
from scipy.optimize import minimize
from scipy.special import ndtr
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from skprob import LinearClassifier, PerturbMaxClassifier, SoftmaxClassifier
from skprob.losses import FenchelYoungLoss, LogLoss
from skprob.mappings import PerturbMax

from ..assertions import assert_refused


def iris():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("loss", ["auto", "log"])
def test_gumbel_noise_fits_softmax(loss):
    X, y = iris()
    options = dict(solver="newton-cg", tol=1e-12)
    gumbel = PerturbMaxClassifier("gumbel", loss=loss, **options).fit(X, y)
    softmax = SoftmaxClassifier(**options).fit(X, y)
    assert_allclose(gumbel.coef_, softmax.coef_, rtol=0, atol=1e-10)
    assert_allclose(gumbel.intercept_, softmax.intercept_, rtol=0, atol=1e-10)
    assert_allclose(gumbel.predict_proba(X), softmax.predict_proba(X), atol=1e-10)


def probit_log_likelihood(scores, y):
    """log P[z_y + ε_y is the largest], an integral over ε_y for each row, by scipy."""
    of_label = np.take_along_axis(scores, y[:, None], axis=1)
    is_other = np.arange(scores.shape[1]) != y[:, None]

    def integrand(noise):
        wins = np.where(is_other, ndtr(noise + of_label - scores), 1).prod(axis=1)
        return np.exp(-(noise**2) / 2) / np.sqrt(2 * np.pi) * wins

    p, error = quad_vec(integrand, -12, 12, epsabs=1e-12, epsrel=0, norm="max")
    assert error < 1e-11
    return np.log(p)


def test_log_loss_of_normal_noise_is_the_probit_likelihood():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(12, 4))
    y = rng.integers(4, size=12)
    target = np.eye(4)[y]
    loss = LogLoss(PerturbMax("normal"))
    value, gradient = loss.value_and_gradient(scores, target)
    assert_allclose(value, -probit_log_likelihood(scores, y), rtol=1e-9)
    step = 1e-4
    for k, move in enumerate(step * np.eye(4)):
        change = probit_log_likelihood(scores + move, y) - probit_log_likelihood(
            scores - move, y
        )
        assert_allclose(gradient[:, k], -change / (2 * step), atol=1e-7)


def test_fit_with_normal_noise_is_the_probit_optimum():
    X, y = iris()
    X, y = X[::10, 2:], y[::10]
    n_samples, n_classes = len(y), 3

    def objective(parameters):
        coef, intercept = np.split(parameters.reshape(n_classes, 3), [2], axis=1)
        log_p = probit_log_likelihood(X @ coef.T + intercept.T, y)
        return ((coef**2).sum() / 2 - log_p.sum()) / n_samples

    model = PerturbMaxClassifier("normal", loss="log", tol=1e-8).fit(X, y)
    # A search from there goes away if that is not the optimum.
    start = np.column_stack([model.coef_, model.intercept_]).ravel()
    optimum = minimize(
        objective, start, jac="3-point", method="BFGS", options={"gtol": 1e-6}
    )
    coef, intercept = np.split(optimum.x.reshape(n_classes, 3), [2], axis=1)
    assert_allclose(model.coef_, coef, atol=1e-4)
    assert_allclose(
        model.intercept_ - model.intercept_.mean(),
        intercept[:, 0] - intercept.mean(),
        atol=1e-3,
    )
    assert_allclose(model.objective_, optimum.fun, rtol=1e-9)


def test_two_classes_are_binary_probit():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:, :3]
    sign = 2 * y - 1

    def objective(parameters):
        # The difference of two standard normal noises has variance 2.
        margin = sign * (X @ parameters[:-1] + parameters[-1]) / np.sqrt(2)
        penalty = (parameters[:-1] ** 2).sum() / 2
        log_p = stats.norm.logcdf(margin)
        slope = sign * np.exp(stats.norm.logpdf(margin) - log_p) / np.sqrt(2)
        gradient = np.append(parameters[:-1] - X.T @ slope, -slope.sum())
        return (penalty - log_p.sum()) / len(y), gradient / len(y)

    options = {"gtol": 1e-9}
    optimum = minimize(objective, np.zeros(4), jac=True, method="BFGS", options=options)
    model = PerturbMaxClassifier("normal", loss="log", tol=1e-9).fit(X, y)
    assert_allclose(model.coef_[0], optimum.x[:-1], atol=1e-5)
    assert_allclose(model.intercept_, optimum.x[-1:], atol=1e-5)


@pytest.mark.parametrize(
    "noise", ["normal", "exponential", stats.t(5)], ids=["normal", "exponential", "t"]
)
def test_newton_finds_the_same_optimum(noise):
    # The Hessian is an integral, or made of differences where the density may jump.
    X, y = iris()
    X, y = X[::10], y[::10]
    options = dict(noise=noise, loss="log", C=0.1, tol=1e-7)
    newton = PerturbMaxClassifier(solver="newton-cg", **options).fit(X, y)
    lbfgs = PerturbMaxClassifier(solver="lbfgs", **options).fit(X, y)
    assert newton.n_iter_ < 15
    assert_allclose(newton.coef_, lbfgs.coef_, atol=1e-5)


def test_uniform_noise_rules_classes_out():
    X, y = iris()
    model = PerturbMaxClassifier("uniform", scale=3.0).fit(X, y)
    p = model.predict_proba(X)
    assert (p == 0).any(axis=1).mean() > 0.5
    assert model.score(X, y) > 0.95


def test_without_a_mean_the_loss_is_the_log_loss():
    X, y = iris()
    X, y = X[::3], y[::3]
    assert isinstance(PerturbMaxClassifier().fit(X, y).loss_, FenchelYoungLoss)
    for noise in ["cauchy", stats.t(1)]:
        model = PerturbMaxClassifier(noise).fit(X, y)
        assert isinstance(model.loss_, LogLoss)
        assert model.score(X, y) > 0.9
        for loss in ["fenchel_young", FenchelYoungLoss()]:
            with pytest.raises(ValueError, match=r"use LogLoss \(loss='log'\)"):
                PerturbMaxClassifier(noise, loss=loss).fit(X, y)


def test_the_scale_and_the_penalty():
    X, y = iris()
    options = dict(loss="log", tol=1e-9)
    wide = PerturbMaxClassifier(scale=2.0, C=1.0, **options).fit(X, y)
    unit = PerturbMaxClassifier(scale=1.0, C=0.25, **options).fit(X, y)
    assert_allclose(wide.coef_, 2 * unit.coef_, rtol=1e-5)
    assert_allclose(wide.predict_proba(X), unit.predict_proba(X), atol=1e-6)


def test_noises_are_searched_over_like_other_parameters():
    X, y = iris()
    X, y = X[::3], y[::3]
    grid = {"noise": ["normal", stats.t(3)]}
    search = GridSearchCV(PerturbMaxClassifier(), grid, cv=2, error_score="raise")
    search.fit(X, y)
    assert len(set(search.cv_results_["mean_test_score"])) > 1
    assert search.score(X, y) > 0.95


def test_it_is_the_linear_classifier_with_this_mapping():
    X, y = iris()
    model = PerturbMaxClassifier("logistic", 0.5).fit(X, y)
    other = LinearClassifier(PerturbMax("logistic", 0.5)).fit(X, y)
    assert_array_equal(model.coef_, other.coef_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("noise", ["normal", "logistic"])
def test_intercepts_do_not_grow_together(noise):
    """Steps of the size of rounding errors, because tol is less than the precision.

    The gradient then consists of rounding errors. It must not lead along the
    direction in which all intercepts grow: scores of 1e6 have no digits in float32.
    """
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(22, 8)).astype(np.float32), rng.integers(3, size=22)
        model = PerturbMaxClassifier(
            noise, loss="log", C=0.02, solver="newton-cg", tol=1e-7
        ).fit(X, y)
        scores = model.decision_function(X).astype(float)
        objective = model.loss_.value(scores, np.eye(3)[y]).mean()
        objective += (model.coef_.astype(float) ** 2).sum() / (2 * 0.02 * 22)
        assert model.objective_ == pytest.approx(objective, abs=5e-7)
        exact = PerturbMaxClassifier(noise, loss="log", C=0.02, tol=1e-9)
        least = exact.fit(X.astype(float), y).objective_
        assert model.objective_ == pytest.approx(least, abs=5e-7)


class NoDistributionFunction:
    def logpdf(self, x):
        return stats.norm.logpdf(x)


def test_bad_parameters_are_refused():
    for parameters, message in [
        ({"noise": "gauss"}, "noise must be one of the names .*'normal'.*got 'gauss'"),
        ({"noise": NoDistributionFunction()}, "has no logcdf"),
        ({"noise": stats.poisson(2)}, "has no logpdf"),
        ({"noise": None}, "noise must be a name or a distribution"),
        ({"scale": 0}, "'scale' parameter of PerturbMaxClassifier .* Got 0"),
        ({"scale": -1.0}, "'scale' parameter of PerturbMaxClassifier .* Got -1.0"),
    ]:
        model = PerturbMaxClassifier(**parameters)
        assert_refused(message, model.fit, [[0.0], [1.0]], [0, 1])
