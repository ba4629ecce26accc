"""Derivatives at a point against differences, and raw predictions along a step."""

import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit, softmax

from skprob._utils.tuning import Tuning
from skprob.data import LittleDesign, LocalBlocks
from skprob.losses import FenchelYoungLoss
from skprob.mappings import (
    Entmax,
    PerturbMax,
    Sigmoid,
    Softmax,
    Sparsemax,
    SparseSoftmax,
    Temperature,
)
from skprob.objective import LinearObjective, split_rows
from skprob.objective._linear_point import EvaluatedRay, LinearRay
from skprob.objective.little import LittleRay, is_little
from skprob.targets import DenseTarget, LabelTarget, as_target

from ..losses.cases import FENCHEL_YOUNG
from ..solvers.training_problems import classes, hessian_at, in_blocks
from .formulas import Problem, by_differences, gradient_at, value_only

SOFTMAX_LOSS = FenchelYoungLoss(Softmax())
SHAPES = [(2, True), (2, False), (3, True), (4, False)]
every_shape = pytest.mark.parametrize(("n_classes", "fit_intercept"), SHAPES)
every_mapping = pytest.mark.parametrize(
    "mapping", [Softmax(), Entmax(1.5), Sparsemax()], ids=repr
)


@every_mapping
def test_derivatives_are_those_of_differences(mapping):
    for n_classes, fit_intercept in SHAPES:
        problem, loss = Problem(n_classes), FenchelYoungLoss(mapping)
        objective = problem.objective(loss, fit_intercept=fit_intercept)
        x = objective.from_model(problem.coef, problem.intercept)
        value, gradient = objective.value_and_gradient(x)
        slope = by_differences(partial(value_only, objective), x, 1e-5)
        assert_allclose(gradient, slope, rtol=1e-5, atol=1e-6)
        point = objective.at(x)
        assert_allclose(point.value, value, rtol=1e-14)
        assert_allclose(point.gradient, gradient, rtol=1e-12, atol=1e-15)
        hessian = hessian_at(objective, x)
        slope = by_differences(partial(gradient_at, objective), x, 1e-6)
        largest = np.abs(hessian).max()
        assert_allclose(hessian, slope, rtol=1e-4, atol=2e-5 * largest)
        assert_allclose(hessian, hessian.T, rtol=1e-9, atol=1e-12 * largest)


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


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_without_curvature_are_no_part_of_the_hessian(n_classes):
    """Five of a hundred rows are near a boundary between classes."""
    rng = np.random.default_rng(0)
    X = 20 * np.eye(n_classes)[rng.integers(n_classes, size=100)]
    X += rng.normal(size=X.shape)
    X[:5] = rng.uniform(0, 0.3, size=(5, n_classes))
    target = LabelTarget(X.argmax(axis=1), n_classes)
    coef = np.eye(n_classes)
    coef = coef if n_classes > 2 else coef[1:] - coef[:1]
    for container in (np.asarray, sparse.csr_array):
        blocks = split_rows(container(X), target, rng.uniform(size=100))
        objective = LinearObjective(blocks, FenchelYoungLoss(Sparsemax()), l2=0.0)
        x = objective.from_model(coef, np.zeros(len(coef)))
        _, n_active = objective.at(x).total_curvature()
        assert n_active == 5
        slope = by_differences(partial(gradient_at, objective), x, 1e-7)
        assert_allclose(hessian_at(objective, x), slope, atol=1e-6)


def test_a_sample_of_the_rows_is_nearly_as_good_and_counts_heavy_rows():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(4000, 3)), rng.integers(3, size=4000)
    weight = 10.0 ** rng.uniform(-6, 6, 4000)
    target = LabelTarget(labels, 3)
    objective = LinearObjective(split_rows(X, target, weight), SOFTMAX_LOSS, l2=0.1)
    for x in (objective.initial(), 0.1 * rng.normal(size=objective.n_parameters)):
        at_x = objective.at(x)
        for by_output in (True, False):
            grams = at_x.sandwiches(by_output, 4000)
            drawn = at_x.sandwiches(by_output, 500)
            assert_array_equal(drawn, at_x.sandwiches(by_output, 500))
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


@pytest.mark.parametrize(
    "mapping", [Softmax(), Entmax(1.5), Sparsemax(), Entmax(2.5), Sigmoid()], ids=repr
)
@pytest.mark.parametrize("little", [True, False])
def test_the_hessian_in_single_precision_is_that_of_differences(mapping, little):
    """Products and Gram matrices of a copy of the rows, of all forms of a Hessian."""
    X, y = classes(3, n_samples=200)
    tuning = Tuning(most_standardised=10**6 if little else 0)
    blocks = split_rows(X, LabelTarget(y, 3), np.ones(len(y)), tuning=tuning)
    loss = FenchelYoungLoss(mapping)
    objective = LinearObjective(blocks, loss, l2=0.1, tuning=tuning)
    assert is_little(objective.blocks) == little
    rng = np.random.default_rng(0)
    x, direction = rng.normal(size=(2, objective.n_parameters))
    slope = by_differences(partial(gradient_at, objective), x, 1e-6)
    largest, point = np.abs(slope).max(), objective.at(x)
    single = point.hessian_product(direction.astype(np.float32))
    assert_allclose(single, slope @ direction, atol=1e-4 * largest)
    assert (single != point.hessian_product(direction)).any()
    grams = point.sandwiches(True, np.inf, dtype=np.float32)
    n_outputs, size = objective.shape
    blocks = slope.reshape(n_outputs, size, n_outputs, size)
    for k, gram in enumerate(grams):
        whole = gram + np.diag(point.ridge)
        assert_allclose(whole, blocks[k, :, k], atol=1e-4 * largest)
    assert (grams != point.sandwiches(True, np.inf)).any()


@pytest.mark.parametrize("little", [True, False])
def test_hessians_of_rows_nearer_to_their_targets_are_those_of_a_mixture(little):
    X, y = classes(3, n_samples=60)
    tuning = Tuning(most_standardised=10**6 if little else 0)
    blocks = split_rows(X, LabelTarget(y, 3), np.ones(len(y)), tuning=tuning)
    loss = FenchelYoungLoss(Softmax())
    objective = LinearObjective(blocks, loss, l2=0.1, tuning=tuning)
    assert is_little(objective.blocks) == little
    rng = np.random.default_rng(0)
    x, direction = rng.normal(size=(2, *objective.shape))
    mean, scale, _ = objective.units
    Z = np.column_stack([(X - mean) / scale, np.ones(len(X))])
    p = 0.75 * softmax(Z @ x.T, axis=1) + 0.25 * np.eye(3)[y]
    change = Z @ direction.T
    change -= (p * change).sum(axis=1, keepdims=True)
    expected = (p * change / len(X)).T @ Z
    expected[:, :-1] += 0.1 / scale**2 * direction[:, :-1]
    point = objective.at(x.ravel())
    nearer = point.towards_target(0.25)
    assert nearer.value == point.value
    product = nearer.hessian_product(direction.ravel())
    assert_allclose(product, expected.ravel(), rtol=1e-9, atol=1e-12)


@every_mapping
@every_shape
def test_all_second_derivatives_are_of_one_hessian(mapping, n_classes, fit_intercept):
    """Whole, by outputs, on average, and its diagonal by moments; at two points."""
    problem, loss = Problem(n_classes), FenchelYoungLoss(mapping)
    objective = problem.objective(loss, l2=0.1, fit_intercept=fit_intercept)
    n_outputs, size = objective.shape
    x = objective.from_model(problem.coef, problem.intercept)
    ridge = np.zeros((n_outputs, size))
    ridge[:, : len(objective.units.scale)] = 0.1 / objective.units.scale**2
    for parameters in (-2 * x, x):
        point, hessian = objective.at(parameters), hessian_at(objective, parameters)
        close = {"rtol": 1e-9, "atol": 1e-12 * np.abs(hessian).max()}
        whole = point.hessian()
        assert whole.shape == hessian.shape
        whole = whole.reshape(n_outputs, size, n_outputs, size).copy()
        if n_outputs > 1 and fit_intercept:
            # The same added to all intercepts is given a curvature.
            whole[:, -1, :, -1] -= 1 / n_outputs
        assert_allclose(whole.reshape(hessian.shape), hessian, **close)
        penalty = np.einsum("ki,ij->kij", ridge, np.eye(size))
        blocks = np.einsum("kikj->kij", whole) - penalty
        assert_allclose(point.sandwiches(True, 1000), blocks, **close)
        mean = blocks.mean(axis=0, keepdims=True)
        assert_allclose(point.sandwiches(False, 1000), mean, **close)
        assert_allclose(point.ridge, ridge[0])
        total, mean, variance = point.curvature_moments()
        diagonal = total[:, None] * (mean**2 + variance)
        assert_allclose(diagonal, np.einsum("kii->ki", blocks), **close)


@every_mapping
@every_shape
def test_the_hessian_of_some_parameters(mapping, n_classes, fit_intercept):
    problem, loss = Problem(n_classes), FenchelYoungLoss(mapping)
    rng = np.random.default_rng(0)
    for container in (np.asarray, sparse.csr_array):
        objective = problem.objective(
            loss, X=container(problem.X), l2=0.1, fit_intercept=fit_intercept
        )
        n_outputs, size = objective.shape
        x = objective.from_model(problem.coef, problem.intercept)
        mean, scale, _ = objective.units
        Z = (problem.X - mean) / scale
        Z = np.hstack([Z, np.ones((len(Z), size - Z.shape[1]))])
        weight, eye = problem.weight / problem.weight.sum(), np.eye(n_outputs)
        if n_outputs == 1:
            hessian = hessian_at(objective, x)
        else:
            # With s = p^(2 - α) on the support the Hessian of a row is diag(s) less
            # s sᵀ / Σs.
            intercept = problem.intercept if fit_intercept else 0.0
            p = mapping(problem.X @ problem.coef.T + intercept)
            s = np.where(p > 0, p ** (2 - getattr(mapping, "alpha", 1)), 0)
            total = s.sum(axis=1)[:, None, None]
            matrices = s[:, :, None] * (eye - s[:, None, :] / total)
            hessian = np.kron(eye, np.diag(objective.penalty.diagonal))
            if fit_intercept:
                intercepts = np.arange(n_outputs) * size + size - 1
                hessian[np.ix_(intercepts, intercepts)] += 1 / n_outputs
            hessian += np.einsum("n,nkm,na,nb->kamb", weight, matrices, Z, Z).reshape(
                hessian.shape
            )
        included = rng.uniform(size=(n_outputs, size)) < 0.6
        included[0, -1] = False
        some = np.ix_(included.ravel(), included.ravel())
        piece = objective.at(x).piece_hessian(included)
        close = {"rtol": 1e-9, "atol": 1e-12 * np.abs(hessian).max()}
        assert_allclose(piece, hessian[some], **close)
        everything = np.ones_like(included)
        whole = objective.at(x).hessian()
        assert_allclose(objective.at(x).piece_hessian(everything), whole, **close)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_hessian_of_some_parameters_of_sparse_rows(n_classes, fit_intercept):
    """For softmax, whose Hessian of a row is diag(p) - p pᵀ."""
    rng, n_rows, n_features = np.random.default_rng(0), 6000, 50
    X = rng.normal(size=(n_rows, n_features)) + 1
    X[rng.random(X.shape) > 0.04] = 0
    target = LabelTarget(rng.integers(n_classes, size=n_rows), n_classes)
    weight = rng.uniform(0.1, 2, n_rows)
    objective = LinearObjective(
        split_rows(sparse.csr_array(X), target, weight),
        FenchelYoungLoss(Softmax()),
        l2=0.1,
        fit_intercept=fit_intercept,
    )
    assert not is_little(objective.blocks)
    parameters = rng.normal(size=objective.shape) / 2
    mean, scale, _ = objective.units
    Z = (X - mean) / scale
    if fit_intercept:
        Z = np.column_stack([Z, np.ones(n_rows)])
    raw = Z @ parameters.T
    p = expit(raw) if n_classes == 2 else softmax(raw, axis=1)
    matrices = p[:, :, None] * (np.eye(p.shape[1]) - p[:, None, :])
    included = rng.uniform(size=objective.shape) < 0.5
    included[0, -1] = False
    outputs, columns = np.nonzero(included)
    weight = weight / weight.sum()
    expected = np.diag(objective.penalty.diagonal[columns])
    for k in range(len(included)):
        for m in range(len(included)):
            weights = weight * matrices[:, k, m]
            of_pair = np.ix_(outputs == k, outputs == m)
            first, second = Z[:, columns[outputs == k]], Z[:, columns[outputs == m]]
            expected[of_pair] += (first.T * weights) @ second
    piece = objective.at(parameters.ravel()).piece_hessian(included)
    assert_allclose(piece, expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("mapping", [Softmax(), Sparsemax(), Entmax(2.5)], ids=repr)
def test_the_hessian_of_some_rows_is_about_that_of_all(mapping):
    """For Hessians of rows of each form."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 4)) * [1, 3, 0.2, 1]
    target = LabelTarget(rng.integers(3, size=6000), n_classes=3)
    objective = LinearObjective(
        split_rows(X, target, rng.uniform(0.1, 2, 6000)),
        FenchelYoungLoss(mapping),
        l2=1e-3,
    )
    point = objective.at(rng.normal(size=objective.n_parameters) / 3)
    included = rng.uniform(size=objective.shape) < 0.8
    whole = point.piece_hessian(included)
    part = point.piece_hessian(included, 0.2)
    # Eigenvalues of the part in units of the whole are about one.
    ratios = np.linalg.eigvals(np.linalg.solve(whole, part)).real
    assert 0.8 < ratios.min() < 0.999
    assert 1.001 < ratios.max() < 1.25


def given_rows(n_classes, polytope, with_offset, with_available):
    """Arguments of `split_rows`, also with offsets and available classes."""
    rng = np.random.default_rng(n_classes)
    X, n_rows = rng.normal(size=(20, 3)) * [1, 5, 0.2] + [0, 2, 0], 20
    Q = rng.dirichlet(np.ones(n_classes), size=n_rows)
    Q[::3] = np.eye(n_classes)[rng.integers(n_classes, size=len(Q[::3]))]
    offset = available = None
    if with_offset:
        offset = rng.normal(size=(n_rows, n_classes))
    if with_available:
        available = rng.random((n_rows, n_classes)) < 0.7
        available[np.arange(n_rows), rng.integers(n_classes, size=n_rows)] = True
        Q = Q * available + 1e-3 * available
        Q /= Q.sum(axis=1, keepdims=True)
    if polytope == "cube":
        Q = Q / Q.max(axis=1, keepdims=True)
    target = as_target(Q, Q.shape, float, polytope)
    weight = rng.uniform(0.2, 2, n_rows)
    return {
        "X": X,
        "target": target,
        "weight": weight,
        "offset": offset,
        "available": available,
    }


#: Losses of shift-invariant and other scores, with each form of a Hessian of rows. The
#: values along a step are computed from nothing else of a mapping.
RAYS = [
    f"FenchelYoungLoss(mapping={mapping!r})"
    for mapping in (
        *(Softmax(), Entmax(), Sparsemax(), Entmax(2.5), Sigmoid()),
        *(SparseSoftmax(), PerturbMax(), Temperature(Sparsemax(), 0.5)),
    )
]
GIVEN = [(False, False), (True, False), (False, True), (True, True)]
# Little data and blocks of rows have points and rays of their own.
LITTLE_OR_NOT = pytest.mark.parametrize("little", [True, False])


def given_of(little):
    """Half of the pairs of a number of classes and GIVEN; the rest if not little."""
    pairs = enumerate(itertools.product((2, 4), GIVEN))
    return [pair for i, pair in pairs if (i // 4 + i) % 2 == little]


def objective_of(given, loss, little):
    """An objective whose points are those of little data, or of blocks."""
    blocks = split_rows(**given)
    blocks = blocks if little else LocalBlocks(blocks._blocks)
    objective = LinearObjective(blocks, loss, l2=0.1)
    assert is_little(objective.blocks) == little
    return objective


@LITTLE_OR_NOT
@pytest.mark.parametrize("loss", FENCHEL_YOUNG.values(), ids=FENCHEL_YOUNG)
def test_the_hessian_is_that_of_differences_of_the_gradient(loss, little):
    """For every mapping, with offsets, available classes, and two or more classes."""
    for n_classes, (with_offset, with_available) in given_of(little):
        given = given_rows(n_classes, loss.traits.polytope, with_offset, with_available)
        objective = objective_of(given, loss, little)
        x = np.random.default_rng(0).normal(size=objective.n_parameters) / 3
        hessian = objective.at(x).hessian()
        if objective.description.is_shift_invariant:
            size = objective.shape[1]
            # The same added to all intercepts is given a curvature.
            hessian[size - 1 :: size, size - 1 :: size] -= 1 / n_classes
        largest = np.abs(hessian).max()
        products = hessian_at(objective, x)
        assert_allclose(hessian, products, rtol=1e-8, atol=1e-10 * largest)
        slope = by_differences(partial(gradient_at, objective), x, 1e-6)
        assert_allclose(hessian, slope, rtol=1e-3, atol=1e-4 * largest)


class CountedDesign(LittleDesign):
    """A design that counts its products."""

    matvecs = rmatvecs = 0

    def matvec(self, coef, shift=None):
        CountedDesign.matvecs += 1
        return super().matvec(coef, shift)

    def rmatvec(self, residual):
        CountedDesign.rmatvecs += 1
        return super().rmatvec(residual)

    def take(self, rows):
        return CountedDesign(self.columns(rows))


def counted(block):
    design = block.design
    columns = design.matvec(np.eye(design.shape[1])).T
    return replace(block, design=CountedDesign(columns))


@every_mapping
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("cuts", [None, [], [4, 9]], ids=str)
def test_a_step_takes_half_a_pass_its_trials_none_and_its_end_half(
    mapping, n_classes, cuts
):
    problem = Problem(n_classes)
    target = as_target(problem.Q, problem.Q.shape, float)
    if cuts is None:  # One block of little data.
        blocks, n_blocks = split_rows(problem.X, target, problem.weight), 1
    else:
        blocks = in_blocks(problem.X, target, problem.weight, cuts)
        n_blocks = len(cuts) + 1
    objective = LinearObjective(blocks, FenchelYoungLoss(mapping), l2=0.1)
    objective.blocks = objective.blocks.map(counted)
    assert is_little(objective.blocks) == (cuts is None)
    x, step = np.random.default_rng(0).normal(size=(2, objective.n_parameters)) / 3

    def cost(function, *args):
        """Result of a function, passes, products with X, and with its transpose."""
        CountedDesign.matvecs = CountedDesign.rmatvecs = 0
        before = objective.passes
        result = function(*args)
        n_products = CountedDesign.matvecs, CountedDesign.rmatvecs
        assert not any(n % n_blocks for n in n_products)
        passes = objective.passes - before
        return result, passes, tuple(n // n_blocks for n in n_products)

    point, *work = cost(objective.at, x)
    assert work == [1, (1, 1)]
    ray, *work = cost(point.along, step)
    assert work == [0.5, (1, 0)]
    for length in (1.0, 0.1, 3.0):
        _, *work = cost(ray.trial, length)
        assert work == [0, (0, 0)]
    after, *work = cost(ray.arrive, 3.0)
    assert work == [0.5, (0, 1)]
    _, *work = cost(after.hessian_product, step)
    assert work == [1, (1, 1)]
    _, *work = cost(after.hessian)
    assert work == [1, (0, 0)]
    _, *work = cost(point.with_penalty_times, 2.0)
    assert work == [0, (0, 0)]
    # The first trial has another length than the last one.
    ray, *_ = cost(after.along, step)
    ray.trial(1.0)
    _, *work = cost(ray.arrive, 0.5)
    assert work == [0.5, (0, 1)]


@LITTLE_OR_NOT
@pytest.mark.parametrize("name", RAYS)
def test_value_and_slope_along_a_step_are_those_of_evaluations(name, little):
    loss = FENCHEL_YOUNG[name]
    for n_classes, (with_offset, with_available) in given_of(little):
        given = given_rows(n_classes, loss.traits.polytope, with_offset, with_available)
        objective = objective_of(given, loss, little)
        x, step = np.random.default_rng(0).normal(size=(2, objective.n_parameters)) / 3
        start = x.copy(), step.copy()
        ray = objective.at(x).along(step)
        assert type(ray) is (LittleRay if little else LinearRay)
        for length in (1.0, 0.1, 3.0):
            assert_trial(objective, ray, x, step, length)
        point = ray.arrive(3.0)
        assert_point(objective, point, x + 3.0 * step)
        # And from there on: raw predictions are sums of those of all steps.
        ray = point.along(-2.0 * step)
        assert_trial(objective, ray, x + 3.0 * step, -2.0 * step, 0.7)
        assert_point(objective, ray.arrive(0.25), x + 2.5 * step)
        assert_array_equal(x, start[0])
        assert_array_equal(step, start[1])


def assert_trial(objective, ray, x, step, length):
    """The trial agrees with an evaluation at the parameters, to rounding."""
    value, gradient = objective.value_and_gradient(x + length * step)
    value_and_slope = ray.trial(length)
    assert_allclose(value_and_slope[0], value, rtol=1e-12, atol=1e-14)
    scale = np.abs(gradient * step).sum()
    assert_allclose(
        value_and_slope[1], gradient @ step, rtol=1e-11, atol=1e-12 * (1 + scale)
    )


def assert_point(objective, point, x):
    """A point agrees with one that is computed anew, to rounding."""
    expected = objective.at(x)
    assert_allclose(point.parameters, x, rtol=1e-14, atol=1e-14)
    assert_allclose(point.value, expected.value, rtol=1e-12, atol=1e-14)
    assert_allclose(point.gradient, expected.gradient, rtol=1e-10, atol=1e-12)
    largest = np.abs(expected.hessian()).max()
    close = {"rtol": 1e-7, "atol": 1e-8 * largest}
    assert_allclose(point.hessian(), expected.hessian(), **close)


class RemoteBlocks(LocalBlocks):
    """Blocks in memory that count round trips, as if they were remote."""

    is_remote = True

    def __init__(self, blocks, n_trips):
        super().__init__(blocks)
        self.n_trips = n_trips

    def map(self, function, *args):
        return RemoteBlocks(super().map(function, *args)._blocks, self.n_trips)

    def sum(self, function, *args):
        self.n_trips.append(function)
        return super().sum(function, *args)


@every_mapping
def test_on_remote_blocks_a_trial_is_one_round_trip_and_its_end_none(mapping):
    problem = Problem(3)
    target = as_target(problem.Q, problem.Q.shape, float)
    parts = in_blocks(problem.X, target, problem.weight, [4, 9])._blocks
    blocks = RemoteBlocks(parts, [])
    objective = LinearObjective(blocks, FenchelYoungLoss(mapping), l2=0.1)
    x, step = np.random.default_rng(0).normal(size=(2, objective.n_parameters)) / 3
    point = objective.at(x)

    def cost(function, *args):
        before, n_before = objective.passes, len(blocks.n_trips)
        result = function(*args)
        return result, objective.passes - before, len(blocks.n_trips) - n_before

    ray, *work = cost(point.along, step)
    assert type(ray) is EvaluatedRay
    assert work == [0, 0]
    for length in (1.0, 0.1):
        _, *work = cost(ray.trial, length)
        assert work == [1, 1]
        # The same numbers as those of an evaluation, to the last bit.
        value, gradient = objective.value_and_gradient(x + length * step)
        assert_array_equal(ray.trial(length), (value, gradient @ step))
    after, *work = cost(ray.arrive, 0.1)
    assert work == [0, 0]
    assert_array_equal(after.parameters, x + 0.1 * step)
    _, *work = cost(ray.arrive, 0.7)
    assert work == [1, 1]


def test_a_penalty_times_a_factor_is_that_objective():
    problem = Problem(3)
    objective = problem.objective(SOFTMAX_LOSS, l2=0.1)
    x = objective.from_model(problem.coef, problem.intercept)
    point = objective.at(x)
    before = point.value, point.gradient.copy()
    for factor in (0.5, 10.0):
        other, expected = (
            point.with_penalty_times(factor),
            objective.with_l2(0.1 * factor),
        )
        assert_point(expected, other, x)
        assert_allclose(other.ridge, expected.penalty.diagonal)
    assert point.value == before[0]
    assert_array_equal(point.gradient, before[1])


@pytest.mark.parametrize("little", [True, False])
@pytest.mark.parametrize("kind", ["two classes", "three classes", "label sets"])
def test_tails_along_a_step_are_left_out(kind, little):
    """Against NumPy: probabilities at both ends, and losses of fewer classes."""
    rng = np.random.default_rng(3)
    X, weight, M = rng.normal(size=(40, 3)), rng.uniform(0.5, 2, 40), 3
    X[:5] *= 3
    if kind == "label sets":
        q, loss = rng.integers(0, 2, (40, 3)).astype(float), FenchelYoungLoss(Sigmoid())
        target = DenseTarget(q)
    else:
        K, loss = 2 if kind == "two classes" else 3, SOFTMAX_LOSS
        y, M = rng.integers(0, K, 40), 1 if K == 2 else 3
        q, target = np.eye(K)[y], LabelTarget(y, n_classes=K)
    blocks = split_rows(X, target, weight)
    if not little:
        blocks = in_blocks(X, target, weight, [7, 25])
    objective = LinearObjective(blocks, loss, l2=0.01)
    assert is_little(objective.blocks) == little
    model = rng.normal(size=(M, 3)), rng.normal(size=M)
    change = rng.normal(size=(M, 3)), np.zeros(M)
    x = objective.from_model(*model)
    step = objective.from_model(*(a + b for a, b in zip(model, change, strict=True)))
    step -= x

    def scores(coef, intercept):
        raw = X @ coef.T + intercept
        return np.hstack([-raw / 2, raw / 2]) if M == 1 else raw

    z, dz, share = scores(*model), scores(*change), (weight / weight.sum())[:, None]
    if kind == "label sets":
        before, after = expit(z), expit(z + dz)
        expected = (before * (1 - before) * dz**2).sum(axis=1)
        losses = np.where(q == 1, -np.log(before), -np.log1p(-before))
    else:
        before, after = softmax(z, axis=1), softmax(z + dz, axis=1)
        expected = (before * dz**2).sum(axis=1) - (before * dz).sum(axis=1) ** 2
    is_flat = ((after - before) * dz).sum(axis=1) < 0.9 * expected
    is_tail = is_flat[:, None] & (np.abs(after - q) < 0.9 * np.abs(before - q))
    if kind == "label sets":
        lost, residual = (
            (share * losses)[is_tail].sum(),
            np.where(is_tail, 0, before - q),
        )
    else:
        is_tail &= q == 0
        remaining = np.where(is_tail, 0, before)
        total = remaining.sum(axis=1, keepdims=True)
        lost, residual = -(share * np.log(total)).sum(), remaining / total - q
    assert 3 < is_tail.sum() < 37
    point = objective.at(x)
    loss_of_tails, others = point.without_tails(step)
    assert_allclose(loss_of_tails, lost, rtol=1e-10)
    assert_allclose(others.value, point.value - lost, rtol=1e-12)
    mean, scale, _ = objective.units
    design = np.column_stack([(X - mean) / scale, np.ones(40)])
    residual = share * residual
    if M == 1:
        residual = residual[:, 1:] / 2 - residual[:, :1] / 2
    matrix = x.reshape(objective.shape)
    gradient = residual.T @ design + objective.penalty.product(matrix)
    assert_allclose(others.gradient, gradient.ravel(), rtol=1e-9, atol=1e-14)
    assert point.without_tails(1e-6 * step) == (0, None)


@every_mapping
def test_what_is_not_kept_is_made_anew(mapping):
    problem = Problem(3)
    objective = problem.objective(FenchelYoungLoss(mapping))
    x = np.linspace(-1, 1, objective.n_parameters)
    kept, made = objective.at(x), objective.curvature_at(x)
    assert_allclose(made.sandwiches(True, 100), kept.sandwiches(True, 100), rtol=1e-12)
    for one, other in zip(
        made.curvature_moments(), kept.curvature_moments(), strict=True
    ):
        assert_allclose(one, other, rtol=1e-12)


def test_sums_leave_a_point_as_it_is():
    problem = Problem(3)
    target = as_target(problem.Q, problem.Q.shape, float)
    blocks = in_blocks(problem.X, target, problem.weight, [4, 9])
    objective = LinearObjective(blocks, SOFTMAX_LOSS, l2=0.1)
    x = np.linspace(-1, 1, objective.n_parameters)
    point = objective.at(x)
    for compute in (
        lambda: point.hessian_product(x),
        point.hessian,
        lambda: point.sandwiches(True, 100),
        lambda: point.along(x).trial(0.5),
    ):
        assert_array_equal(compute(), compute())
    assert_array_equal(objective.at(x).gradient, point.gradient)
    # Value, gradient and parameters stay, whatever point takes the rows' numbers.
    before = point.value, point.gradient.copy(), point.parameters.copy()
    point.along(x).arrive(0.5)
    for one, other in zip(
        (point.value, point.gradient, point.parameters), before, strict=True
    ):
        assert_array_equal(one, other)


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0])
def test_a_hessian_product_of_wide_rows_is_the_difference_of_gradients(alpha):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1300, 210)), rng.integers(3, size=1300)
    target = LabelTarget(y, n_classes=3)
    blocks = split_rows(X, target, rng.uniform(0.5, 2, size=1300))
    objective = LinearObjective(blocks, FenchelYoungLoss(Entmax(alpha)), l2=1e-3)
    x, direction = rng.normal(size=(2, objective.n_parameters)) / 30
    point, step = objective.at(x), 1e-5
    ahead = objective.value_and_gradient(x + step * direction)[1]
    behind = objective.value_and_gradient(x - step * direction)[1]
    difference, product = (
        (ahead - behind) / (2 * step),
        point.hessian_product(direction),
    )
    assert_allclose(product, difference, rtol=1e-6, atol=1e-6 * abs(product).max())
