"""Newton's method with the whole Hessian: its steps, and where it has none."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.solvers import Criteria, NewtonCholesky, minimize
from skprob.solvers._newton_cholesky import check_hessian

from .descriptions import DENSE
from .training_problems import classes, hessian_at, objective_of

CRITERIA = Criteria(tol=1e-10, max_iter=100)


def first_state(objective, parameters=None):
    parameters = objective.initial() if parameters is None else parameters
    return NewtonCholesky().init(objective, objective.at(parameters))


@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5)], ids=repr)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_step_is_newtons(mapping, n_classes):
    objective = objective_of(*classes(n_classes), mapping, l2=0.1)
    x = 0.1 * np.random.default_rng(0).normal(size=objective.n_parameters)
    state = first_state(objective, x)
    # A shift of all intercepts has no curvature, and the step has none.
    expected, *_ = np.linalg.lstsq(hessian_at(objective, x), -state.point.gradient)
    assert_allclose(state.newton_step, expected, rtol=1e-6, atol=1e-9)
    decrease = -state.point.gradient @ expected / 2
    assert state.expected_decrease == pytest.approx(decrease, rel=1e-6)
    assert not state.is_spent


@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5), Sparsemax()], ids=repr)
def test_gradients_are_squared_at_the_end(mapping):
    """Quadratic convergence; with sparsemax the last step is exact."""
    objective = objective_of(*classes(3, n_samples=300), mapping, l2=1e-2)
    solver = NewtonCholesky()
    solution = minimize(objective, [solver], CRITERIA, objective.initial())
    assert solution.converged, solution.message
    norms = np.array([row.gradient_norm for row in solution.history])
    for before, after in pairwise(norms):
        if before < 1e-3:
            assert after <= 100 * before**2 + 1e-15


def test_a_hessian_that_is_not_positive_leaves_it_spent():
    class Saddle:
        value, gradient, parameters = 1.0, np.array([1.0, 1.0]), np.zeros(2)

        def hessian(self):
            return np.diag([1.0, -1.0])

    objective = objective_of(*classes())
    state = NewtonCholesky().init(objective, Saddle())
    assert state.is_spent
    assert state.newton_step is None
    assert np.isnan(state.expected_decrease)


def test_at_the_minimum_it_is_spent_at_the_same_point():
    objective = objective_of(np.zeros((4, 1)), np.array([0, 1, 0, 1]))
    state = first_state(objective)
    assert not state.point.gradient.any()
    after = NewtonCholesky().step(objective, state)
    assert after.is_spent
    assert after.point is state.point


@pytest.mark.parametrize("l2", [1e-6, 0.1, 0.4, 10.0])
def test_the_first_step_is_longer_by_the_share_of_the_loss(l2, monkeypatch):
    """1.5 times as long where all curvature is the loss's, and at least as long."""
    objective = objective_of(*classes(3), l2=l2)
    state = first_state(objective)
    steps, along = [], type(state.point).along

    def recorded(point, step):
        steps.append(step)
        return along(point, step)

    monkeypatch.setattr(type(state.point), "along", recorded)
    NewtonCholesky().step(objective, state)
    newton = state.newton_step
    coef, _ = objective.to_model(newton)
    share = l2 * np.sum(coef**2) / -(newton @ state.point.gradient)
    assert_allclose(steps[0], max(1, 1.5 * (1 - share)) * newton, rtol=1e-6)


@pytest.mark.parametrize("kind", [{"is_convex": False}, {"is_linear": False}])
def test_without_a_useful_hessian_its_solver_is_refused(kind):
    check_hessian(DENSE)
    with pytest.raises(ValueError, match="needs a convex loss of linear scores"):
        check_hessian(DENSE._replace(**kind))
