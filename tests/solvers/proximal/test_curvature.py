"""Second derivatives on a piece, against solutions of the whole system."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skprob.objective.composite._shrinkage import ColumnShrinkage, EntryShrinkage
from skprob.solvers.proximal._hessian_products import HessianProducts
from skprob.solvers.proximal._lbfgs_matrix import LBFGSMatrix
from skprob.solvers.proximal._piece_hessian import Piece, PieceHessian

KINDS = {"entries": EntryShrinkage, "columns": ColumnShrinkage}
SHAPE = 3, 5
THRESHOLDS = np.array([0.5, 0.3, 0.0, 1.0, 0.2])


def a_point(seed=0):
    """A point with a Hessian, and Gram matrices that are about its blocks."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(30, 15))
    hessian, ridge = factor.T @ factor / 30, np.full(5, 0.1)
    blocks = hessian.reshape(*SHAPE, *SHAPE)
    grams = np.array([blocks[k, :, k] for k in range(3)])
    square, total = np.einsum("kii->ki", grams), np.array([0.5, 1.0, 2.0])
    moments = (
        total,
        np.sqrt(square / total[:, None] / 4),
        square / total[:, None] * 0.75,
    )
    hessian = hessian + np.diag(np.tile(ridge, 3))
    return SimpleNamespace(
        ridge=ridge,
        hessian_product=lambda direction: hessian @ direction,
        curvature_moments=lambda: moments,
        grams=grams,
        whole=hessian,
    )


class OnMatrices:
    """The Hessian of a piece, as a function of matrices (M, size)."""

    def __init__(self, hessian, included, shrinkage, is_shift_invariant=False):
        some = np.ix_(included.ravel(), included.ravel())
        self._piece = Piece(included, shrinkage)
        self._curvature = PieceHessian(hessian[some], self._piece, is_shift_invariant)
        self.diagonal = self._piece.whole(self._curvature.diagonal)

    def product(self, direction):
        product = self._curvature.product(self._piece.taken(direction))
        return self._piece.whole(product)

    def newton_step(self, *matrices):
        *matrices, _ = matrices
        arrays = map(self._piece.taken, matrices)
        step = self._curvature.newton_step(*arrays, self._piece.shrinkage)
        return self._piece.whole(step)


def curvatures(point, shrinkage):
    yield OnMatrices(point.whole, np.ones(SHAPE, bool), shrinkage)
    for grams in None, point.grams, point.grams.mean(axis=0, keepdims=True):
        yield HessianProducts(point, SHAPE, grams, 1e-12, np.float64)


def newton_step(hessian, is_active, residual, second):
    """Minus the solution of the system of the active parameters."""
    some = is_active.ravel()
    step = np.zeros(15)
    matrix = (hessian + second)[np.ix_(some, some)]
    step[some] = -np.linalg.solve(matrix, residual.ravel()[some])
    return step.reshape(SHAPE)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_newton_steps_on_a_piece(kind):
    rng, point = np.random.default_rng(1), a_point()
    stepped = rng.normal(size=SHAPE)
    stepped[:, 3] = 0
    is_active = np.ones(SHAPE, bool)
    is_active[:, 3] = False
    second = np.zeros((15, 15))
    if kind is EntryShrinkage:
        is_active[0, :2] = False
        stepped = np.where(is_active, stepped, 0)
    else:
        # The Hessian of the norm of each column that is not zero.
        blocks = second.reshape(*SHAPE, *SHAPE)
        for j in 0, 1, 4:
            w = stepped[:, j]
            norm = np.linalg.norm(w)
            across = np.eye(3) - np.outer(w, w) / norm**2
            blocks[:, j, :, j] = THRESHOLDS[j] / norm * across
    residual = np.where(is_active, rng.normal(size=SHAPE), 0)
    expected = newton_step(point.whole, is_active, residual, second)
    for curvature in curvatures(point, kind(THRESHOLDS)):
        step = curvature.newton_step(is_active, residual, stepped, kind(THRESHOLDS))
        assert_allclose(step, expected, atol=1e-8)
        direction = rng.normal(size=SHAPE)
        product = point.whole @ direction.ravel()
        assert_allclose(curvature.product(direction).ravel(), product, atol=1e-12)
        assert curvature.diagonal.shape == SHAPE
    assert curvature.n_products > 0


@pytest.mark.parametrize("is_rough", [True, False])
def test_the_smallest_pivot_of_a_factor(is_rough):
    """One less the share of a column that the columns before it explain."""
    rng, shrinkage = np.random.default_rng(3), EntryShrinkage(np.ones(4))
    X = rng.normal(size=(50, 4))
    X[:, 3] = X[:, 0] + 0.01 * X[:, 3]
    hessian, everything = X.T @ X / 50, np.ones((1, 4), bool)
    piece = Piece(everything, shrinkage)
    curvature = PieceHessian(hessian, piece, False, is_rough=is_rough)
    residual = rng.normal(size=(1, 4))
    step = curvature.newton_step(everything, residual, everything, shrinkage)
    expected = -np.linalg.solve(hessian, residual[0])
    assert_allclose(step[0], expected, rtol=1e-2 if is_rough else 1e-5)
    # Single precision has another solution.
    error = np.abs(step[0] / expected - 1).max()
    assert bool(error > 1e-5) is is_rough
    residual = X[:, 3] - X[:, :3] @ np.linalg.lstsq(X[:, :3], X[:, 3])[0]
    share = residual @ residual / (X[:, 3] @ X[:, 3])
    assert curvature.least_pivot == pytest.approx(share, rel=1e-2)
    # A feature that is the sum of others has no share of its own.
    X[:, 3] = X[:, 0]
    curvature = PieceHessian(X.T @ X / 50, piece, False, is_rough=is_rough)
    curvature.newton_step(everything, residual, everything, shrinkage)
    assert curvature.least_pivot < 1e-6


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_conjugate_gradients_multiply_in_the_precision_of_the_plan(precision):
    """The model's own products remain in double precision."""
    rng, point, shrinkage = (
        np.random.default_rng(2),
        a_point(),
        EntryShrinkage(THRESHOLDS),
    )
    dtypes, hessian_product = [], point.hessian_product

    def watched(direction):
        dtypes.append(direction.dtype)
        return hessian_product(direction)

    point.hessian_product = watched
    curvature = HessianProducts(point, SHAPE, None, 1e-5, precision)
    everything, residual = np.ones(SHAPE, bool), rng.normal(size=SHAPE)
    step = curvature.newton_step(everything, residual, residual, shrinkage)
    assert len(dtypes) > 1
    assert set(dtypes) == {np.dtype(precision)}
    expected = -np.linalg.solve(point.whole, residual.ravel())
    assert_allclose(step.ravel(), expected, rtol=1e-3, atol=1e-4)
    curvature.product(step)
    assert dtypes[-1] == np.float64


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_hessian_of_some_parameters_stands_for_all(kind):
    """The others are zero, and do not move."""
    rng, point = np.random.default_rng(3), a_point()
    included = np.ones(SHAPE, bool)
    included[:, [1, 3]] = False
    if kind is EntryShrinkage:
        included[0, 4] = False
    hessian = point.whole
    curvature = OnMatrices(hessian, included, kind(THRESHOLDS))
    direction = np.where(included, rng.normal(size=SHAPE), 0)
    product = (hessian @ direction.ravel()).reshape(SHAPE)
    expected = np.where(included, product, 0)
    assert_allclose(curvature.product(direction), expected, atol=1e-12)
    is_active = included.copy()
    is_active[:, 0] = False
    stepped = np.where(is_active, rng.normal(size=SHAPE), 0)
    residual = np.where(is_active, rng.normal(size=SHAPE), 0)
    second = np.zeros((15, 15))
    if kind is ColumnShrinkage:
        w, blocks = stepped[:, 4], second.reshape(*SHAPE, *SHAPE)
        across = np.eye(3) - np.outer(w, w) / (w @ w)
        blocks[:, 4, :, 4] = THRESHOLDS[4] / np.linalg.norm(w) * across
    expected = newton_step(hessian, is_active, residual, second)
    step = curvature.newton_step(is_active, residual, stepped, kind(THRESHOLDS))
    assert_allclose(step, expected, atol=1e-8)


def test_a_hessian_without_an_inverse_is_damped():
    hessian = np.zeros((15, 15))
    hessian[:3, :3] = 1
    shrinkage, active = EntryShrinkage(THRESHOLDS), np.ones(SHAPE, bool)
    curvature = OnMatrices(hessian, np.ones(SHAPE, bool), shrinkage)
    residual = np.zeros(SHAPE)
    residual[0, :3] = 1
    step = curvature.newton_step(active, residual, np.ones(SHAPE), shrinkage)
    assert_allclose(hessian @ step.ravel(), -residual.ravel(), atol=1e-5)
    assert (curvature.diagonal > 0).all()


def test_lbfgs_is_the_update_written_out():
    rng, point = np.random.default_rng(2), a_point()
    hessian = point.whole
    steps = rng.normal(size=(4, 15))
    pairs = tuple((s, hessian @ s) for s in steps)
    matrix = LBFGSMatrix(point, SHAPE, pairs)
    matrix.forcing_term = 1e-12
    # BFGS from the scaled diagonal: Nocedal and Wright, equation (6.19).
    B = np.diag(hessian.diagonal())
    s, y = pairs[-1]
    B *= (y @ np.linalg.solve(B, y)) / (s @ y)
    for s, y in pairs:
        B = B - np.outer(B @ s, B @ s) / (s @ B @ s) + np.outer(y, y) / (s @ y)
    products = [matrix.product(e.reshape(SHAPE)).ravel() for e in np.eye(15)]
    assert_allclose(products, B, atol=1e-10)
    active, residual = np.ones(SHAPE, bool), rng.normal(size=SHAPE)
    shrinkage = EntryShrinkage(THRESHOLDS)
    step = matrix.newton_step(active, residual, np.ones(SHAPE), shrinkage)
    assert_allclose(B @ step.ravel(), -residual.ravel(), atol=1e-8)


def test_lbfgs_without_steps_is_the_diagonal():
    point = a_point()
    matrix = LBFGSMatrix(point, SHAPE, ())
    diagonal = np.diag(point.whole).reshape(SHAPE)
    assert_allclose(matrix.diagonal, diagonal)
    assert_allclose(matrix.product(np.ones(SHAPE)), diagonal)


def test_no_active_parameters(capfd):
    """In one output, or in all; LAPACK prints a message for a matrix without rows."""
    point, residual = a_point(), np.ones(SHAPE)
    shrinkage = EntryShrinkage(THRESHOLDS)
    for curvature in curvatures(point, shrinkage):
        for n_outputs in 1, 3:
            is_active = np.ones(SHAPE, bool)
            is_active[:n_outputs] = False
            stepped = np.where(is_active, 1.0, 0.0)
            step = curvature.newton_step(is_active, residual, stepped, shrinkage)
            assert not step[:n_outputs].any()
            assert step[n_outputs:].all()
    assert capfd.readouterr() == ("", "")


def test_equal_changes_of_a_column_get_a_curvature():
    """Along these a relative loss has none; they are no part of a step in others."""
    rng = np.random.default_rng(4)
    center = np.kron(np.eye(3) - 1 / 3, np.eye(5))
    factor = rng.normal(size=(30, 15)) @ center
    hessian, included = factor.T @ factor, np.ones(SHAPE, bool)
    included[1, 3] = False
    # Column 2 is free, and column 3 is not whole.
    shrinkage = EntryShrinkage(np.array([0.5, 0.3, 0.0, 1.0, 0.2]))
    second = np.zeros((15, 15))
    for j in 0, 1, 4:
        column = np.arange(3) * 5 + j
        second[np.ix_(column, column)] = hessian.diagonal()[column].max() / 3
    # The free column is given a curvature by the objective.
    column = np.arange(3) * 5 + 2
    hessian[np.ix_(column, column)] += 1 / 3
    curvature = OnMatrices(hessian, included, shrinkage, is_shift_invariant=True)
    residual = np.where(included, rng.normal(size=SHAPE), 0)
    expected = newton_step(hessian, included, residual, second)
    step = curvature.newton_step(included, residual, np.ones(SHAPE), shrinkage)
    assert_allclose(step, expected, atol=1e-8)


def test_each_step_by_conjugate_gradients_leaves_a_part_of_its_residual():
    point, shrinkage = a_point(), EntryShrinkage(THRESHOLDS)
    everything = np.ones(SHAPE, bool)
    residual = np.random.default_rng(2).normal(size=SHAPE)
    exact = HessianProducts(point, SHAPE, None, 1e-12, np.float64)
    exact.newton_step(everything, residual, residual, shrinkage)
    curvature = HessianProducts(point, SHAPE, None, 0.3, np.float64)
    for scale in 1, 1e-6:
        before = curvature.n_products
        rough = curvature.newton_step(everything, scale * residual, residual, shrinkage)
        assert 0 < curvature.n_products - before < exact.n_products / 2
        left = scale * residual + curvature.product(rough)
        squares = [np.sum(r**2 / curvature.diagonal) for r in (left, scale * residual)]
        assert squares[0] <= 0.3**2 * squares[1]
