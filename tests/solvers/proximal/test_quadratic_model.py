"""The minimum of a quadratic model plus a shrinkage, against accelerated steps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skprob.objective.composite._shrinkage import ColumnShrinkage, EntryShrinkage
from skprob.solvers.proximal._piece_hessian import Piece, PieceHessian
from skprob.solvers.proximal._quadratic_model import minimise_model

KINDS = {"entries": EntryShrinkage, "columns": ColumnShrinkage}
SHAPE = 3, 6
THRESHOLDS = np.array([0.5, 0.3, 1.0, 0.0, 0.4, 2.0])


def quadratic(rank, seed=0):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(18, rank))
    # Correlated: curvatures of three decades.
    hessian = (factor * np.logspace(-1, 0, rank) ** 2) @ factor.T + 1e-2 * np.eye(18)
    gradient = (hessian @ rng.normal(size=18)).reshape(SHAPE)
    return hessian, rng.normal(size=SHAPE), gradient + rng.normal(size=SHAPE)


def minimised(hessian, shrinkage, start, gradient, **limits):
    """The minimum of a model, as a matrix."""
    piece = Piece(np.ones(start.shape, bool), shrinkage)
    curvature = PieceHessian(hessian, piece, is_shift_invariant=False)
    arrays = piece.taken(start), piece.taken(gradient)
    model = minimise_model(curvature, piece.shrinkage, *arrays, **limits)
    return piece.whole(model.parameters)


def model_value(kind, hessian, start, gradient, W):
    step = (W - start).ravel()
    sizes = abs(W).sum(axis=0)
    if kind is ColumnShrinkage:
        sizes = np.linalg.norm(W, axis=0)
    value = gradient.ravel() @ step + step @ hessian @ step / 2
    return value + THRESHOLDS @ sizes


def least(kind, hessian, start, gradient):
    """Its minimum by FISTA with restarts."""
    length, t = 1 / np.linalg.eigvalsh(hessian)[-1], 1.0
    W = before = start
    for _ in range(100_000):
        after = (1 + np.sqrt(1 + 4 * t * t)) / 2
        V, t = W + (t - 1) / after * (W - before), after
        before = W
        slope = gradient + (hessian @ (V - start).ravel()).reshape(SHAPE)
        U = V - length * slope
        size = np.linalg.norm(U, axis=0) if kind is ColumnShrinkage else abs(U)
        kept = np.maximum(size - length * THRESHOLDS, 0)
        W = U * kept / np.where(size > 0, size, 1)
        if np.vdot(V - W, W - before) > 0:
            t = 1.0
        if abs(W - before).max() < 1e-15:
            break
    return W


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("rank", [18, 12])
@pytest.mark.parametrize("start_at", ["some", "zero", "minimum"])
def test_the_minimum(kind, rank, start_at):
    hessian, start, gradient = quadratic(rank)
    if start_at == "zero":
        start = np.zeros(SHAPE)
    best = least(kind, hessian, start, gradient)
    if start_at == "minimum":
        gradient = gradient + (hessian @ (best - start).ravel()).reshape(SHAPE)
        start = best
    W = minimised(
        hessian,
        kind(THRESHOLDS),
        start,
        gradient,
        forcing_term=1e-8,
        most_rounds=12,
    )
    arguments = kind, hessian, start, gradient
    least_value = model_value(*arguments, best)
    assert model_value(*arguments, W) <= least_value + 1e-9
    if rank == 18:
        np.testing.assert_array_equal(W == 0, best == 0)
        assert_allclose(W, best, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_round_lowers_the_model(kind):
    hessian, start, gradient = quadratic(12, seed=1)
    values = [model_value(kind, hessian, start, gradient, start)]
    for most_rounds in range(1, 6):
        W = minimised(
            hessian,
            kind(THRESHOLDS),
            start,
            gradient,
            forcing_term=1e-12,
            most_rounds=most_rounds,
        )
        values.append(model_value(kind, hessian, start, gradient, W))
    assert (np.diff(values) <= 1e-12).all()
    # The first round is not the last: the limit of rounds is kept.
    assert values[2] < values[1] < values[0]


def test_an_entry_that_is_nearly_zero_does_not_end_the_rounds():
    """The proximal step is too long, and a step ends at once, at this entry."""
    rng = np.random.default_rng(9)
    factor = rng.normal(size=(3, 2))
    hessian = factor @ factor.T + 1e-2 * np.eye(3)
    start, threshold = rng.normal(size=(1, 3)), 0.3
    start[0, 0] = 1e-17
    gradient = rng.normal(size=(1, 3))
    shrinkage = EntryShrinkage(np.full(3, threshold))
    W = minimised(
        hessian, shrinkage, start, gradient, forcing_term=1e-8, most_rounds=50
    )
    slope = gradient[0] + hessian @ (W - start)[0]
    assert (abs(slope) <= threshold + 1e-8).all()
    is_entry = W[0] != 0
    assert is_entry.any()
    signs = np.sign(W[0, is_entry])
    assert_allclose(slope[is_entry], -threshold * signs, atol=1e-8)


def test_features_that_are_sums_of_others():
    """Along some directions the model has no curvature: a step ends at a zero."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(200, 40))
    Z = np.hstack([Z, Z @ rng.normal(size=(40, 8)) / 6])
    y = Z @ rng.laplace(size=48) + rng.normal(size=200)
    hessian, gradient = Z.T @ Z / 200, -(Z.T @ y)[None] / 200
    threshold = 0.01
    W = minimised(
        hessian,
        EntryShrinkage(np.full(48, threshold)),
        np.zeros((1, 48)),
        gradient,
        forcing_term=1e-6,
        most_rounds=40,
    )
    w = W[0]
    slope = gradient[0] + hessian @ w
    at_zero = np.maximum(abs(slope) - threshold, 0)
    subgradient = np.where(w != 0, abs(slope + threshold * np.sign(w)), at_zero)
    assert subgradient.max() < 1e-5
