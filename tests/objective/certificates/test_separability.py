"""No minimum without a penalty: found where it is so, and not where it is not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog, minimize
from scipy.special import log_softmax
from sklearn.datasets import load_iris

from skprob import SoftmaxClassifier, solvers
from skprob.losses import AccuracyLoss, FenchelYoungLoss, LogLoss, MarginLoss
from skprob.mappings import Entmax, Sigmoid, Softmax
from skprob.objective import LinearObjective, split_rows
from skprob.solvers import SOLVERS
from skprob.targets import as_target

from ...solvers.training_problems import classes, objective_of


def separation_exists(X, Q):
    """By the linear program of Konis: margins between 0 and 1, as many as can be."""
    n, K = Q.shape
    A = np.hstack([X, np.ones((n, 1))])
    # Margins of the target over class k, linear in the K rows of parameters.
    eye = np.eye(K)
    rows = [np.kron(Q[i] - eye[k], A[i]) for i in range(n) for k in range(K)]
    rows = np.array(rows)
    result = linprog(
        -rows.sum(axis=0),
        A_ub=np.vstack([-rows, rows]),
        b_ub=np.repeat([0.0, 1.0], len(rows)),
        bounds=(None, None),
    )
    assert result.status == 0
    return -result.fun > 1e-6


def solve(objective, solver="newton-cg", tol=1e-6):
    limits = {"tol": tol, "max_iter": 500}
    return solvers.solve(objective, objective.initial(), solver=solver, **limits)


def solve_without_penalty(X, y, solver="newton-cg", tol=1e-6):
    return solve(objective_of(X, y, l2=0.0), solver, tol)


def is_told(solution):
    is_reported = solution.message.startswith("no optimum exists")
    assert is_reported == (solution.remedies == ("penalty",))
    return is_reported


def all_apart():
    X, y = classes(3, n_features=2)
    return X + 20 * np.array([[0, 0], [1, 0], [0, 1]])[y], y


def one_class_apart():
    X, y = classes(2, n_samples=90, n_features=2)
    y[:30] = 2
    X[:30, 0] += 20
    return X, y


def a_flag_of_one_class():
    X, y = classes(2, n_samples=100, n_features=2)
    flag = np.zeros((100, 1))
    flag[np.flatnonzero(y)[:5]] = 1
    return np.hstack([X, flag]), y


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("data", [all_apart, one_class_apart, a_flag_of_one_class])
def test_separation_is_told(solver, data):
    X, y = data()
    assert separation_exists(X, np.eye(y.max() + 1)[y])
    for tol, container in ((1e-3, np.asarray), (1e-8, sparse.csr_array)):
        solution = solve_without_penalty(
            container(X * [1e3, *np.ones(X.shape[1] - 1)]), y, solver, tol
        )
        assert not solution.converged
        assert is_told(solution), solution.message
        assert np.isfinite(solution.parameters).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_loss_that_underflows_is_not_an_optimum(solver):
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    assert is_told(solve_without_penalty(X, np.array([0, 0, 1, 1]), solver, tol=1e-9))
    far = objective_of(np.array([[-1.0], [1.0]]), np.array([0, 1]), l2=0.0)
    assert far.is_unbounded(far.at(np.array([1e4, 0.0])))


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(8, 30),
    n_features=st.integers(1, 3),
    n_classes=st.integers(2, 4),
    levels=st.integers(2, 6),
)
def test_it_agrees_with_a_linear_program(seed, n_rows, n_features, n_classes, levels):
    """Few levels of a feature make ties, and every kind of separation."""
    rng = np.random.default_rng(seed)
    X = rng.integers(levels, size=(n_rows, n_features)).astype(float)
    y = rng.integers(n_classes, size=n_rows)
    y[:n_classes] = range(n_classes)
    solution = solve_without_penalty(X, y)
    exists = separation_exists(X, np.eye(n_classes)[y])
    assert is_told(solution) == exists, solution.message
    assert solution.converged == (not exists), solution.message


@pytest.mark.parametrize("mean", [0, 30])
def test_single_precision_agrees_with_a_linear_program(mean):
    """Its rounding errors are larger, and conjugate gradients may end at zero."""
    n_separable = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X = np.rint(2 * rng.normal(size=(9, 2))) + mean
        y = rng.permutation(9) % 3
        exists = separation_exists(X - mean, np.eye(3)[y])
        solution = solve_without_penalty(X.astype(np.float32), y, tol=1e-4)
        assert is_told(solution) == exists, (seed, solution.message)
        n_separable += exists
    assert 5 < n_separable < 23


@pytest.mark.parametrize(
    "loss",
    [
        LogLoss(Softmax()),
        FenchelYoungLoss(Softmax()),
        MarginLoss(FenchelYoungLoss(Softmax()), 0.5),
    ],
    ids=repr,
)
def test_targets_that_are_distributions(loss):
    """A class that no target has, and one that every target has a little of."""
    X, _ = classes(3, n_samples=60)
    rng = np.random.default_rng(0)
    absent = np.hstack([rng.dirichlet([1, 1], size=60), np.zeros((60, 1))])
    present = 0.9 * absent + 0.1 / 3
    for Q in (absent, present):
        blocks = split_rows(X, as_target(Q, Q.shape, float), np.ones(60))
        objective = LinearObjective(blocks, loss, l2=0.0)
        solution = solve(objective)
        exists = separation_exists(X, Q)
        assert exists == (Q is absent)
        assert is_told(solution) == exists, solution.message
        assert solution.converged == (not exists), solution.message


def test_classes_that_are_not_available_do_not_count():
    """Alike rows have all classes: each is the best of a group that is on offer."""
    rng, first, order = np.random.default_rng(0), np.arange(90) % 3, np.arange(90) // 30
    X = np.column_stack([np.eye(3)[first], rng.normal(size=90)])
    y = (first - order) % 3
    # The first choice is on offer to rows of order 0, the second to orders 0 and 1.
    available = np.ones((90, 3), dtype=bool)
    available[order > 0, first[order > 0]] = False
    available[order > 1, (first[order > 1] - 1) % 3] = False
    target = as_target(np.eye(3)[y], (90, 3), float)
    for offered, exists in ((available, True), (None, False)):
        blocks = split_rows(X, target, np.ones(90), available=offered)
        objective = LinearObjective(blocks, FenchelYoungLoss(Softmax()), l2=0.0)
        assert is_told(solve(objective)) == exists


def test_a_label_that_is_apart_is_told():
    """Each label of label sets is a problem of two classes."""
    n_apart = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.integers(2 + seed % 3, size=(8, 2)).astype(float)
        Q = rng.integers(2, size=(8, 2)).astype(float)
        blocks = split_rows(X, as_target(Q, Q.shape, float, "cube"), np.ones(8))
        objective = LinearObjective(blocks, FenchelYoungLoss(Sigmoid()), l2=0.0)
        exists = any(separation_exists(X, np.stack([q, 1 - q], axis=1)) for q in Q.T)
        assert is_told(solve(objective)) == exists, seed
        n_apart += exists
    assert 5 < n_apart < 25


def test_there_is_a_minimum_with_a_penalty_or_zeros_and_none_is_claimed_elsewhere():
    X, y = all_apart()
    for objective in (
        objective_of(X, y, l2=1e-6),
        objective_of(X, y, Entmax(1.5), l2=0.0),
        objective_of(X, y, l2=0.0).with_loss(AccuracyLoss(Softmax())),
    ):
        x = np.random.default_rng(0).normal(size=objective.n_parameters)
        assert not objective.is_unbounded(objective.at(100 * x))


@pytest.mark.parametrize("size", [1e8, 1e9, 1e10])
@pytest.mark.parametrize("row", [3, 50, 149])
def test_a_huge_value_does_not_make_other_rows_separable(size, row):
    """Margins of other rows that are tiny relative to the largest one are not zero."""
    X, y = load_iris(return_X_y=True)
    y = np.random.default_rng(0).permutation(y)
    others = np.delete(np.arange(150), row)
    assert not separation_exists(X[others] - X.mean(axis=0), np.eye(3)[y[others]])
    X[row, row % 4] = size
    # Warnings are errors.
    model = SoftmaxClassifier(C=np.inf, max_iter=1000).fit(X, y)
    # A tiny coefficient makes the loss of the row zero.
    other_features = np.delete(X[others], row % 4, axis=1)
    scale = other_features.std(axis=0)
    Z = (other_features - other_features.mean(axis=0)) / scale
    Z = np.column_stack([Z, np.ones(149)])
    rows, labels = np.arange(149), y[others]

    def loss(parameters):
        return -log_softmax(Z @ parameters.reshape(4, 3), axis=1)[rows, labels].sum()

    limit = minimize(loss, np.zeros(12), options={"gtol": 1e-4}).fun / 150
    assert model.objective_ <= limit + 1e-4
