"""The objective of the linear model against its formula, and its derivatives."""

import itertools
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skprob._pair import n_raw_predictions
from skprob.losses import AccuracyLoss, FenchelYoungLoss, LogLoss
from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.objective import LinearObjective, split_rows
from skprob.objective._block import BlockState
from skprob.targets import SmoothedTarget, SparseTarget, as_target

from ..losses.cases import LOSSES, MAPPINGS
from ..solvers.problems import hessian_at, in_blocks, value_at

SOFTMAX_LOSS = FenchelYoungLoss(Softmax())
SHAPES = [(2, True), (2, False), (3, True), (4, False)]
every_shape = pytest.mark.parametrize(("n_classes", "fit_intercept"), SHAPES)
every_mapping = pytest.mark.parametrize(
    "mapping", [Softmax(), Entmax(1.5), Sparsemax()], ids=repr
)


class Problem:
    """Data with rows of every kind of target, and the objective written out."""

    def __init__(
        self, n_classes, *, n_samples=15, n_features=4, seed=0, polytope="simplex"
    ):
        rng = np.random.default_rng(seed)
        self.X = rng.normal(size=(n_samples, n_features)) * [1, 10, 0.1, 1]
        self.X[rng.random(self.X.shape) < 0.4] = 0
        self.X[:, 3] += 5
        Q = rng.dirichlet(np.ones(n_classes), size=n_samples)
        Q[::3] = np.eye(n_classes)[rng.integers(n_classes, size=len(Q[::3]))]
        self.Q = Q
        self.weight = rng.uniform(0.2, 3, n_samples)
        self.weight[[1, 4]] = 0
        self.n_outputs = n_raw_predictions(n_classes, polytope)
        self.coef = rng.normal(size=(self.n_outputs, n_features)) / 4
        self.intercept = rng.normal(size=self.n_outputs) / 2

    def objective(self, loss, *, X=None, l2=0.1, fit_intercept=True, target=None):
        X = self.X if X is None else X
        target = target or as_target(self.Q, self.Q.shape, X.dtype)
        blocks = split_rows(X, target, self.weight)
        return LinearObjective(blocks, loss, l2=l2, fit_intercept=fit_intercept)

    def scores(self, fit_intercept=True):
        """Those of the model, (-u/2, +u/2) with one output."""
        scores = self.X @ self.coef.T + self.intercept * fit_intercept
        return scores if self.n_outputs > 1 else np.hstack([-scores / 2, scores / 2])

    def formula(self, loss, *, l2=0.1, fit_intercept=True):
        """Σ s ℓ / Σ s + ½ l2 ‖W‖²."""
        losses = loss.value(self.scores(fit_intercept), self.Q)
        value = np.average(losses, weights=self.weight)
        return value + l2 / 2 * (self.coef**2).sum()

    def slope(self, loss, *, l2=0.1, fit_intercept=True):
        """Its gradient in the coefficients and in the intercepts."""
        _, residual = loss.value_and_gradient(self.scores(fit_intercept), self.Q)
        if self.n_outputs == 1:
            residual = (residual[:, 1:] - residual[:, :1]) / 2
        residual = residual * (self.weight / self.weight.sum())[:, None]
        return residual.T @ self.X + l2 * self.coef, residual.sum(axis=0)


def in_model(objective, gradient):
    """A gradient in parameters as one in coefficients and intercepts."""
    mean, scale, fit_intercept = objective.units
    rows = gradient.reshape(objective.shape)
    if not fit_intercept:
        return rows * scale, np.zeros(len(rows))
    return rows[:, :-1] * scale + np.outer(rows[:, -1], mean), rows[:, -1]


def value_only(objective, x):
    return objective.value_and_gradient(x)[0]


def gradient_at(objective, x):
    return objective.value_and_gradient(x)[1]


def by_differences(function, point, step):
    moves = step * np.eye(len(point))
    return np.array(
        [(function(point + m) - function(point - m)) / (2 * step) for m in moves]
    )


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_value_and_gradient_are_those_of_the_formula(mapping):
    """For every loss of the registry through the mapping."""
    losses = [loss for loss in LOSSES.values() if repr(loss.mapping) == mapping]
    assert losses
    shapes = (2, True), (3, False)
    for loss, (n_classes, fit_intercept) in itertools.product(losses, shapes):
        problem = Problem(n_classes, polytope=loss.polytope)
        objective = problem.objective(loss, fit_intercept=fit_intercept)
        x = objective.from_model(problem.coef, problem.intercept)
        value, gradient = objective.value_and_gradient(x)
        expected = problem.formula(loss, fit_intercept=fit_intercept)
        assert_allclose(value, expected, rtol=1e-12)
        expected = problem.slope(loss, fit_intercept=fit_intercept)
        coef, intercept = in_model(objective, gradient)
        assert_allclose(coef, expected[0], rtol=1e-9, atol=1e-12)
        assert_allclose(intercept, expected[1] * fit_intercept, rtol=1e-9, atol=1e-12)


@every_mapping
def test_derivatives_are_those_of_differences(mapping):
    for n_classes, fit_intercept in SHAPES:
        problem, loss = Problem(n_classes), FenchelYoungLoss(mapping)
        objective = problem.objective(loss, fit_intercept=fit_intercept)
        x = objective.from_model(problem.coef, problem.intercept)
        value, gradient = objective.value_and_gradient(x)
        slope = by_differences(partial(value_only, objective), x, 1e-5)
        assert_allclose(gradient, slope, rtol=1e-5, atol=1e-6)
        there = objective.at(x)
        assert_allclose(there.values, [value], rtol=1e-14)
        assert_allclose(there.gradients, [gradient], rtol=1e-12, atol=1e-15)
        hessian = hessian_at(objective, x)
        slope = by_differences(partial(gradient_at, objective), x, 1e-6)
        largest = np.abs(hessian).max()
        assert_allclose(hessian, slope, rtol=1e-4, atol=2e-5 * largest)
        assert_allclose(hessian, hessian.T, rtol=1e-9, atol=1e-12 * largest)


@every_mapping
@every_shape
def test_all_second_derivatives_are_of_one_hessian(mapping, n_classes, fit_intercept):
    """Whole, by outputs, on average, and its diagonal by moments; at two points."""
    problem, loss = Problem(n_classes), FenchelYoungLoss(mapping)
    objective = problem.objective(loss, l2=0.1, fit_intercept=fit_intercept)
    n_outputs, size = objective.shape
    x = objective.from_model(problem.coef, problem.intercept)
    points = np.array([x, 0 * x, -2 * x])
    ridge = np.zeros((n_outputs, size))
    ridge[:, : len(objective.units.scale)] = 0.1 / objective.units.scale**2
    whole = objective.linearize(points, (0, 0, 0)).hessians(np.array([2, 0]))
    assert whole.shape == (2, n_outputs * size, n_outputs * size)
    for point, found in ((points[2], whole[0]), (points[0], whole[1])):
        hessian, there = hessian_at(objective, point), objective.at(point)
        close = {"rtol": 1e-9, "atol": 1e-12 * np.abs(hessian).max()}
        found = found.reshape(n_outputs, size, n_outputs, size).copy()
        if n_outputs > 1 and fit_intercept:
            # The same added to all intercepts is given a curvature.
            found[:, -1, :, -1] -= 1 / n_outputs
        assert_allclose(found.reshape(hessian.shape), hessian, **close)
        blocks = np.einsum("kikj->kij", found) - np.einsum(
            "ki,ij->kij", ridge, np.eye(size)
        )
        assert_allclose(there.sandwiches(True, 1000), blocks, **close)
        mean = blocks.mean(axis=0, keepdims=True)
        assert_allclose(there.sandwiches(False, 1000), mean, **close)
        assert_allclose(there.ridge, ridge[0])
        total, center, deviation = there.moments()
        diagonal = total * (center**2 + deviation**2)
        assert_allclose(diagonal, np.diag(mean[0]), **close)


def test_a_formula_of_the_hessian_of_softmax():
    problem = Problem(3)
    objective = problem.objective(SOFTMAX_LOSS, l2=0.0)
    x = objective.from_model(problem.coef, problem.intercept)
    z = np.exp(problem.scores())
    p = z / z.sum(axis=1, keepdims=True)
    jacobian = np.einsum("nk,kl->nkl", p, np.eye(3)) - np.einsum("nk,nl->nkl", p, p)
    mean, scale, _ = objective.units
    A = np.hstack([(problem.X - mean) / scale, np.ones((len(p), 1))])
    share = problem.weight / problem.weight.sum()
    expected = np.einsum("n,nkl,ni,nj->kilj", share, jacobian, A, A)
    assert_allclose(hessian_at(objective, x), expected.reshape(15, 15), atol=1e-14)


@every_mapping
@pytest.mark.parametrize("n_classes", [2, 4])
def test_several_points_and_penalties_at_once_are_each_alone(mapping, n_classes):
    problem, loss = Problem(n_classes), FenchelYoungLoss(mapping)
    strengths = np.array([0.1, 2.0, 0.0])
    together = problem.objective(loss).with_l2(strengths)
    points = np.random.default_rng(0).normal(size=(4, together.n_parameters))
    points[1] = 0
    which = np.array([2, 0, 1, 1])
    values, gradients = together.value_and_gradient(points, which)
    there = together.linearize(points, which)
    hessians = there.hessians(np.arange(4))
    for k, l2 in enumerate(strengths[which]):
        alone = problem.objective(loss).with_l2(l2)
        value, gradient = alone.value_and_gradient(points[k])
        for found in (values, there.values):
            assert_allclose(found[k], value, rtol=1e-13)
        for found in (gradients, there.gradients):
            assert_allclose(found[k], gradient, rtol=1e-11, atol=1e-14)
        (hessian,) = alone.linearize(points[k : k + 1]).hessians(np.array([0]))
        assert_allclose(hessians[k], hessian, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("loss", [SOFTMAX_LOSS, FenchelYoungLoss("sparsemax")], ids=str)
def test_any_cut_into_blocks_gives_the_same_sums(container, loss):
    problem = Problem(3)
    X, target = container(problem.X), as_target(problem.Q, problem.Q.shape, float)
    whole = problem.objective(loss, X=X)
    rng = np.random.default_rng(0)
    x, direction = rng.normal(size=(2, whole.n_parameters)) / 3

    def figures(objective):
        there = objective.at(x)
        return [
            *objective.units[:2],
            objective.constant,
            objective.value_at_zero,
            *objective.value_and_gradient(x),
            there.values,
            there.gradients,
            there.hessian_product(direction),
            there.hessians(np.array([0])),
            there.sandwiches(True, 100),
            *there.moments(),
            *objective.target_sums,
            objective.duality_gap(0, x, *objective.value_and_gradient(x)),
        ]

    # The second row has no weight: it may be a block of its own.
    for cuts in ([1, 2, 7, 8], [5], list(range(1, 15))):
        blocks = in_blocks(X, target, problem.weight, cuts)
        cut = LinearObjective(blocks, loss, l2=0.1)
        assert cut.description == whole.description
        for one, other in zip(figures(cut), figures(whole), strict=True):
            assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_a_state_can_be_asked_twice():
    """Sums take nothing away from the blocks, and add nothing to them."""
    problem = Problem(3)
    target = as_target(problem.Q, problem.Q.shape, float)
    blocks = in_blocks(problem.X, target, problem.weight, [4, 9])
    objective = LinearObjective(blocks, SOFTMAX_LOSS, l2=0.1)
    x = np.linspace(-1, 1, objective.n_parameters)
    there, states = (
        objective.at(x),
        objective.mean_loss_states(x.reshape(1, 3, 5), keep=True)[0],
    )
    for ask in (
        lambda: there.hessian_product(x),
        lambda: there.hessians(np.array([0])),
        lambda: there.sandwiches(True, 100),
        lambda: states.sum(BlockState.value_and_gradient)[1],
    ):
        assert_array_equal(ask(), ask())
    assert_array_equal(objective.at(x).gradients, there.gradients)


@every_mapping
def test_what_is_not_kept_is_made_anew(mapping):
    problem = Problem(3)
    objective = problem.objective(FenchelYoungLoss(mapping))
    x = np.linspace(-1, 1, objective.n_parameters)[None]
    kept, made = objective.linearize(x), objective.linearize(x, keep=False)
    assert_allclose(made.sandwiches(True, 100), kept.sandwiches(True, 100), rtol=1e-12)
    for one, other in zip(made.moments(), kept.moments(), strict=True):
        assert_allclose(one, other, rtol=1e-12)


def layouts(X):
    return {
        "F": np.asfortranarray(X),
        "csr": sparse.csr_array(X),
        "csr_matrix": sparse.csr_matrix(X),
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_layout_and_type_of_X_do_not_matter(dtype, n_classes):
    """Nor how the target is stored: numbers that are exact in both types."""
    problem = Problem(n_classes)
    problem.X = np.round(problem.X * 16) / 16
    tolerance = 1e-11 if dtype == np.float64 else 1e-4
    sparse_target = as_target(
        sparse.csr_array(problem.Q.astype(dtype)), problem.Q.shape, dtype
    )
    for loss in (SOFTMAX_LOSS, FenchelYoungLoss(Entmax(1.5)), LogLoss(Softmax())):
        expected = problem.formula(loss)
        slopes = problem.slope(loss)
        for name, X in layouts(problem.X.astype(dtype)).items():
            for target in (None, sparse_target):
                objective = problem.objective(loss, X=X, target=target)
                x = objective.from_model(problem.coef, problem.intercept)
                value, gradient = objective.value_and_gradient(x)
                assert gradient.dtype == np.float64
                assert_allclose(value, expected, rtol=tolerance, err_msg=name)
                for got, wanted in zip(
                    in_model(objective, gradient), slopes, strict=True
                ):
                    assert_allclose(got, wanted, atol=20 * tolerance, err_msg=name)


def test_label_sets_and_smoothed_labels_are_their_distributions():
    problem = Problem(4)
    sets = SparseTarget(
        np.arange(0, 31, 2), np.tile([0, 1, 1, 3], 8)[:30], np.full(30, 0.5), 4
    )
    labels = SparseTarget.from_labels(np.arange(15) % 4, 4)
    for target in (
        sets,
        labels,
        SmoothedTarget(labels, 0.2),
        SmoothedTarget(sets, 0.2),
    ):
        problem.Q = target.to_dense(float)
        assert_allclose(problem.Q.sum(axis=1), 1)
        objective = problem.objective(SOFTMAX_LOSS, target=target)
        x = objective.from_model(problem.coef, problem.intercept)
        value, gradient = objective.value_and_gradient(x)
        assert_allclose(value, problem.formula(SOFTMAX_LOSS), rtol=1e-12)
        coef, intercept = in_model(objective, gradient)
        slopes = problem.slope(SOFTMAX_LOSS)
        assert_allclose(coef, slopes[0], rtol=1e-9)
        assert_allclose(intercept, slopes[1], rtol=1e-9)


def test_weights_are_relative_and_zero_is_absence():
    problem = Problem(3)
    objective = problem.objective(SOFTMAX_LOSS)
    x = objective.from_model(problem.coef, problem.intercept)
    value, gradient = objective.value_and_gradient(x)
    problem.weight *= 1000
    kept = problem.weight > 0
    scaled = problem.objective(SOFTMAX_LOSS)
    problem.X, problem.Q = problem.X[kept], problem.Q[kept]
    problem.weight = problem.weight[kept]
    for other in (scaled, problem.objective(SOFTMAX_LOSS)):
        assert_allclose(other.value_and_gradient(x)[0], value, rtol=1e-13)
        assert_allclose(other.value_and_gradient(x)[1], gradient, atol=1e-14)


def test_the_value_at_zero_is_that_of_equal_scores():
    problem = Problem(3)
    for loss in (SOFTMAX_LOSS, FenchelYoungLoss(Sparsemax()), AccuracyLoss(Softmax())):
        objective = problem.objective(loss)
        expected, _ = objective.value_and_gradient(np.zeros(objective.n_parameters))
        assert_allclose(objective.value_at_zero, expected, rtol=1e-14)


def test_another_penalty_or_loss_is_that_objective():
    problem = Problem(3)
    entmax = FenchelYoungLoss(Entmax(1.5))
    objective = problem.objective(SOFTMAX_LOSS, l2=0.1)
    x = objective.from_model(problem.coef, problem.intercept)
    before = objective.value_at_zero, *objective.value_and_gradient(x)
    for other, loss, l2 in (
        (objective.with_l2(3.0), SOFTMAX_LOSS, 3.0),
        (objective.with_l2(0.0), SOFTMAX_LOSS, 0.0),
        (objective.with_loss(entmax), entmax, 0.1),
        (objective.with_loss(entmax).with_l2(3.0), entmax, 3.0),
        (objective.with_l2(3.0).with_loss(entmax), entmax, 3.0),
    ):
        value, gradient = other.value_and_gradient(x)
        assert_allclose(value, problem.formula(loss, l2=l2), rtol=1e-12)
        expected = problem.slope(loss, l2=l2)
        for one, wanted in zip(in_model(other, gradient), expected, strict=True):
            assert_allclose(one, wanted, rtol=1e-9, atol=1e-12)
        at_zero, _ = other.value_and_gradient(np.zeros_like(x))
        assert_allclose(other.value_at_zero, at_zero)
        assert other.has_penalty == (l2 > 0)
        assert other.loss is loss
        assert other.description == problem.objective(loss, l2=l2).description
        assert_allclose(hessian_at(other, x), hessian_at(other, x).T, atol=1e-12)
    # The first is as it was.
    assert (objective.value_at_zero, *objective.value_and_gradient(x)[:1]) == before[:2]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_parameters_are_those_of_a_model(n_classes, fit_intercept):
    problem = Problem(n_classes)
    objective = problem.objective(SOFTMAX_LOSS, fit_intercept=fit_intercept)
    assert objective.coef_shape == problem.coef.shape
    x = objective.from_model(problem.coef, problem.intercept)
    assert x.shape == (objective.n_parameters,)
    coef, intercept = objective.to_model(x)
    assert_allclose(coef, problem.coef, rtol=1e-12)
    expected = problem.intercept * fit_intercept
    if n_classes > 2:
        # Those of relative scores sum to zero.
        expected = expected - expected.mean()
    assert_allclose(intercept, expected, rtol=1e-12, atol=1e-12)


def test_what_is_free_is_zero_on_average():
    problem = Problem(3)
    for l2, loss, centred in (
        (0.0, SOFTMAX_LOSS, True),
        (0.1, SOFTMAX_LOSS, False),
        (0.0, LOSSES["LogLoss(mapping=TaylorSoftmax())"], False),
    ):
        objective = problem.objective(loss, l2=l2)
        x = objective.from_model(problem.coef, problem.intercept)
        coef, intercept = objective.to_model(x)
        assert np.allclose(coef.mean(axis=0), 0, atol=1e-12) == centred
        is_relative = loss is SOFTMAX_LOSS
        assert np.allclose(intercept.mean(), 0, atol=1e-12) == is_relative
        # Nothing that matters has changed.
        value, _ = objective.value_and_gradient(objective.from_model(coef, intercept))
        assert_allclose(value, objective.value_and_gradient(x)[0], rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_without_curvature_are_no_part_of_the_hessian(n_classes):
    """Of a hundred rows five are near a boundary between classes."""
    rng = np.random.default_rng(0)
    X = 20 * np.eye(n_classes)[rng.integers(n_classes, size=100)]
    X += rng.normal(size=X.shape)
    X[:5] = rng.uniform(0, 0.3, size=(5, n_classes))
    target = SparseTarget.from_labels(X.argmax(axis=1), n_classes)
    coef = np.eye(n_classes)
    coef = coef if n_classes > 2 else coef[1:] - coef[:1]
    for container in (np.asarray, sparse.csr_array):
        blocks = split_rows(container(X), target, rng.uniform(size=100))
        objective = LinearObjective(blocks, FenchelYoungLoss("sparsemax"), l2=0.0)
        x = objective.from_model(coef, np.zeros(len(coef)))
        _, n_active = objective.at(x).total_curvature()
        assert n_active == 5
        slope = by_differences(partial(gradient_at, objective), x, 1e-7)
        assert_allclose(hessian_at(objective, x), slope, atol=1e-6)


def test_a_sample_of_the_rows_is_nearly_as_good_and_counts_heavy_rows():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(4000, 3)), rng.integers(3, size=4000)
    weight = 10.0 ** rng.uniform(-6, 6, 4000)
    target = SparseTarget.from_labels(labels, 3)
    objective = LinearObjective(split_rows(X, target, weight), SOFTMAX_LOSS, l2=0.1)
    for x in (objective.initial(), 0.1 * rng.normal(size=objective.n_parameters)):
        there = objective.at(x)
        for by_output in (True, False):
            grams = there.sandwiches(by_output, 4000)
            drawn = there.sandwiches(by_output, 500)
            assert_array_equal(drawn, there.sandwiches(by_output, 500))
            assert not np.allclose(grams, drawn, rtol=1e-9, atol=0)
            for gram, other in zip(grams, drawn, strict=True):
                values = np.linalg.eigvals(np.linalg.solve(gram, other)).real
                assert 0.7 < values.min() <= values.max() < 1.4


@pytest.mark.parametrize("n_classes", [2, 5])
def test_directions_in_single_precision_are_multiplied_in_it(n_classes):
    problem = Problem(n_classes, n_samples=40)
    for container in (np.asarray, sparse.csr_array):
        objective = problem.objective(SOFTMAX_LOSS, X=container(problem.X))
        x, direction = np.random.default_rng(0).normal(size=(2, objective.n_parameters))
        product = objective.at(x).hessian_product
        double = product(direction)
        single = product(direction.astype(np.float32))
        assert_allclose(single, double, rtol=1e-4, atol=1e-5)
        assert (single != double).any()


def test_passes_over_the_data_are_counted():
    objective = Problem(3).objective(SOFTMAX_LOSS)
    x = np.linspace(-1, 1, objective.n_parameters)
    for n_passes, work in (
        (1, lambda: objective.value_and_gradient(x)),
        (1, lambda: objective.at(x)),
        (2, lambda: objective.at(x).hessian_product(x)),
        (1, lambda: objective.with_l2(2.0).value_and_gradient(x)),
    ):
        before = objective.passes
        work()
        assert objective.passes - before == n_passes
