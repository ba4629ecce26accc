"""Fits to large data that start from a fit to a sample of the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import xlogy

from skprob.losses import FenchelYoungLoss
from skprob.mappings import Softmax, Sparsemax
from skprob.objective import LinearObjective, split_rows
from skprob.solvers import Tuning, solve
from skprob.solvers.newton import sample_size
from skprob.targets import DenseTarget, LabelTarget

from ..minimal_problems import SquaredHinges
from ..training_problems import classes, exact_optimum, objective_of

# Data that are large enough to be sampled.
SAMPLED = Tuning()._replace(large_data=0, sampled_rows=5, largest_hessian_cost=0)
WHOLE = SAMPLED._replace(sampled_rows=np.inf)


def sampled_fit(problem, start=None, **limits):
    start = problem.initial() if start is None else start
    limits = {
        "solver": "auto",
        "tol": 1e-6,
        "max_iter": 100,
        "tuning": SAMPLED,
    } | limits
    return solve(problem, start, **limits)


def test_a_sample_is_of_large_data_with_many_rows_for_each_column():
    description = objective_of(*classes(3)).description
    large = description._replace(n_rows=400_000, shape=(20, 51))
    assert sample_size(large) == 25_000
    # Little data; few rows a column; other problems.
    assert not sample_size(large._replace(n_rows=5_000))
    assert not sample_size(large._replace(shape=(10, 2000)))
    for kind in {"is_linear": False}, {"is_convex": False}, {"is_remote": True}:
        assert not sample_size(large._replace(**kind))
    # On a GPU.
    assert not sample_size(large._replace(is_on_host=False))


@pytest.mark.parametrize("mapping", [Softmax(), Sparsemax()], ids=str)
def test_the_minimum_is_that_of_all_rows(mapping):
    problem = objective_of(*classes(3, n_samples=2000), mapping)
    solution = sampled_fit(problem, tol=1e-9)
    assert solution.converged
    value, gradient = problem.value_and_gradient(exact_optimum(problem))
    assert_allclose(solution.value, value, rtol=1e-10)
    assert solution.gradient_norm <= 1e-9
    assert np.abs(gradient).max() < 1e-8


def test_fewer_passes_over_all_rows():
    problem = objective_of(*classes(5, n_samples=20_000, n_features=5))
    before = problem.passes
    solution = sampled_fit(problem)
    # Those over the sample, as shares, belong to the start.
    first, *_, last = solution.history
    assert_allclose(problem.passes - before, last.passes)
    assert first.passes > 1
    assert first.objective < 0.9 * problem.value_at_zero
    whole = sampled_fit(problem, tuning=WHOLE)
    of_all_rows = last.passes - first.passes
    assert of_all_rows < 0.8 * whole.history[-1].passes
    assert_allclose(solution.value, whole.value, rtol=1e-7)


def test_rows_without_weight_and_a_sample_of_none():
    """Weights of the sample add up to one, unless all of them are zero."""
    X, y = classes(3, n_samples=2000)
    target = LabelTarget(y, 3)
    weight = np.zeros(2000)
    weight[:3] = 1  # Hardly any sample has these rows.
    problem = LinearObjective(
        split_rows(X, target, weight), FenchelYoungLoss(Softmax()), l2=0.1
    )
    solution = sampled_fit(problem, tol=1e-8)
    assert solution.converged
    assert_allclose(
        solution.value, problem.value_and_gradient(exact_optimum(problem))[0]
    )
    sampled = objective_of(X, y).sample(200)
    weights = [block.weight.sum() for block in sampled.blocks._blocks]
    assert_allclose(sum(weights), 1)
    assert sampled.description.n_rows == 200


def test_a_start_that_is_known_needs_no_sample():
    problem = objective_of(*classes(3, n_samples=2000))
    best = sampled_fit(problem).parameters
    solution = sampled_fit(problem, start=best)
    without = sampled_fit(problem, start=best, tuning=WHOLE)
    assert solution.history[0].passes == without.history[0].passes


def test_any_problem_with_the_declared_members():
    rng = np.random.default_rng(0)
    X, signs = rng.normal(size=(500, 3)), np.sign(rng.normal(size=(500, 2)))
    problem = SquaredHinges(X, signs, 0.1)
    solution = sampled_fit(problem, solver="newton-cg", tol=1e-9)
    whole = sampled_fit(problem, solver="newton-cg", tol=1e-9, tuning=WHOLE)
    assert solution.converged
    assert_allclose(solution.parameters, whole.parameters, atol=1e-8)


def test_rare_labels_start_at_their_best_intercepts():
    rng = np.random.default_rng(0)
    X = sparse.random_array((80, 400), density=0.05, rng=rng, format="csr")
    share = rng.dirichlet(np.geomspace(20, 0.1, 6), 80)
    share /= share.sum(axis=1, keepdims=True)
    blocks = split_rows(X, DenseTarget(share), np.ones(80))
    problem = LinearObjective(blocks, FenchelYoungLoss(Softmax()), l2=0.01)
    limits = {"solver": "newton-cg", "tol": 1e-8, "max_iter": 200}
    zero = Tuning(gain_of_intercepts=np.inf)
    best, plain = (
        solve(problem, problem.initial(), tuning=tuning, **limits)
        for tuning in (Tuning(), zero)
    )
    assert_allclose(best.value, plain.value, rtol=1e-10)
    # Without features the loss is that of the mean distribution.
    mean = share.mean(axis=0)
    expected = np.sum(xlogy(share, share)) / 80 - np.sum(xlogy(mean, mean))
    assert_allclose(best.history[0].objective, expected, rtol=1e-4)
    assert_allclose(plain.history[0].objective, problem.value_at_zero)
    assert best.history[0].objective < 0.95 * problem.value_at_zero
