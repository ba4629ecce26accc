"""Newton's method by conjugate gradients: fast at the end, and over kinks."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from skprob.losses import FenchelYoungLoss
from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.objective import LinearObjective, split_rows
from skprob.solvers import (
    Criteria,
    NewtonCG,
    Preconditioner,
    Tuning,
    minimize,
    plan,
    solve,
)
from skprob.targets import DenseTarget

from ..training_problems import classes, hessian_at, objective_of

every_mapping = pytest.mark.parametrize(
    "mapping", [Softmax(), Entmax(1.5), Sparsemax()], ids=repr
)


def gap_at(objective, solution):
    return objective.duality_gap(objective.at(solution.parameters))


def standardised(load):
    X, y = load(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize("seed", [4, 11])
def test_the_penalty_of_small_units_does_not_hide_what_is_left_of_the_curvature(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(50, 20))
    y = (X[:, 12:] @ random.normal(size=(8, 4))).argmax(axis=1)
    objective = objective_of(X * np.logspace(-5, 5, 20), y, l2=1e-4 / len(y))
    solution = solve(
        objective, objective.initial(), solver="newton-cg", tol=1e-4, max_iter=1000
    )
    assert solution.converged
    assert solution.n_iter < 100


@every_mapping
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_newton_gets_to_the_last_digits(load, mapping):
    X, y = standardised(load)
    objective = objective_of(X, y, mapping, l2=1 / len(y))
    for solver in ("auto", "newton-cg"):
        solution = solve(
            objective, objective.initial(), solver=solver, tol=1e-10, max_iter=100
        )
        assert solution.converged, solution.message
        assert solution.gradient_norm <= 1e-10
        assert gap_at(objective, solution) <= 1e-7 * solution.value


@pytest.mark.parametrize("mapping", [Entmax(1.5), Sparsemax()], ids=repr)
def test_newton_is_not_lost_among_the_kinks_of_nearly_separable_data(mapping):
    """Nearly all rows have no curvature at the optimum, but had some before."""
    X, y = load_digits(return_X_y=True)
    objective = objective_of(X, y, mapping, l2=1 / len(y))
    solution = solve(
        objective, objective.initial(), solver="newton-cg", tol=1e-9, max_iter=100
    )
    assert solution.converged, solution.message
    assert gap_at(objective, solution) <= 1e-4 * solution.value


def steps(objective, n_steps, tuning=Tuning(), **changes):
    """The states of a few steps from zero, and the plan."""
    chosen = plan(objective.description)._replace(**changes)
    solver = NewtonCG(chosen, tuning=tuning)
    states = [solver.init(objective, objective.at(objective.initial()))]
    for _ in range(n_steps):
        states.append(solver.step(objective, states[-1]))
    return states, chosen


def test_a_step_changes_nothing_of_the_state_before():
    objective = objective_of(*classes(4))
    (first, second, _), _ = steps(objective, 2)
    parameters, gradient = first.point.parameters, first.point.gradient
    assert not parameters.any()
    assert first.n_products == 0
    assert first.preconditioner.n_products == 0
    expected = objective.value_and_gradient(parameters)
    assert first.point.value == pytest.approx(expected[0], rel=1e-14)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-12)
    assert second.n_products > 0


def test_the_forcing_term_falls_with_the_gradient():
    """So the last steps converge superlinearly, if small gains end none of them."""
    objective = objective_of(*classes(8, n_samples=400, n_features=6), l2=1e-4)
    states, _ = steps(objective, 8, Tuning(least_gain=0.0))
    norms = np.array([np.linalg.norm(state.point.gradient) for state in states])
    norms = norms[norms > 1e-11]
    ratios = norms[1:] / norms[:-1]
    assert norms[-1] < 1e-6
    assert ratios[-1] < 0.1 * ratios[0]
    # In the coordinates, the residual of a step is at most the root of the gradient.
    for before, after in pairwise(states[3:7]):
        square = before.preconditioned.square
        left = before.preconditioner.times(after.point.gradient)[1]
        assert left <= 2 * square * min(0.3**2, square**0.5)


def test_the_expected_decrease_is_about_what_is_left():
    objective = objective_of(*classes(4, n_samples=300), l2=1e-3)
    states, _ = steps(objective, 10)
    least = states[-1].point.value
    assert np.isnan(states[0].expected_decrease)
    for state in states[1:4]:
        left = state.point.value - least
        assert 0.2 * left < state.expected_decrease < 20 * left


def test_the_preconditioner_is_renewed_after_as_many_products_as_it_cost(monkeypatch):
    objective, seen = objective_of(*classes(4, n_samples=300), l2=1e-3), []
    original = Preconditioner.at.__func__

    def watched(cls, curvature, *args, **options):
        seen.append(curvature.parameters)
        return original(cls, curvature, *args, **options)

    monkeypatch.setattr(Preconditioner, "at", classmethod(watched))
    states, _ = steps(objective, 6, renew_after=4)
    used = 0
    points = [states[0].point.parameters]
    for before, after in pairwise(states):
        if used >= 4:
            points.append(before.point.parameters)
            used = 0
        used += after.n_products - before.n_products
        assert after.preconditioner.n_products == used
    assert len(points) > 1
    assert all(one is other for one, other in zip(seen, points, strict=True))
    seen.clear()
    steps(objective, 6, renew_after=np.inf)
    assert len(seen) == 1


def test_another_solver_takes_over_after_the_most_products():
    objective = objective_of(*classes(4, n_samples=300), l2=1e-3)
    chosen = plan(objective.description)
    solver = NewtonCG(chosen, most_products=5)
    state = solver.init(objective, objective.at(objective.initial()))
    while not state.is_spent:
        before, state = state, solver.step(objective, state)
    assert before.n_products < 5 <= state.n_products
    # The last step counts.
    assert state.point.value < before.point.value


def test_at_the_minimum_it_is_spent_at_the_same_point():
    objective = objective_of(np.zeros((4, 1)), np.array([0, 1, 0, 1]))
    (state, after), _ = steps(objective, 1)
    assert not state.point.gradient.any()
    assert after.is_spent
    assert after.point is state.point


def test_directions_of_a_step_are_those_of_its_hessian():
    objective = objective_of(*classes(8, n_samples=400, n_features=6), l2=1e-4)
    states, _ = steps(objective, 1, Tuning(forcing_term=1e-6), n_recycled=2)
    hessian = hessian_at(objective, objective.initial())
    directions, products, _ = states[1].preconditioner.recycled
    assert directions.shape == (1, 2, objective.n_parameters)
    np.testing.assert_allclose(products[0], directions[0] @ hessian, atol=1e-12)


def test_the_forcing_term_is_at_most_that_of_the_tuning():
    """A smaller one takes more products a step, and fewer steps."""
    objective = objective_of(*classes(8, n_samples=400, n_features=6), l2=1e-4)
    criteria, chosen = Criteria(tol=1e-8, max_iter=100), plan(objective.description)
    solutions = {}
    for forcing_term in (0.9, 1e-6):
        tuning = Tuning(forcing_term=forcing_term, least_gain=0.0)
        solver = NewtonCG(chosen, tuning=tuning)
        start = objective.initial()
        solutions[forcing_term] = minimize(objective, [solver], criteria, start)
    assert all(solution.converged for solution in solutions.values())
    assert solutions[1e-6].n_iter < solutions[0.9].n_iter
    first = [solutions[f].history[1].passes for f in (0.9, 1e-6)]
    assert first[0] < first[1]


def nearly_separable():
    """Rows with large margins at the minimum, where they have no curvature."""
    X, y = classes(4, n_samples=300)
    return objective_of(X + 5 * np.eye(4, 3)[y], y, l2=1e-5)


def test_first_steps_from_zero_are_under_a_stronger_penalty_if_much_is_to_gain():
    factor = Tuning().first_penalty
    separable = nearly_separable()
    states, _ = steps(separable, 12)
    factors = [state.penalty_factor for state in states]
    assert factors[0] == factor
    assert factors[-1] == 1
    assert factors == sorted(factors, reverse=True)
    for state in states:
        # The point is that of the objective itself, whatever the steps are under.
        value, gradient = separable.value_and_gradient(state.point.parameters)
        assert state.point.value == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(state.point.gradient, gradient, atol=1e-12)
        view, strength = state.view(), state.penalty_factor * 1e-5
        expected, _ = separable.with_l2(strength).value_and_gradient(
            state.point.parameters
        )
        assert view.value == pytest.approx(expected, rel=1e-12)
        if state.penalty_factor != 1:
            assert np.isnan(state.expected_decrease)
    for other in (
        # Little is gained, a single output, and no penalty.
        objective_of(*classes(4), l2=10.0),
        objective_of(*classes(2), l2=1e-5),
        objective_of(*classes(4), l2=0.0),
    ):
        (state,), _ = steps(other, 0)
        assert state.penalty_factor == 1
    last = separable.at(states[-1].point.parameters)
    warm = NewtonCG(plan(separable.description)).init(separable, last)
    assert warm.penalty_factor == 1


def test_the_stronger_penalty_takes_fewer_passes_where_rows_are_separable():
    objective, passes = nearly_separable(), []
    criteria, chosen = Criteria(tol=1e-6, max_iter=100), plan(objective.description)
    for first_penalty in (Tuning().first_penalty, 1.0):
        solver = NewtonCG(chosen, tuning=Tuning(first_penalty=first_penalty))
        solution = minimize(objective, [solver], criteria, objective.initial())
        assert solution.converged
        passes.append(solution.history[-1].passes)
    assert passes[0] < passes[1]


@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5)], ids=repr)
def test_curvature_nearer_to_the_targets_saves_passes_for_label_sets(mapping):
    """Sets of rare labels, and rows of few words or many."""
    rng = np.random.default_rng(0)
    share = rng.uniform(0.005, 0.04, size=(400, 1))
    X = sparse.csr_array((rng.random((400, 1500)) < share).astype(float))
    scores = X @ rng.normal(size=(1500, 5)) @ rng.normal(size=(5, 30))
    scores += 5 * rng.normal(size=30)
    sets = scores > np.quantile(scores, 0.95)
    sets[range(400), scores.argmax(axis=1)] = True
    target = DenseTarget(sets / sets.sum(axis=1, keepdims=True))
    blocks, loss = split_rows(X, target, np.ones(400)), FenchelYoungLoss(mapping)
    objective = LinearObjective(blocks, loss, l2=1 / 400)
    assert plan(objective.description).is_scaled
    nearer, plain = (
        solve(
            objective,
            objective.initial(),
            solver="newton-cg",
            tol=1e-5,
            max_iter=100,
            tuning=Tuning(target_share=share),
        )
        for share in (Tuning().target_share, 0.0)
    )
    assert nearer.converged
    assert_allclose(nearer.value, plain.value, rtol=1e-6)
    assert nearer.history[-1].passes < 0.9 * plain.history[-1].passes


def test_gram_matrices_are_renewed_where_they_have_too_little_curvature():
    """Also before they have served as many products as they cost."""
    objective = objective_of(*classes(4, n_samples=300), l2=1e-3)
    states, chosen = steps(objective, 3, renew_after=np.inf)
    solver, before = NewtonCG(chosen), states[-1].preconditioner
    for least, is_renewed in ((9.0, False), (11.0, True)):
        state = replace(states[-1], smallest_curvatures=(0.1, least))
        after = solver.step(objective, state).preconditioner
        assert (after.coordinates is not before.coordinates) == is_renewed
