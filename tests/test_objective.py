"""The objective of the linear model, and that it is a sum over blocks of rows."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from joblib import Parallel, delayed
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.preprocessing import StandardScaler
from sklearn.utils.sparsefuncs import incr_mean_variance_axis

import skprob.objective._blocks as blocks_module
from skprob.losses import DenseTarget, FenchelYoungLoss, SparseTarget
from skprob.losses._target import as_target
from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.objective import (
    Block,
    BlockLinearization,
    LinearObjective,
    block_moments,
    block_value_and_gradient,
    split_rows,
)

from .losses.cases import LOSSES

every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
SOFTMAX_LOSS = FenchelYoungLoss(Softmax())


class Problem:
    """Data with rows of every kind of target, and the objective written out."""

    def __init__(self, n_classes, *, n_samples=15, n_features=4, seed=0):
        rng = np.random.default_rng(seed)
        self.X = rng.normal(size=(n_samples, n_features))
        self.X[rng.random(self.X.shape) < 0.4] = 0
        Q = rng.dirichlet(np.ones(n_classes), size=n_samples)
        Q[::3] = np.eye(n_classes)[rng.integers(n_classes, size=len(Q[::3]))]
        self.Q = Q
        self.weight = rng.uniform(0.2, 3, n_samples)
        self.weight[[1, 4]] = 0
        self.n_outputs = 1 if n_classes == 2 else n_classes
        self.coef = rng.normal(size=(self.n_outputs, n_features)) / 2
        self.intercept = rng.normal(size=self.n_outputs) / 2

    def objective(self, loss, *, X=None, l2=0.1, fit_intercept=True, target=None):
        X = self.X if X is None else X
        target = target or as_target(self.Q, self.Q.shape, X.dtype)
        blocks = split_rows(X, target, self.weight)
        return LinearObjective(blocks, loss, l2=l2, fit_intercept=fit_intercept)

    def parameters(self, fit_intercept=True):
        parts = [self.coef.ravel(), self.intercept]
        return np.concatenate(parts if fit_intercept else parts[:1])

    def formula(self, loss, *, l2=0.1, fit_intercept=True):
        """Σ s ℓ / Σ s + ½ l2 ‖W‖², scores (-u/2, +u/2) with one output."""
        scores = self.X @ self.coef.T + self.intercept * fit_intercept
        if self.n_outputs == 1:
            scores = np.hstack([-scores / 2, scores / 2])
        value = np.average(loss.value(scores, self.Q), weights=self.weight)
        return value + l2 / 2 * (self.coef**2).sum()


@every_loss
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_value_and_derivatives(loss, n_classes, fit_intercept):
    problem = Problem(n_classes)
    objective = problem.objective(loss, fit_intercept=fit_intercept)
    theta = problem.parameters(fit_intercept)
    assert objective.n_parameters == theta.size
    value, gradient = objective.value_and_gradient(theta)
    expected = problem.formula(loss, fit_intercept=fit_intercept)
    assert_allclose(value, expected, rtol=1e-13)

    def slope(function, step):
        moves = step * np.eye(theta.size)
        return np.array(
            [(function(theta + m) - function(theta - m)) / (2 * step) for m in moves]
        )

    numeric = slope(lambda t: objective.value_and_gradient(t)[0], 1e-5)
    assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-6)
    linearization = objective.linearize(theta)
    assert_allclose(linearization.value, value, rtol=1e-14)
    assert_allclose(linearization.gradient, gradient, rtol=1e-12, atol=1e-15)
    hessian = np.array([linearization.hessian_product(e) for e in np.eye(theta.size)])
    numeric = slope(lambda t: objective.value_and_gradient(t)[1], 1e-6)
    assert_allclose(hessian, numeric, rtol=1e-4, atol=2e-5 * np.abs(hessian).max())
    assert_allclose(hessian, hessian.T, rtol=1e-9, atol=1e-12 * np.abs(hessian).max())


def layouts(X):
    csr = sparse.csr_array(X)
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = csr.indices.astype("i8"), csr.indptr.astype("i8")
    return {
        "C": np.ascontiguousarray(X),
        "F": np.asfortranarray(X),
        "csr": csr,
        "csr with int64": wide,
        "csr_matrix": sparse.csr_matrix(X),
    }


@every_loss
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_layout_and_type_of_X_do_not_matter(loss, n_classes, dtype):
    problem = Problem(n_classes)
    # Such numbers are the same in both types.
    problem.X = np.round(problem.X * 16) / 16
    theta = np.round(problem.parameters() * 16) / 16
    value, gradient = problem.objective(loss).value_and_gradient(theta)
    direction = np.linspace(-1, 1, theta.size)
    product = problem.objective(loss).linearize(theta).hessian_product(direction)
    tolerance = 1e-12 if dtype == np.float64 else 2e-4
    sparse_target = as_target(
        sparse.csr_array(problem.Q.astype(dtype)), problem.Q.shape, dtype
    )
    for name, X in layouts(problem.X.astype(dtype)).items():
        for target in (None, sparse_target):
            objective = problem.objective(loss, X=X, target=target)
            other = objective.value_and_gradient(theta)
            other_product = objective.linearize(theta).hessian_product(direction)
            assert other[1].dtype == other_product.dtype == np.float64
            assert_allclose(other[0], value, rtol=tolerance, err_msg=name)
            for got, wanted in ((other[1], gradient), (other_product, product)):
                largest = np.abs(wanted).max()
                assert_allclose(got, wanted, atol=tolerance * largest, err_msg=name)


def uneven_blocks(problem, X, order):
    X, Q = X[order], problem.Q[order]
    weight = (problem.weight / problem.weight.sum())[order]
    cuts = [0, 1, 2, 7, 8, len(order)]
    return [Block(X[a:b], DenseTarget(Q[a:b]), weight[a:b]) for a, b in pairwise(cuts)]


@every_loss
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_any_blocks_of_any_order_give_the_same_sum(loss, container):
    problem = Problem(3)
    theta = problem.parameters()
    direction = np.linspace(-1, 1, theta.size)
    whole = problem.objective(loss)
    value, gradient = whole.value_and_gradient(theta)
    product = whole.linearize(theta).hessian_product(direction)
    order = np.random.default_rng(3).permutation(len(problem.X))
    blocks = uneven_blocks(problem, container(problem.X), order)
    cut = LinearObjective(blocks, loss, l2=0.1)
    assert_allclose(cut.value_and_gradient(theta)[0], value, rtol=1e-13)
    assert_allclose(cut.value_and_gradient(theta)[1], gradient, atol=1e-13)
    assert_allclose(
        cut.linearize(theta).hessian_product(direction), product, rtol=1e-9, atol=1e-12
    )
    for one, other in zip(whole.feature_moments(), cut.feature_moments(), strict=True):
        assert_allclose(one, other, rtol=1e-13)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_split_rows_cuts_where_it_should(monkeypatch, container):
    monkeypatch.setattr(blocks_module, "_BLOCK_BYTES", 96)
    monkeypatch.setattr(blocks_module, "_FEWEST_ROWS", 1)
    problem = Problem(3)
    X = container(problem.X)
    for target in (
        DenseTarget(problem.Q),
        as_target(sparse.csr_array(problem.Q), problem.Q.shape, float),
        SparseTarget.from_labels(problem.Q.argmax(axis=1), 3),
    ):
        blocks = split_rows(X, target, problem.weight)
        assert len(blocks) >= 3
        together = np.vstack([block.target.to_dense(float) for block in blocks])
        assert_array_equal(together, target.to_dense(float))
        rows = [b.X.toarray() if sparse.issparse(b.X) else b.X for b in blocks]
        assert_array_equal(np.vstack(rows), problem.X)
        assert_allclose(sum(block.weight.sum() for block in blocks), 1)
        theta = problem.parameters()
        cut = LinearObjective(blocks, SOFTMAX_LOSS, l2=0.1).value_and_gradient(theta)
        whole = problem.objective(SOFTMAX_LOSS, target=target).value_and_gradient(theta)
        assert_allclose(cut[0], whole[0], rtol=1e-14)
        assert_allclose(cut[1], whole[1], atol=1e-15)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_X_is_neither_copied_nor_changed(monkeypatch, order, dtype):
    monkeypatch.setattr(blocks_module, "_BLOCK_BYTES", 96)
    monkeypatch.setattr(blocks_module, "_FEWEST_ROWS", 1)
    problem = Problem(3)
    X = np.array(problem.X, order=order, dtype=dtype)
    csr = sparse.csr_array(X)
    X.flags.writeable = csr.data.flags.writeable = False
    target = DenseTarget(problem.Q.astype(dtype))
    theta = problem.parameters()
    for data in (X, csr):
        blocks = split_rows(data, target, problem.weight)
        for block in blocks:
            if sparse.issparse(data):
                assert np.shares_memory(block.X.data, csr.data)
            else:
                assert np.shares_memory(block.X, X)
        objective = LinearObjective(blocks, SOFTMAX_LOSS, l2=0.1)
        objective.feature_moments()
        objective.linearize(theta).hessian_product(theta)
    assert_array_equal(X, problem.X.astype(dtype))
    assert_array_equal(csr.toarray(), X)


def test_weights_are_relative_and_zero_is_absence():
    problem = Problem(3)
    theta = problem.parameters()
    value, gradient = problem.objective(SOFTMAX_LOSS).value_and_gradient(theta)
    problem.weight *= 1000
    scaled = problem.objective(SOFTMAX_LOSS).value_and_gradient(theta)
    assert_allclose(scaled[0], value, rtol=1e-14)
    assert_allclose(scaled[1], gradient, atol=1e-15)
    kept = problem.weight > 0
    assert 0 < kept.sum() < len(kept)
    problem.X, problem.Q = problem.X[kept], problem.Q[kept]
    problem.weight = problem.weight[kept]
    without = problem.objective(SOFTMAX_LOSS).value_and_gradient(theta)
    assert_allclose(without[0], value, rtol=1e-14)
    assert_allclose(without[1], gradient, atol=1e-15)


def test_blocks_are_computed_in_other_processes():
    problem = Problem(3)
    losses = [LOSSES[name] for name in list(LOSSES)[:6]]
    blocks = uneven_blocks(problem, problem.X, np.arange(15))
    blocks += uneven_blocks(problem, sparse.csr_array(problem.X), np.arange(15))
    model = problem.coef, problem.intercept
    tasks = [(loss, block) for loss in losses for block in blocks]
    elsewhere = Parallel(n_jobs=2)(
        delayed(block_value_and_gradient)(*model, block, loss) for loss, block in tasks
    )
    for (loss, block), there in zip(tasks, elsewhere, strict=True):
        copy = pickle.loads(pickle.dumps(block))
        here = block_value_and_gradient(*model, copy, loss)
        for a, b in zip(here, there, strict=True):
            assert_allclose(a, b, rtol=1e-14, atol=1e-16)
    total = sum(value for value, *_ in elsewhere[:5])
    constant = np.dot(losses[0].constant(DenseTarget(problem.Q)), problem.weight) / (
        problem.weight.sum()
    )
    penalty = 0.05 * (problem.coef**2).sum()
    assert_allclose(total + constant + penalty, problem.formula(losses[0]), rtol=1e-13)


@every_loss
def test_block_functions_are_pure(loss):
    problem = Problem(2)
    block = problem.objective(loss).blocks[0]
    model = problem.coef.copy(), problem.intercept.copy()
    before = pickle.dumps((block.X, block.target.to_dense(float), block.weight, model))
    first = block_value_and_gradient(*model, block, loss)
    linear = BlockLinearization(*model, block, loss)
    again = linear.value, linear.coef_gradient, linear.intercept_gradient
    products = [linear.hessian_product(*model) for _ in range(2)]
    for one, other in zip(first, again, strict=True):
        assert_allclose(one, other, rtol=1e-13, atol=1e-15)
    for one, other in zip(*products, strict=True):
        assert_array_equal(one, other)
    assert_array_equal(linear.curvature(), linear.curvature())
    after = pickle.dumps((block.X, block.target.to_dense(float), block.weight, model))
    assert before == after


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_pack_and_unpack_are_inverse(n_classes, fit_intercept):
    problem = Problem(n_classes)
    objective = problem.objective(SOFTMAX_LOSS, fit_intercept=fit_intercept)
    theta = objective.pack(problem.coef, problem.intercept)
    assert_array_equal(theta, problem.parameters(fit_intercept))
    coef, intercept = objective.unpack(theta)
    assert_array_equal(coef, problem.coef)
    assert_array_equal(intercept, problem.intercept * fit_intercept)


def moments(X, weight, n_blocks):
    X = X if sparse.issparse(X) else np.asarray(X)
    target = SparseTarget.from_labels(np.zeros(X.shape[0], dtype=int), 3, X.dtype)
    weight = weight / weight.sum()
    cuts = np.linspace(0, X.shape[0], n_blocks + 1).astype(int)
    blocks = [
        Block(X[a:b], target.block(slice(a, b)), weight[a:b]) for a, b in pairwise(cuts)
    ]
    return LinearObjective(blocks, SOFTMAX_LOSS, l2=0.0).feature_moments()


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_blocks", [1, 7])
def test_feature_moments_are_those_of_scikit_learn(container, n_blocks):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)) * [1, 1e-6, 1e6, 1, 0] + [0, 3, 1e6, -2, 0]
    X[rng.random(X.shape) < 0.5] = 0
    weight = rng.uniform(0, 2, 200)
    weight[:40] = 0
    mean, deviation = moments(container(X), weight, n_blocks)
    scaler = StandardScaler().fit(X, sample_weight=weight)
    assert_allclose(mean, scaler.mean_, rtol=1e-12)
    assert_allclose(deviation, np.sqrt(scaler.var_), rtol=1e-12)
    reference_mean, reference_variance, _ = incr_mean_variance_axis(
        sparse.csr_matrix(X),
        axis=0,
        last_mean=np.zeros(5),
        last_var=np.zeros(5),
        last_n=0,
        weights=weight,
    )
    assert_allclose(mean, reference_mean, rtol=1e-12)
    assert_allclose(deviation, np.sqrt(reference_variance), rtol=1e-12)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("dtype", "offset", "rtol"), [(np.float64, 1e6, 1e-8), (np.float32, 1e4, 1e-6)]
)
def test_moments_of_features_far_from_zero(container, dtype, offset, rtol):
    X = (np.random.default_rng(0).normal(size=(400, 3)) + offset).astype(dtype)
    weight = np.random.default_rng(1).uniform(0, 2, 400)
    exact = X.astype(np.longdouble)
    share = weight.astype(np.longdouble) / weight.sum()
    expected_mean = share @ exact
    expected = np.sqrt(share @ (exact - expected_mean) ** 2)
    for n_blocks in (1, 5):
        mean, deviation = moments(container(X), weight, n_blocks)
        assert_allclose(mean, expected_mean.astype(float), rtol=1e-12)
        assert_allclose(deviation, expected.astype(float), rtol=rtol)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("unit", [1e-310, 1e-200, 1e200, 1e307])
def test_moments_neither_overflow_nor_vanish(container, unit):
    X = np.random.default_rng(0).uniform(-1, 1, size=(50, 2)) * [1, unit]
    for n_blocks in (1, 3):
        mean, deviation = moments(container(X), np.ones(50), n_blocks)
        scaled = X / [1, unit]
        assert_allclose(mean / [1, unit], scaled.mean(axis=0), rtol=1e-10)
        assert_allclose(deviation / [1, unit], scaled.std(axis=0), rtol=1e-10)


@pytest.mark.parametrize("constant", [0.0, 1.0, 0.1, -1e6, 1e300])
def test_a_constant_feature_has_no_spread(constant):
    X = np.full((5000, 1), constant)
    for container in (np.asarray, sparse.csr_array):
        mean, deviation = moments(container(X), np.linspace(1, 2, 5000), 4)
        assert_allclose(mean, constant, rtol=1e-15)
        assert deviation[0] <= 2 * np.finfo(float).eps * abs(constant)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("mapping", [Sparsemax(), Entmax(1.5)], ids=repr)
def test_rows_that_do_not_bend_the_loss_are_no_part_of_the_hessian(
    mapping, n_classes, container
):
    """Of a hundred rows five are near a boundary between classes."""
    rng = np.random.default_rng(0)
    X = 20 * np.eye(n_classes)[rng.integers(n_classes, size=100)]
    X += rng.normal(size=X.shape)
    X[:5] = rng.uniform(0, 0.3, size=(5, n_classes))
    target = SparseTarget.from_labels(X.argmax(axis=1), n_classes)
    weight = rng.uniform(size=100)
    coef = np.eye(n_classes)
    if n_classes == 2:
        coef = coef[1:] - coef[:1]
    model = coef, np.zeros(len(coef))
    block = Block(container(X), target, weight)
    loss = FenchelYoungLoss(mapping)
    linear = BlockLinearization(*model, block, loss)
    assert np.count_nonzero(linear.curvature().any(axis=1)) == 5
    direction = rng.normal(size=coef.shape), rng.normal(size=len(coef))
    found = linear.hessian_product(*direction)

    def gradient(step):
        moved = (m + step * d for m, d in zip(model, direction, strict=True))
        return block_value_and_gradient(*moved, block, loss)[1:]

    ahead, behind = gradient(1e-6), gradient(-1e-6)
    for product, there, here in zip(found, ahead, behind, strict=True):
        assert_allclose(product, (there - here) / 2e-6, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("unit", [1e-200, 1e-120, 1.0, 1e120, 1e151])
def test_moments_of_features_whose_squares_vanish_or_overflow(unit):
    X = np.random.default_rng(0).normal(1, 2, size=(50, 3)) * [1.0, 1.0, 0.0]
    target = SparseTarget.from_labels(np.arange(50) % 2, 2)
    (block,) = split_rows(X * [1.0, unit, 1.0], target, np.ones(50))
    _, mean, deviation = block_moments(block)
    scale = np.array([1.0, unit, 1.0])
    np.testing.assert_allclose(mean, X.mean(axis=0) * scale, rtol=1e-12)
    np.testing.assert_allclose(deviation, X.std(axis=0) * scale, rtol=1e-12)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5)], ids=repr)
def test_hessian_products_in_the_precision_of_the_direction(
    container, n_classes, mapping
):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 7)), np.arange(40) % n_classes
    target = SparseTarget.from_labels(y, n_classes)
    objective = LinearObjective(
        split_rows(container(X), target, np.ones(40)), FenchelYoungLoss(mapping), l2=0.1
    )
    parameters, direction = rng.normal(size=(2, objective.n_parameters))
    direction = direction.astype(np.float32)
    product = objective.linearize(parameters).hessian_product
    single, double = product(direction), product(direction.astype(np.float64))
    assert_allclose(single, double, rtol=1e-5, atol=1e-6)
    assert (single != double).any()


@pytest.mark.parametrize(
    ("change", "suits"),
    [
        (lambda X: sparse.csr_array(X), True),
        (lambda X: sparse.csr_array(X * [0, 1, 1e6]), True),
        (lambda X: X, False),
        (lambda X: sparse.csr_array(X.astype(np.float32)), False),
        (lambda X: sparse.csr_array(X + 1e4), False),
        (lambda X: sparse.csr_array(X * 1e-12), False),
        (lambda X: sparse.csr_array(X * 1e12), False),
    ],
)
def test_where_single_precision_will_do(change, suits):
    X = change(np.random.default_rng(0).normal(size=(30, 3)))
    target = SparseTarget.from_labels(np.arange(30) % 3, 3, X.dtype)
    blocks = split_rows(X, target, np.ones(30, dtype=X.dtype))
    objective = LinearObjective(blocks, SOFTMAX_LOSS, l2=0.1)
    assert objective.suits_single_precision is suits


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_moments_of_rows_weighted_otherwise(container):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(30, 4)), rng.uniform(size=30)
    X[:, 1] = 0
    X[rng.random(X.shape) < 0.3] = 0
    target = SparseTarget.from_labels(np.arange(30) % 3, 3)
    objective = LinearObjective(
        split_rows(container(X), target, np.ones(30)), SOFTMAX_LOSS, l2=0.1
    )
    mean, deviation = objective.moments([weights])
    expected = np.average(X, axis=0, weights=weights)
    assert_allclose(mean, expected, atol=1e-15)
    variance = np.average((X - expected) ** 2, axis=0, weights=weights)
    assert_allclose(deviation, np.sqrt(variance), atol=1e-15)
