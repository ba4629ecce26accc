"""What a solver does on the way, and what it tells: the same for all of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.solvers import SOLVERS, Objective, lbfgs

from .problems import classes, objective_of, value_at


@pytest.fixture(params=SOLVERS)
def solve(request):
    """``solve(objective)`` by every solver in turn, from zero."""

    def solve(objective, *, tol=1e-7, max_iter=1000, start=None, **options):
        start = objective.initial() if start is None else start
        solver = SOLVERS[request.param]
        return solver(objective, start, tol=tol, max_iter=max_iter, **options)

    return solve


@pytest.mark.parametrize(
    ("mapping", "n_classes"), [(Softmax(), 2), (Entmax(1.5), 3), (Sparsemax(), 3)]
)
def test_the_history_is_a_row_an_iteration(solve, mapping, n_classes):
    objective = objective_of(*classes(n_classes, n_samples=200), mapping, l2=1e-3)
    before, seen = objective.passes, []
    solution = solve(objective, callback=lambda *args: seen.append(args))
    assert solution.converged
    assert all(len(row) == 8 for row in solution.history)
    n_iter, values, norms, gaps, passes, seconds, *traffic = map(
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
    assert [row[2:4] for row in seen] == [row[1:3] for row in solution.history[1:]]
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
        found = solve(objective, start, solver=solver, tol=1e-9, max_iter=1)
        assert found.solver.startswith(name)


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
        callback=lambda n, *rest: seen.append((n, rest[-1])),
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


class Staircase:
    """A curved valley that takes tens of thousands of steps (Nesterov).

    It has the members of the declared protocol and no others.
    """

    value_at_zero, has_penalty, has_certificate = 1.0, False, False

    def __init__(self):
        self.passes, self.traffic = 0, (0, 0)
        given = objective_of(*classes()).description
        self.description = given._replace(
            shape=(1, 10), is_convex=False, is_linear=False, is_relative=False
        )

    def initial(self):
        return np.append(-1.0, np.ones(9))

    def value_and_gradient(self, points, which=(0,)):
        self.passes += 1
        (x,) = points
        rest = x[1:] - 2 * x[:-1] ** 2 + 1
        gradient = np.append(2 * (x[0] - 1) / 4, 2 * rest)
        gradient[:-1] -= 8 * rest * x[:-1]
        return np.array([(x[0] - 1) ** 2 / 4 + rest @ rest]), gradient[None]

    def linearize(self, points, which=(0,), keep=True):
        raise AssertionError("L-BFGS needs none where there are no coordinates")

    def splitting(self, parameters, strength, n_kept):
        raise AssertionError("L-BFGS does not split")

    def duality_gap(self, problem, parameters, value, gradient, enough=0.0):
        return np.inf

    def is_unbounded(self, parameters, value):
        return False


class Wells(Staircase):
    """Two of them in each variable, of a feature in large units; nothing else."""

    def initial(self):
        return np.ones(10)

    def value_and_gradient(self, points, which=(0,)):
        (x,) = points
        return (1 + (points**2 - 2) ** 2).sum(axis=1), (4 * x * (x**2 - 2))[None]


def test_evaluations_do_not_cap_the_iterations():
    """SciPy would give up after 15,000 evaluations."""
    objective = Staircase()
    solution = solve(objective, objective.initial(), solver="auto", tol=1e-8, max_iter=12_000
    )
    assert objective.passes > 15_000
    assert solution.n_iter == 12_000
    assert solution.solver == "lbfgs"
    assert solution.message.startswith("after max_iter=12000 iterations")


def test_a_stall_without_convexity_needs_no_certificate():
    objective = Wells()
    solution = lbfgs(objective, objective.initial(), tol=1e-13, max_iter=1000)
    assert_allclose(solution.parameters, np.sqrt(2), rtol=1e-13)
    assert solution.converged


def test_a_member_that_is_missing_is_named():
    members = {name for name in vars(Objective) if not name.startswith("_")}
    members |= set(Objective.__annotations__)
    objective = objective_of(*classes())
    for solver in SOLVERS.values():
        with pytest.raises(TypeError, match="which object does not define") as caught:
            solver(object(), np.zeros(1), tol=1e-4, max_iter=1)
        assert all(name in str(caught.value) for name in members)
        for name in members:

            class Lacking:
                pass

            for other in members - {name}:
                setattr(Lacking, other, getattr(objective, other))
            with pytest.raises(TypeError, match=f"needs {name}, which Lacking does"):
                solver(Lacking(), np.zeros(1), tol=1e-4, max_iter=1)
