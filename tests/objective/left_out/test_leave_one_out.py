"""Raw predictions of left-out rows: finite differences and refitted models."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_iris

from skprob import SoftmaxClassifier, SparsemaxClassifier
from skprob.losses import FenchelYoungLoss
from skprob.mappings import Entmax, PerturbMax, Sigmoid, Softmax, Sparsemax
from skprob.objective import (
    LinearObjective,
    drawn_rows,
    is_affordable,
    leave_one_out,
    split_rows,
)
from skprob.objective.left_out import (
    _fewer_columns,
    _leave_one_out,
    _parts,
    _row_systems,
    _whole_hessian,
)
from skprob.solvers import Tuning, solve
from skprob.targets import DenseTarget

IN_SINGLE_PRECISION = Tuning(single_hessian=0.0)
HALVES = [slice(0, 5), slice(5, 12)]
MAPPINGS = [Softmax(), Entmax(1.5), Sparsemax(), Sigmoid(), Sigmoid(1.5)]


def rows(n_classes=3, n_rows=24, n_features=3, marginals=False, seed=0):
    """X, a target, weights of which one is zero, and offsets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * [1, 5, 0.2][:n_features]
    target = rng.dirichlet(np.full(n_classes, 0.4), n_rows)
    if marginals:
        target = (target > 0.3).astype(float)
    weight = rng.uniform(0.5, 2, n_rows)
    weight[3] = 0
    return X, target, weight, 0.3 * rng.normal(size=target.shape)


def left_out(X, target, weight, offset, loss, C, tol=1e-9, tuning=Tuning()):
    """The approximation in scores, and the minimum (coef, intercept)."""
    blocks = split_rows(X, DenseTarget(target), weight, offset=offset)
    l2 = 1 / (C * weight.sum())
    objective = LinearObjective(blocks, loss, l2=l2, tuning=tuning)
    solution = solve(objective, objective.initial(), tol=tol, max_iter=1000)
    raw = np.concatenate(leave_one_out(objective, solution.parameters))
    if raw.shape[1] == 1:
        raw = raw * [-0.5, 0.5]
    scores = raw if offset is None else raw + offset
    return scores, objective.to_model(solution.parameters)


def newton_step_without_row(
    i, X, target, weight, offset, loss, C, coef, intercept, factors=1.0, drawn=None
):
    """Scores of row i after a step without it: a Hessian by central differences.

    If some rows are drawn, it is that of these, which count for all.
    """
    without = np.arange(len(X)) != i
    in_hessian, share = without, 1.0
    if drawn is not None:
        in_hessian, share = drawn[drawn != i], len(drawn) / len(X)
    Z = np.column_stack([X, np.ones(len(X))])
    theta = np.column_stack([coef, intercept])
    if len(theta) == 1:
        theta = np.vstack([-theta / 2, theta / 2])
    ridge = np.append(factors * np.ones(X.shape[1]), 0.0) / C
    if len(coef) == 1:  # The penalty is that of the difference of two rows.
        ridge = 2 * ridge

    def gradient(theta, some, share=1.0):
        scores = Z[some] @ theta.T + offset[some]
        _, slopes = loss.value_and_gradient(scores, target[some])
        return (slopes * weight[some, None]).T @ Z[some] / share + ridge * theta

    size, step = theta.size, 1e-5
    hessian = np.empty((size, size))
    for j in range(size):
        shift = np.zeros(size)
        shift[j] = step
        shift = shift.reshape(theta.shape)
        change = gradient(theta + shift, in_hessian, share)
        change -= gradient(theta - shift, in_hessian, share)
        hessian[:, j] = change.ravel() / (2 * step)
    # The same added to all intercepts has no curvature.
    newton = np.linalg.lstsq(hessian, -gradient(theta, without).ravel(), rcond=1e-8)[0]
    return Z[i] @ (theta + newton.reshape(theta.shape)).T + offset[i]


def without_mean(scores, loss):
    if loss.traits.polytope == "cube":
        return scores
    return scores - scores.mean(axis=-1, keepdims=True)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("mapping", MAPPINGS, ids=repr)
def test_a_newton_step_without_the_row(mapping, n_classes):
    """Also away from the minimum: the solver stops early."""
    loss, C = FenchelYoungLoss(mapping), 0.7
    data = rows(n_classes, marginals=mapping.traits.polytope == "cube")
    for tol in (1e-9, 3e-2):
        scores, model = left_out(*data, loss, C, tol)
        for i in (0, 3, 11):
            expected = newton_step_without_row(i, *data, loss, C, *model)
            left_out_scores, expected = without_mean(
                np.stack([scores[i], expected]), loss
            )
            assert_allclose(left_out_scores, expected, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize(
    ("mapping", "most_iterations"),
    [*itertools.product(MAPPINGS[:3], [1, 10]), (PerturbMax("normal"), 10)],
    ids=repr,
)
def test_many_raw_predictions(mapping, most_iterations, monkeypatch):
    """Matrices of the rows are inverted by conjugate gradients, as far as they go."""
    monkeypatch.setattr(_row_systems, "_MOST_ITERATIONS", most_iterations)
    loss, C = FenchelYoungLoss(mapping), 5.0
    data = rows(4)
    tuning = Tuning(systems_by_products=2)
    scores, model = left_out(*data, loss, C, tuning=tuning)
    # One row where a gradient is an integral.
    for i in (11,) if isinstance(mapping, PerturbMax) else (3, 11):
        expected = newton_step_without_row(i, *data, loss, C, *model)
        left_out_scores, expected = without_mean(np.stack([scores[i], expected]), loss)
        assert_allclose(left_out_scores, expected, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("mapping", MAPPINGS[:3], ids=repr)
@pytest.mark.parametrize("n_blocks", [1, 2])
def test_a_large_hessian_in_single_precision(mapping, n_blocks, monkeypatch):
    """To single precision under a usual penalty, to double where that is not enough."""
    if n_blocks == 2:
        slices = [slice(0, 7), slice(7, 24)]
        monkeypatch.setattr("skprob.objective._block.row_slices", lambda *_: slices)
    loss, data = FenchelYoungLoss(mapping), rows()
    data[0][:, 2] = data[0][:, 1] + 1e-3 * data[0][:, 0]
    in_single, single_inverse = [], _whole_hessian.single_precision_inverse

    def watched(*args):
        inverse = single_inverse(*args)
        in_single.append(inverse is not None)
        return inverse

    monkeypatch.setattr(_whole_hessian, "single_precision_inverse", watched)
    # Under the weak penalty single precision cannot tell two of the features apart.
    for C, rtol in ((0.7, 1e-4), (1e5, 1e-5)):
        scores, model = left_out(*data, loss, C, tuning=IN_SINGLE_PRECISION)
        for i in (0, 3, 11):
            expected = newton_step_without_row(i, *data, loss, C, *model)
            left_out_scores, expected = without_mean(
                np.stack([scores[i], expected]), loss
            )
            assert_allclose(left_out_scores, expected, rtol=rtol, atol=2e-6)
    assert in_single == [True, False]


def test_rows_that_almost_alone_decide_their_scores():
    """The factors are accurate in single precision, but the changes are not."""
    X = np.linalg.qr(np.random.default_rng(1).normal(size=(24, 20)))[0]
    _, target, weight, offset = rows()
    data, C = (X, 0.9 * target + 0.1 / 3, weight, offset), 1e5
    loss = FenchelYoungLoss(Softmax())
    scores, model = left_out(*data, loss, C, tuning=IN_SINGLE_PRECISION)
    fitted = X @ model[0].T + model[1] + offset
    for i in (0, 7, 11):
        expected = newton_step_without_row(i, *data, loss, C, *model)
        change, expected = without_mean(
            np.stack([scores[i], expected]) - fitted[i], loss
        )
        assert_allclose(change, expected, rtol=5e-5)


@pytest.mark.parametrize("mapping", [Sparsemax(), Sigmoid()], ids=repr)
@pytest.mark.parametrize("n_blocks", [1, 2])
def test_a_share_of_the_rows(mapping, n_blocks, monkeypatch):
    """Each drawn row is left out of all rows; each block draws its share."""
    if n_blocks == 2:
        slices = [slice(0, 9), slice(9, 24)]
        monkeypatch.setattr("skprob.objective._block.row_slices", lambda *_: slices)
    loss, C = FenchelYoungLoss(mapping), 0.7
    data = rows(marginals=mapping.traits.polytope == "cube")
    X, target, weight, offset = data
    blocks = split_rows(X, DenseTarget(target), weight, offset=offset)
    objective = LinearObjective(blocks, loss, l2=1 / (C * weight.sum()))
    solution = solve(objective, objective.initial(), tol=1e-9, max_iter=1000)
    drawn = drawn_rows(objective, 1 / 3)
    assert len(np.unique(drawn)) == len(drawn) == 8
    assert n_blocks == 1 or np.count_nonzero(drawn < 9) == 3
    raw = np.concatenate(leave_one_out(objective, solution.parameters, 1 / 3))
    assert len(raw) == 8
    model = objective.to_model(solution.parameters)
    for i, left_out_scores in zip(drawn, raw + offset[drawn], strict=True):
        expected = newton_step_without_row(i, *data, loss, C, *model)
        left_out_scores, expected = without_mean(
            np.stack([left_out_scores, expected]), loss
        )
        assert_allclose(left_out_scores, expected, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize(
    ("mapping", "n_blocks"),
    [(Softmax(), 2), (Entmax(1.5), 1), (Sparsemax(), 2)],
    ids=repr,
)
def test_drawn_rows_stand_for_all(mapping, n_blocks, monkeypatch):
    """If they are many, the Hessian is theirs; a row is left out with all it counts."""
    if n_blocks == 2:
        slices = [slice(0, 300), slice(300, 1200)]
        monkeypatch.setattr("skprob.objective._block.row_slices", lambda *_: slices)
    loss, C, share = FenchelYoungLoss(mapping), 0.02, 1 / 3
    X, target, weight, offset = data = rows(n_rows=1200)
    blocks = split_rows(X, DenseTarget(target), weight, offset=offset)
    objective = LinearObjective(blocks, loss, l2=1 / (C * weight.sum()))
    start = solve(objective, objective.initial(), tol=1e-9, max_iter=1000).parameters
    drawn, model = drawn_rows(objective, share), objective.to_model(start)
    raw = np.concatenate(leave_one_out(objective, start, share))
    scores = dict(zip(drawn, raw + offset[drawn], strict=True))
    for i in drawn[::40]:
        given = i, *data, loss, C, *model
        expected = newton_step_without_row(*given, drawn=drawn)
        both = np.stack([scores[i], expected])
        assert_allclose(*without_mean(both, loss), rtol=1e-5, atol=1e-6)
    # It is near that of all rows: so are the changes.
    monkeypatch.setattr(_whole_hessian, "_DRAWN_PER_COLUMN", np.inf)
    whole = np.concatenate(leave_one_out(objective, start, share))
    fitted = X[drawn] @ model[0].T + model[1]
    exact, approximate = (without_mean(each - fitted, loss) for each in (whole, raw))
    assert np.linalg.norm(exact - approximate) < 0.15 * np.linalg.norm(exact)
    total = np.linalg.norm(approximate) / np.linalg.norm(exact)
    assert_allclose(total, 1, atol=0.05)


@pytest.mark.parametrize("n_blocks", [1, 2])
def test_more_columns_than_rows(n_blocks, monkeypatch):
    """The Hessian of fewer columns; one of them is free, and one is left out."""
    X, target, weight, offset = rows(n_rows=12)
    X = np.hstack([X, np.random.default_rng(1).normal(size=(12, 14))])
    factors = np.ones(17)
    factors[2], factors[5] = 0, 4
    loss, C = FenchelYoungLoss(Softmax()), 0.3
    if n_blocks == 2:
        monkeypatch.setattr("skprob.objective._block.row_slices", lambda *_: HALVES)
    blocks = split_rows(X, DenseTarget(target), weight, offset=offset)
    objective = LinearObjective(
        blocks, loss, l2=1 / (C * weight.sum()), factors=factors
    )
    start = np.random.default_rng(2).normal(size=objective.n_parameters) / 5
    scores = np.concatenate(leave_one_out(objective, start)) + offset
    coef, intercept = objective.to_model(start)
    for i in (0, 7):
        data = X, target, weight, offset, loss, C, coef, intercept
        expected = newton_step_without_row(i, *data, factors=factors)
        left_out_scores, expected = without_mean(np.stack([scores[i], expected]), loss)
        assert_allclose(left_out_scores, expected, rtol=1e-5, atol=1e-6)


def test_exact_where_no_probability_is_zero_with_sparsemax():
    """The objective is quadratic there: the step ends at the minimum of the rest."""
    X, target, weight, offset = rows()
    loss = FenchelYoungLoss(Sparsemax())
    target = 0.8 / 3 + 0.2 * target
    scores, _ = left_out(X, target, weight, offset / 20, loss, C=0.01, tol=1e-12)
    for i in range(len(X)):
        others = np.arange(len(X)) != i
        part = X[others], target[others], weight[others], offset[others] / 20
        _, (coef, intercept) = left_out(*part, loss, C=0.01, tol=1e-12)
        expected = coef @ X[i] + intercept + offset[i] / 20
        assert (Sparsemax()(expected[None]) > 0).all()
        assert_allclose(*without_mean(np.stack([scores[i], expected]), loss), atol=1e-8)


@pytest.mark.parametrize("mapping", MAPPINGS, ids=repr)
def test_rows_in_parts(mapping, monkeypatch):
    """Parts change nothing."""
    loss, is_cube = FenchelYoungLoss(mapping), mapping.traits.polytope == "cube"
    data = rows(marginals=is_cube)
    whole, _ = left_out(*data, loss, C=1.0)
    monkeypatch.setattr(_parts, "_PART", 40)
    assert_allclose(left_out(*data, loss, C=1.0)[0], whole, rtol=1e-7, atol=1e-9)


def test_sparse_single_precision_and_read_only_rows():
    X, target, weight, offset = rows()
    loss = FenchelYoungLoss(Entmax(1.5))
    expected, _ = left_out(X, target, weight, offset, loss, C=1.0)
    left_out_scores, _ = left_out(
        sparse.csr_array(X), target, weight, offset, loss, C=1.0
    )
    assert_allclose(left_out_scores, expected, atol=1e-7)
    X.flags.writeable = False
    left_out_scores, _ = left_out(X, target, weight, offset, loss, C=1.0)
    assert_allclose(left_out_scores, expected, atol=1e-9)
    single = X.astype(np.float32), target, weight, offset.astype(np.float32)
    left_out_scores, _ = left_out(*single, loss, C=1.0, tol=1e-5)
    assert_allclose(left_out_scores, expected, atol=2e-3)


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e4, np.inf])
def test_a_row_that_alone_has_a_feature(C):
    """Its coefficients are zero without it, whatever the penalty is."""
    X, y = load_iris(return_X_y=True)
    X, y = np.column_stack([X[::4], np.zeros(38)]), y[::4]
    X[5, 4] = 1.0
    target, weight = np.eye(3)[y], np.ones(38)
    with np.errstate(all="ignore"):
        scores, _ = left_out(X, target, weight, None, FenchelYoungLoss(Softmax()), C)
    assert np.isfinite(scores).all()
    if C <= 1:
        keep = np.arange(38) != 5
        without_row = SoftmaxClassifier(C=C, tol=1e-8).fit(X[keep], y[keep])
        assert not without_row.coef_[:, 4].any()
        expected = without_row.decision_function(X[[5]])[0]
        assert_allclose(scores[5] - scores[5].mean(), expected, rtol=0.05, atol=0.02)


def test_a_row_without_weight_and_a_class_with_one_row():
    X, y = load_iris(return_X_y=True)
    X, target = X[:101:4], np.eye(3)[y[:101:4]]
    assert target.sum(axis=0)[2] == 1
    weight = np.ones(len(X))
    weight[0] = 0
    for mapping in (Softmax(), Sparsemax()):
        loss = FenchelYoungLoss(mapping)
        scores, (coef, intercept) = left_out(X, target, weight, None, loss, C=1.0)
        fitted = X @ coef.T + intercept
        assert_allclose(scores[0], fitted[0], atol=1e-8)
        # The class of a row is less probable if the row is left out.
        assert np.isfinite(scores).all()
        assert mapping(scores)[-1, 2] < mapping(fitted)[-1, 2]


def test_a_row_of_weight_two_is_left_out_whole():
    X, y = load_iris(return_X_y=True)
    X, y = X[::5], y[::5]
    weight = np.ones(len(X))
    weight[13] = 2
    loss = FenchelYoungLoss(Sparsemax())
    scores, _ = left_out(X, np.eye(3)[y], weight, None, loss, C=0.05)
    others = np.arange(len(X)) != 13
    model = SparsemaxClassifier(C=0.05, tol=1e-8).fit(X[others], y[others])
    expected = model.decision_function(X[[13]])[0]
    assert_allclose(scores[13] - scores[13].mean(), expected, rtol=0.05, atol=0.01)


def test_wide_rows_that_would_take_much_memory_keep_their_columns(monkeypatch):
    X, target, weight, offset = rows(n_rows=12)
    X = np.hstack([X, np.random.default_rng(1).normal(size=(12, 14))])
    data, loss = (X, target, weight, offset), FenchelYoungLoss(Softmax())
    expected, _ = left_out(*data, loss, C=0.3)
    monkeypatch.setattr(_fewer_columns, "_MOST_NUMBERS", 100)
    assert_allclose(left_out(*data, loss, C=0.3)[0], expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("mapping", [Softmax(), Sigmoid()], ids=repr)
def test_what_the_hessians_cost(mapping, monkeypatch):
    """One of all parameters, or a Hessian for each label, of rows or columns."""
    loss = FenchelYoungLoss(mapping)

    def is_affordable_of(n_rows, n_features, limit):
        X, target = np.ones((n_rows, n_features)), np.full((n_rows, 3), 1 / 3)
        blocks = split_rows(X, DenseTarget(target), np.ones(n_rows))
        objective = LinearObjective(blocks, loss, l2=0.1)
        monkeypatch.setattr(_leave_one_out, "_LARGEST_COST", limit)
        return is_affordable(objective)

    for n_rows, n_features, size in ((50, 9, 10), (8, 30, 9)):
        cost = n_rows * (3 * size) ** 2 + (3 * size) ** 3
        if mapping.traits.polytope == "cube":
            cost = 3 * (n_rows * size**2 + size**3)
        assert is_affordable_of(n_rows, n_features, cost)
        assert not is_affordable_of(n_rows, n_features, cost - 1)
