"""The history, the callback, and the solution: the same for all solvers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skprob import solvers
from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.solvers import (
    SOLVERS,
    Criteria,
    State,
    minimize,
)

from .minimal_problems import Valley
from .training_problems import classes, objective_of


@pytest.fixture(params=SOLVERS)
def solve(request):
    """``solve(objective)`` by every solver in turn, from zero."""

    def solve(objective, *, tol=1e-7, max_iter=1000, start=None, **options):
        start = objective.initial() if start is None else start
        options |= {"tol": tol, "max_iter": max_iter, "solver": request.param}
        return solvers.solve(objective, start, **options)

    return solve


@pytest.mark.parametrize(
    ("mapping", "n_classes"), [(Softmax(), 2), (Entmax(1.5), 3), (Sparsemax(), 3)]
)
def test_the_history_is_a_row_an_iteration(solve, mapping, n_classes):
    objective = objective_of(*classes(n_classes, n_samples=200), mapping, l2=1e-3)
    before, seen = objective.passes, []
    solution = solve(objective, callback=lambda *args: seen.append(args))
    assert solution.converged
    assert all(len(row) == 9 for row in solution.history)
    n_iter, values, norms, gaps, passes, seconds, *traffic, stages = map(
        np.array, zip(*solution.history, strict=True)
    )
    assert_array_equal(n_iter, np.arange(solution.n_iter + 1))
    assert values[0] == pytest.approx(objective.value_at_zero)
    assert np.all(np.diff(values) <= 1e-14)
    assert values[-1] == solution.value
    assert norms[-1] == solution.gradient_norm
    assert np.all(np.isnan(gaps) | (gaps >= 0))
    # The start is evaluated, and each iteration takes one evaluation or more.
    assert passes[0] >= 1
    assert np.all(np.diff(passes) >= 1)
    assert passes[-1] <= objective.passes - before
    assert seconds[0] >= 0
    assert np.all(np.diff(seconds) > 0)
    # Blocks in memory are no round trip away.
    assert not np.any(traffic)
    # The callback has seen the same.
    assert [row[0] for row in seen] == list(n_iter[1:])
    assert [row[3] for row in seen] == [row[2] for row in solution.history[1:]]
    values_seen, is_final = np.array([row[2] for row in seen]), stages[1:] == "final"
    assert_array_equal(values_seen[is_final], values[1:][is_final])
    # The values of the other stage have more of the penalty.
    assert set(stages[1:][~is_final]) <= {"stronger penalty"}
    assert np.all(values_seen[~is_final] < values[1:][~is_final])
    assert [row[4] for row in seen] == [False] * (solution.n_iter - 1) + [True]
    for _, parameters, value, norm, _ in seen:
        expected, gradient = objective.value_and_gradient(parameters)
        assert value == pytest.approx(expected, rel=1e-13)
        assert norm == pytest.approx(np.abs(gradient).max(), rel=1e-7, abs=1e-14)
    assert_array_equal(seen[-1][1], solution.parameters)


def test_the_name_is_that_of_the_method_that_ran():
    small = objective_of(*classes(3))
    large = objective_of(*classes(10, n_samples=2000, n_features=20))
    many = objective_of(*classes(400, n_samples=6000, n_features=5))
    for solver, objective, name in (
        ("auto", small, "newton-cholesky"),
        ("auto", large, "newton-cg"),
        ("auto", many, "lbfgs"),
        ("newton-cg", small, "newton-cg"),
        ("lbfgs", small, "lbfgs"),
    ):
        start = objective.initial()
        solution = solvers.solve(objective, start, solver=solver, tol=1e-9, max_iter=1)
        assert solution.solver.startswith(name)


@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5), Sparsemax()], ids=repr)
def test_the_point_after_the_last_newton_step_is_the_result(mapping):
    """Its error is about the square of that of the point that meets the criteria."""
    X, y = classes(3, n_samples=200)
    objective = objective_of(X, y, mapping, l2=1e-2)
    loose = solvers.solve(objective, objective.initial(), tol=1e-3, max_iter=100)
    tight = solvers.solve(
        objective, loose.parameters, solver="newton-cg", tol=1e-12, max_iter=100
    )
    assert loose.solver == "newton-cholesky"
    assert loose.converged
    assert loose.value - tight.value <= 1e-8 * tight.value
    value, gradient = objective.value_and_gradient(loose.parameters)
    assert loose.value == pytest.approx(value, rel=1e-12)
    assert loose.gradient_norm == pytest.approx(np.abs(gradient).max(), rel=1e-3)
    # The bound is still one.
    assert loose.duality_gap >= loose.value - tight.value - 1e-15
    # The history ends with this point, as the callback and the attributes do.
    assert loose.history[-1].objective == loose.value


def test_no_iteration_at_the_optimum_and_none_if_none_is_allowed(solve):
    objective = objective_of(*classes())
    solution = solve(objective, tol=1e-7)
    again = solve(objective, start=solution.parameters, tol=2e-7, max_iter=100)
    assert (again.n_iter, again.converged) == (0, True)
    assert_allclose(again.parameters, solution.parameters, rtol=1e-12)
    none = solve(objective, max_iter=0)
    assert (none.n_iter, none.converged, none.stopped) == (0, False, False)
    assert none.message.startswith("after max_iter=0 iterations the largest gradient")
    assert_array_equal(none.parameters, 0)
    assert none.value == pytest.approx(np.log(3))
    assert len(none.history) == 1


@pytest.mark.parametrize("max_iter", [1, 3])
def test_max_iter_is_honoured(solve, max_iter):
    seen = []
    solution = solve(
        objective_of(*classes()),
        tol=1e-12,
        max_iter=max_iter,
        callback=lambda n, *arguments: seen.append((n, arguments[-1])),
    )
    assert solution.n_iter == max_iter
    assert not solution.converged
    assert solution.message.startswith(f"after max_iter={max_iter} iterations")
    assert solution.remedies[0] == "max_iter"
    assert seen == [(i, i == max_iter) for i in range(1, max_iter + 1)]


def test_a_callback_can_stop(solve):
    objective = objective_of(*classes())
    solution = solve(objective, tol=1e-12, callback=lambda n, *_: n == 2)
    assert (solution.n_iter, solution.stopped, solution.converged) == (2, True, False)
    assert solution.message == "stopped by a callback"
    _, gradient = objective.value_and_gradient(solution.parameters)
    assert solution.gradient_norm == pytest.approx(np.abs(gradient).max())


def test_an_error_in_the_callback_is_not_swallowed(solve):
    def fail(*_):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        solve(objective_of(*classes()), callback=fail)


@pytest.mark.parametrize("shape", [(12, 40), (100, 5)])
def test_the_gradient_tells_where_values_cannot(solve, shape):
    """About a gradient of 1e-9 values differ by less than their rounding."""
    X, y = classes(n_samples=shape[0], n_features=shape[1])
    for mapping in (Softmax(), Sparsemax()):
        solution = solve(objective_of(X, y, mapping), tol=1e-11)
        assert solution.converged, solution.message
        assert solution.gradient_norm <= 1e-11


@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5), Sparsemax()], ids=repr)
def test_a_stall_is_reported(solve, mapping):
    """In float32 no gradient is as small as 1e-12."""
    X, y = classes()
    objective = objective_of(X.astype(np.float32), y, mapping)
    solution = solve(objective, tol=1e-12)
    if solution.gradient_norm > 1e-12:  # sparsemax may hit the optimum exactly
        assert not solution.converged
        assert solution.message.startswith("no step lowers the objective")
        assert solution.remedies == ("tol", "penalty")
    assert solution.n_iter < 200
    assert solution.gradient_norm < 1e-4
    assert type(solution.converged) is type(solution.stopped) is bool


class Scripted:
    """A solver that goes through given states, whatever the problem is."""

    def __init__(self, name, states):
        self.name, self._states, self.starts = name, iter(states), []

    def init(self, problem, point):
        self.starts.append(point)
        return State(point=point)

    def step(self, problem, state):
        return next(self._states)(state)


def moved(problem, change, **fields):
    """A function from a state to one at parameters that are smaller."""
    return lambda state: State(
        point=problem.at(change * state.point.parameters), **fields
    )


def spent(state):
    return State(point=state.point, is_spent=True)


def test_the_next_solver_takes_over_where_one_is_spent():
    problem, criteria = Valley(), Criteria(tol=1e-9, max_iter=4)
    first = Scripted("first", [moved(problem, 0.9), moved(problem, 0.9, is_spent=True)])
    second = Scripted("second", [spent])
    third = Scripted("third", [moved(problem, 0.9), moved(problem, 0.9)])
    start = problem.initial()
    solution = minimize(problem, [first, second, third], criteria, start)
    assert solution.solver == "first+second+third"
    assert_allclose(solution.parameters, 0.9**4 * start)
    assert solution.n_iter == 4
    # A spent step is a point of the history, too, and starts the next solver.
    assert_allclose(second.starts[0].parameters, 0.9**2 * start)
    assert third.starts == second.starts
    values = [problem.value_and_gradient(0.9**i * start)[0] for i in range(5)]
    assert_allclose([row.objective for row in solution.history], values)


def test_the_last_solver_that_is_spent_is_a_stall():
    problem, criteria = Valley(), Criteria(tol=1e-9, max_iter=100)
    only = Scripted("only", [moved(problem, 0.9), spent])
    solution = minimize(problem, [only], criteria, problem.initial())
    assert not solution.converged
    assert solution.message.startswith("no step lowers the objective")
    assert (solution.n_iter, len(solution.history)) == (1, 2)


def test_names_of_solvers_are_joined_once():
    problem, criteria = Valley(), Criteria(tol=1e-9, max_iter=1)
    names = "a", "b", "a"
    script = [Scripted(name, [spent]) for name in names[:2]]
    script.append(Scripted("a", [moved(problem, 0.9)]))
    assert minimize(problem, script, criteria, problem.initial()).solver == "a+b"


def test_the_duality_gap_of_the_solution_bounds_what_is_left(solve):
    for mapping, l2 in ((Softmax(), 1e-2), (Sparsemax(), 1e-3)):
        objective = objective_of(*classes(), mapping, l2=l2)
        best = solve(objective, tol=1e-10)
        for tol, max_iter in ((1e-3, 1000), (1e-9, 3)):
            solution = solve(objective, tol=tol, max_iter=max_iter)
            assert solution.value - best.value <= solution.duality_gap + 1e-14
            assert solution.duality_gap <= solution.value
            last = solution.history[-1].duality_gap
            assert np.isnan(last) or solution.duality_gap <= last
