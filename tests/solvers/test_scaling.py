"""The change of coordinates to centred and scaled features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skprob.solvers import Standardization

from .problems import classes, objective_of

UNIT, OFFSET = np.array([1e-3, 1.0, 50.0]), np.array([2.0, -1.0, 300.0])


@pytest.fixture(params=[2, 3], ids=lambda n: f"{n} classes")
def data(request):
    X, y = classes(request.param)
    return X * UNIT + OFFSET, y


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_model_is_the_same_on_the_scaled_features(data, fit_intercept):
    X, y = data
    objective = objective_of(X, y, fit_intercept=fit_intercept)
    scaling = Standardization(objective)
    variables = np.random.default_rng(0).normal(size=objective.n_parameters)
    coef, intercept = objective.unpack(scaling.to_original(variables))
    new_coef, new_intercept = objective.unpack(variables)
    Z = (X - scaling.mean) / scaling.scale
    assert_allclose(
        X @ coef.T + intercept, Z @ new_coef.T + new_intercept, rtol=1e-9, atol=1e-10
    )
    if fit_intercept:
        assert_allclose(scaling.mean, X.mean(axis=0))
    else:
        assert_allclose(scaling.mean, 0)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_gradient_follows_the_chain_rule(data, fit_intercept, container):
    X, y = data
    objective = objective_of(container(X), y, fit_intercept=fit_intercept)
    scaling = Standardization(objective)
    variables = np.random.default_rng(0).normal(size=objective.n_parameters) / 3

    def value(v):
        return objective.value_and_gradient(scaling.to_original(v))[0]

    step = 1e-5
    numeric = [
        (value(variables + step * e) - value(variables - step * e)) / (2 * step)
        for e in np.eye(variables.size)
    ]
    _, gradient = objective.value_and_gradient(scaling.to_original(variables))
    assert_allclose(scaling.gradient(gradient), numeric, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_hessian_is_well_conditioned_in_the_new_coordinates(data, fit_intercept):
    X, y = data
    objective = objective_of(X, y, l2=0.01, fit_intercept=fit_intercept)
    scaling = Standardization(objective)
    origin = np.zeros(objective.n_parameters)
    product = objective.linearize(origin).hessian_product
    hessian = np.array([product(e) for e in np.eye(origin.size)])
    change = np.array([scaling.to_original(e) for e in np.eye(origin.size)])
    curvature = np.diag(change @ hessian @ change.T)
    assert curvature.max() / curvature.min() < 5
    assert np.diag(hessian).max() / np.diag(hessian).min() > 1e4


def test_constant_and_vanishing_features_are_left_as_they_are():
    X, y = classes()
    X = np.column_stack([X, np.full(len(y), 1e5), np.zeros(len(y)), X[:, 0] * 1e-200])
    scaling = Standardization(objective_of(X, y, l2=0.0))
    assert_allclose(scaling.scale, [1, 1, 1, 1e5, 1, 1], rtol=1e-6)
    scaling = Standardization(objective_of(X, y, l2=0.01))
    # Only the penalty bends the objective along them: its root is the unit.
    assert_allclose(scaling.scale[3:], 0.2, rtol=1e-6)
