"""First steps by L-BFGS in single precision, under a strong penalty."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from skprob.losses import FenchelYoungLoss
from skprob.mappings import Entmax, Sigmoid, Softmax, Sparsemax
from skprob.objective import LinearObjective, split_rows
from skprob.solvers import Tuning, solve
from skprob.targets import LabelTarget

from ..training_problems import objective_of

NEVER = Tuning(strong_penalty=np.inf)
# Of the sparse data below: about 0.98 of the curvature of the columns is the penalty's.
STRONG = 0.1


def texts(n_classes=4, n_samples=150, n_features=600, seed=0):
    """Sparse rows, so wide that Gram matrices cost too much, and labels."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array(
        (n_samples, n_features), density=0.03, format="csr", rng=rng
    )
    scores = X @ rng.normal(size=(n_features, n_classes))
    return X, np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)


def fit(problem, **options):
    options = {"tol": 1e-4, "max_iter": 200} | options
    return solve(problem, problem.initial(), **options)


@pytest.mark.parametrize("n_classes", [3, 4])
def test_the_minimum_is_that_of_scikit_learn(n_classes):
    X, y = texts(n_classes)
    problem = objective_of(X, y, l2=STRONG)
    solution = fit(problem, tol=1e-9)
    assert solution.converged
    assert solution.solver == "lbfgs+newton-cg"
    reference = LogisticRegression(C=1 / (STRONG * len(y)), tol=1e-10, max_iter=10_000)
    reference.fit(X, y)
    coef, intercept = problem.to_model(solution.parameters)
    assert_allclose(coef, reference.coef_, atol=2e-7)
    assert_allclose(intercept, reference.intercept_, atol=2e-6)


@pytest.mark.parametrize("mapping", [Entmax(1.5), Sparsemax()], ids=repr)
def test_the_minimum_of_mappings_with_zeros(mapping):
    problem = objective_of(*texts(), mapping, l2=STRONG)
    solution = fit(problem, tol=1e-9)
    assert solution.converged
    assert solution.solver == "lbfgs+newton-cg"
    reference = minimize(
        problem.value_and_gradient,
        problem.initial(),
        jac=True,
        method="L-BFGS-B",
        options={"gtol": 1e-10, "ftol": 0, "maxiter": 5000, "maxfun": 10_000},
    )
    assert_allclose(solution.value, reference.fun, rtol=1e-12)
    assert_allclose(solution.parameters, reference.x, atol=1e-6)


@pytest.mark.parametrize("limits", [{}, {"tol": 1e-2}, {"max_iter": 1}, {"tol": 0.5}])
def test_the_last_point_is_in_double_precision(limits):
    problem = objective_of(*texts(), l2=STRONG)
    solution = fit(problem, **limits)
    assert solution.solver == "lbfgs"
    value, gradient = problem.value_and_gradient(solution.parameters)
    assert solution.value == pytest.approx(value, rel=1e-14)
    assert_allclose(solution.gradient, gradient, atol=1e-15)
    least = fit(problem, tol=1e-11, tuning=NEVER).value
    assert 0 <= value - least <= solution.duality_gap
    assert solution.duality_gap <= problem.value_at_zero


def test_fewer_passes_than_by_newton_alone():
    problem = objective_of(*texts(), l2=STRONG)
    first, newton = fit(problem), fit(problem, tuning=NEVER)
    assert first.solver == "lbfgs"
    assert newton.solver == "newton-cg"
    assert first.converged
    assert newton.converged
    assert first.history[-1].passes < 0.8 * newton.history[-1].passes


def test_newton_continues_after_many_steps():
    problem = objective_of(*texts(), l2=STRONG)
    solution = fit(problem, tol=1e-8, tuning=Tuning(most_first_steps=3))
    assert solution.solver == "lbfgs+newton-cg"
    assert solution.converged
    by_newton = fit(problem, tol=1e-8, tuning=NEVER)
    assert_allclose(solution.value, by_newton.value, rtol=1e-12)
    # The history has the steps of both, and values that fall beyond single precision.
    values = [row.objective for row in solution.history]
    assert len(values) == solution.n_iter + 1 > 4
    assert np.all(np.diff(values) <= 1e-6 * values[0])


def test_other_problems_start_with_newton():
    X, y = texts()
    strong = objective_of(X, y, l2=STRONG)
    problems = [
        objective_of(X, y, l2=1e-4),  # A weak penalty.
        objective_of(X, (y > 1).astype(int), l2=STRONG),  # Two classes.
        objective_of(X, y, l2=10.0),  # Next to nothing but the penalty.
        objective_of(X.astype(np.float32), y, l2=STRONG),
        objective_of(X, y, Sigmoid(), l2=STRONG),  # Each label for itself.
    ]
    blocks = split_rows(
        X, LabelTarget(y, 4), np.ones(len(y)), offset=np.full((len(y), 4), 1e39)
    )
    problems.append(LinearObjective(blocks, FenchelYoungLoss(Softmax()), l2=STRONG))
    names = [fit(problem).solver for problem in problems]
    names.append(fit(strong, solver="newton-cg").solver)
    # A start with coefficients.
    start = strong.initial()
    start[0] = 1e-3
    names.append(solve(strong, start, tol=1e-4, max_iter=200).solver)
    assert not any("lbfgs" in name for name in names), names


def test_a_gradient_of_next_to_nothing():
    """Its square is zero in single precision."""
    X, y = texts()
    problem = objective_of(1e-6 * X, y, l2=STRONG * 1e-12)
    assert fit(problem).solver.startswith("lbfgs")
    # No gradient at the start.
    balanced = sparse.csr_array(sparse.vstack([X[:50]] * 3))
    labels = np.repeat([0, 1, 2], 50)
    solution = fit(objective_of(balanced, labels, l2=STRONG), tol=1e-12)
    assert solution.converged
    assert_allclose(solution.value, np.log(3), rtol=1e-12)
