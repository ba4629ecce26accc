"""Newton's method begins under a stronger penalty where that helps, no more."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits

from skprob.mappings import Entmax, Softmax
from skprob.objective import LinearObjective, PathObjective
from skprob.solvers import newton_cg
from skprob.solvers._continuation import has_served, promises_little

from .problems import classes, counted_passes, exact_optimum, objective_of

L2 = 1e-6


class Alone(LinearObjective):
    """An objective that has no other penalty."""

    @property
    def with_penalty(self):
        raise AttributeError


def alone(objective, l2):
    return Alone(
        objective.blocks,
        objective.loss,
        l2=l2,
        fit_intercept=objective.fit_intercept,
    )


def told_apart(l2=L2, n_classes=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 15))
    return objective_of(X, np.argmax(X[:, :n_classes], axis=1), l2=l2)


def parameters_after(objective, n_steps, start=None):
    start = objective.initial() if start is None else start
    return newton_cg(objective, start, tol=1e-9, max_iter=n_steps).parameters


@pytest.mark.parametrize("make", [told_apart, lambda: PathObjective.of(told_apart())])
def test_the_first_step_is_under_ten_times_the_penalty_where_rows_can_be_told_apart(
    make,
):
    objective = make()
    found, tenfold = parameters_after(objective, 1), alone(objective, 10 * L2)
    assert_allclose(found, parameters_after(tenfold, 1), rtol=1e-9, atol=1e-12)
    assert not np.allclose(found, parameters_after(alone(objective, L2), 1), rtol=1e-6)


@pytest.mark.parametrize(
    "objective",
    [
        pytest.param(objective_of(*classes(3)), id="classes overlap"),
        pytest.param(told_apart(l2=0.02), id="a penalty that leaves much"),
        pytest.param(told_apart(l2=0.0), id="no penalty"),
        pytest.param(told_apart(n_classes=2), id="two classes"),
    ],
)
def test_elsewhere_it_is_under_the_objective_s_own(objective):
    found = parameters_after(objective, 1)
    assert_array_equal(found, parameters_after(alone(objective, objective.l2), 1))


def test_nor_is_there_another_penalty_where_a_fit_goes_on():
    objective = told_apart()
    start = np.random.default_rng(0).normal(size=objective.n_parameters)
    found = parameters_after(objective, 3, start)
    assert_array_equal(found, parameters_after(alone(objective, L2), 3, start))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_minimum_is_the_objective_s_own(n_classes):
    objective = told_apart(l2=1e-3, n_classes=n_classes)
    solution = newton_cg(objective, objective.initial(), tol=1e-9, max_iter=100)
    assert solution.converged
    # What all intercepts share has no effect.
    coefs = slice(np.prod(objective.coef_shape))
    expected = exact_optimum(objective)
    assert_allclose(solution.parameters[coefs], expected[coefs], atol=1e-5)


def test_values_on_the_way_are_the_objective_s_own():
    objective, met = told_apart(), []

    def callback(n_iter, parameters, value, gradient_norm, last):
        expected, gradient = objective.value_and_gradient(parameters)
        assert_allclose(value, expected, rtol=1e-12)
        assert_allclose(gradient_norm, np.abs(gradient).max(), rtol=1e-6)
        met.append(n_iter)

    newton_cg(objective, objective.initial(), tol=1e-7, max_iter=100, callback=callback)
    assert met == list(range(1, len(met) + 1))


def test_a_stronger_penalty_under_which_no_step_can_be_taken_is_left():
    objective = told_apart()

    class Walled(LinearObjective):
        def linearize(self, parameters):
            found = super().linearize(parameters)
            return found._replace(value=1e6) if parameters.any() else found

    walled = Walled(objective.blocks, objective.loss, l2=10 * L2)
    objective.with_penalty = lambda l2: walled
    found = newton_cg(objective, objective.initial(), tol=1e-7, max_iter=100)
    expected = newton_cg(
        alone(objective, L2), objective.initial(), tol=1e-7, max_iter=100
    )
    assert found.converged
    assert_allclose(found.value, expected.value, rtol=1e-5)


@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5)], ids=repr)
def test_it_saves_passes_over_data_that_are_hard(mapping, monkeypatch):
    X, y = load_digits(return_X_y=True)
    objective = objective_of(X, y, mapping, l2=1 / (100 * len(y)))
    passes = counted_passes(monkeypatch)
    solve = partial(newton_cg, initial=objective.initial(), tol=1e-5, max_iter=500)
    found, with_continuation = solve(objective), passes.total()
    passes.clear()
    expected = solve(alone(objective, objective.l2))
    assert_allclose(found.value, expected.value, rtol=1e-4)
    assert with_continuation < 0.95 * passes.total()


@pytest.mark.parametrize("l2", [1e-6, 1.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_another_penalty_takes_no_pass(monkeypatch, l2, fit_intercept):
    objective = objective_of(*classes(3), fit_intercept=fit_intercept)
    other = objective.with_penalty(l2)
    rng = np.random.default_rng(0)
    point, direction = rng.normal(size=(2, objective.n_parameters))
    expected, here = other.linearize(point), objective.linearize(point)
    with monkeypatch.context() as patch:
        patch.setattr(LinearObjective, "mean_loss_linearization", None)
        found = other.relinearize(here, point)
    assert found.value == expected.value
    assert_array_equal(found.gradient, expected.gradient)
    assert_array_equal(
        found.hessian_product(direction), expected.hessian_product(direction)
    )


def test_when_little_is_promised():
    assert promises_little(1.0, 1.1)
    assert promises_little(1.0, 7.0)
    assert not promises_little(1.0, 0.9)


def test_when_the_stronger_penalty_has_served():
    assert not has_served(1.0, before=0.4, after=0.3, length=1.0)
    assert has_served(1.0, before=0.4, after=0.35, length=1.0)
    # A step that was cut short says nothing of the next.
    assert not has_served(1.0, before=0.4, after=0.35, length=0.3)
    assert has_served(1.0, before=0.8, after=0.6, length=0.3)
