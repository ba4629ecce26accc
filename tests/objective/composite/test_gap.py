"""The duality gap is never below the true one, and vanishes at the minimum.

The minimum is found by accelerated proximal steps in NumPy, on the features without a
scale, with the public methods of the losses alone.
"""

import itertools

import numpy as np
import pytest
from scipy.special import log_softmax

from skprob.losses import AccuracyLoss, FenchelYoungLoss, LogLoss, MarginLoss
from skprob.mappings import Entmax, Sigmoid, Softmax, Sparsemax
from skprob.objective import CompositeObjective, PenaltyShape, split_rows
from skprob.targets import as_target

LOSSES = {
    repr(loss): loss
    for loss in (
        FenchelYoungLoss(Softmax()),
        FenchelYoungLoss(Entmax(1.5)),
        FenchelYoungLoss(Sparsemax()),
        FenchelYoungLoss(Sigmoid()),
        MarginLoss(FenchelYoungLoss(Entmax(1.5)), 0.2),
    )
}
ON_SIMPLEX = {k: v for k, v in LOSSES.items() if v.mapping.traits.polytope == "simplex"}


def data(n_classes=3, n_features=6):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, n_features)) * [1, 0.3, 2, 1, 1, 1] + [0, 1, 0, 0, -2, 0]
    raw = X[:, :3] @ rng.normal(size=(3, n_classes))
    Q = np.eye(n_classes)[(raw + rng.gumbel(size=raw.shape)).argmax(axis=1)]
    # The entropies of the targets are not small compared with the loss.
    Q[::2] = 0.3 * Q[::2] + 0.7 / n_classes
    return X, Q, rng.uniform(0.5, 2, 50)


def minimum(loss, X, Q, weight, strength, shape, fit_intercept):
    """Value, coefficients and intercepts at the minimum, by FISTA with restarts."""
    weight = weight / weight.sum()
    Z = np.column_stack([X, np.full(len(X), float(fit_intercept))])
    factors = np.ones(X.shape[1]) if shape.factors is None else shape.factors
    ridge = np.append((1 - shape.l1_ratio) * strength * factors, 0)
    lasso = np.append(shape.l1_ratio * strength * factors, 0)
    # No loss of these has a curvature above one.
    length = 1 / (np.linalg.norm(np.sqrt(weight)[:, None] * Z, 2) ** 2 + ridge.max())
    W = before = np.zeros((Q.shape[1], Z.shape[1]))
    t = 1.0
    for _ in range(6000):
        after = (1 + np.sqrt(1 + 4 * t * t)) / 2
        V, t = W + (t - 1) / after * (W - before), after
        before = W
        _, residual = loss.value_and_gradient(Z @ V.T, Q)
        U = V - length * ((weight[:, None] * residual).T @ Z + ridge * V)
        size = np.linalg.norm(U, axis=0) if shape.by_feature else abs(U)
        W = U * np.maximum(size - length * lasso, 0) / np.where(size > 0, size, 1)
        if np.vdot(V - W, W - before) > 0:
            t = 1.0
        if abs(W - before).max() < 1e-14:
            break
    value = weight @ loss.value(Z @ W.T, Q) + (ridge * W**2).sum() / 2
    size = np.linalg.norm(W, axis=0) if shape.by_feature else abs(W).sum(axis=0)
    return value + lasso @ size, W[:, :-1], W[:, -1] * fit_intercept


SHAPES = {
    "elastic net": PenaltyShape(0.5),
    "lasso": PenaltyShape(1.0),
    "features": PenaltyShape(1.0, True),
    "features and ridge": PenaltyShape(0.6, True, np.array([1.0, 2, 1, 0.5, 1, 1])),
}


@pytest.mark.parametrize(
    ("loss", "shape", "fit_intercept"),
    [
        # Each loss has two shapes of the penalty, one of them without intercepts.
        pytest.param(name, list(SHAPES)[(i + j) % 4], j == 0)
        for i, name in enumerate(LOSSES)
        for j in range(2)
    ],
)
def test_it_is_above_the_true_gap_and_vanishes(loss, shape, fit_intercept):
    loss, shape = LOSSES[loss], SHAPES[shape]
    X, Q, weight = data()
    strength = 0.06
    best, coef, intercept = minimum(loss, X, Q, weight, strength, shape, fit_intercept)
    assert 0 < np.count_nonzero(coef)
    assert shape.l1_ratio < 0.7 or np.count_nonzero(coef) < coef.size
    blocks = split_rows(X, as_target(Q, Q.shape, X.dtype), weight)
    kind = {"strength": strength, "shape": shape, "fit_intercept": fit_intercept}
    objective = CompositeObjective(blocks, loss, **kind)
    rng = np.random.default_rng(1)
    for size in 30.0, 1.0, 0.1, 1e-2, 1e-3, 0.0:
        for moves in ("coefficients", "intercepts", "both"):
            W = coef + size * rng.normal(size=coef.shape) * (moves != "intercepts")
            b = intercept + size * rng.normal(size=len(coef)) * (
                moves != "coefficients" and fit_intercept
            )
            point = objective.at(objective.from_model(W, b))
            gap = objective.duality_gap(point)
            assert point.value - best - 1e-12 <= gap <= point.value + 1e-12
            # A bound that is known can only be made smaller.
            assert objective.duality_gap(point, known=gap / 2) <= gap / 2
    assert gap < 1e-6


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("loss", ON_SIMPLEX.values(), ids=ON_SIMPLEX)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_is_the_least_bound_of_its_formula(n_classes, loss, shape):
    """The penalty's gap, and the loss of rows that are mixed with u and the target."""
    X, Q, weight = data(n_classes)
    # Two classes have the scores -u/2 and u/2.
    scores_of = np.array([[-0.5, 0.5]]) if n_classes == 2 else np.eye(3)
    n_outputs = len(scores_of)
    blocks = split_rows(X, as_target(Q, Q.shape, X.dtype), weight)
    weight, rng = weight / weight.sum(), np.random.default_rng(3)
    factors = np.ones(6) if shape.factors is None else shape.factors
    for strength, fit_intercept in itertools.product((0.01, 1.0), (True, False)):
        kind = {"strength": strength, "shape": shape, "fit_intercept": fit_intercept}
        objective = CompositeObjective(blocks, loss, **kind)
        W = 0.2 * rng.normal(size=(n_outputs, 6))
        b = 0.3 * rng.normal(size=n_outputs) * fit_intercept
        point = objective.at(objective.from_model(W, b))
        z = (X @ W.T + b) @ scores_of
        if isinstance(loss, MarginLoss):
            z = z + loss.margin * (1 - Q)
        unraised = FenchelYoungLoss(loss.mapping)
        ridge, lasso = (
            share * strength * factors for share in (1 - shape.l1_ratio, shape.l1_ratio)
        )

        def sizes(V, shape=shape):
            return np.linalg.norm(V, axis=0) if shape.by_feature else np.abs(V)

        def of_rows(rows, z=z, loss=unraised):
            return weight @ loss.value(z, np.broadcast_to(rows, Q.shape))

        def of_penalty(V, W=W, ridge=ridge, lasso=lasso, sizes=sizes):
            excess = np.maximum(sizes(V) - lasso, 0) ** 2 / 2
            conjugate = np.divide(excess, ridge, where=excess > 1e-24, out=0 * excess)
            value = np.sum(ridge * W**2) / 2 + np.sum(lasso * sizes(W))
            return value + np.sum(V * W) + conjugate.sum()

        t, mixed, of_u = 0.0, loss.mapping(z), 0.0
        if fit_intercept:
            mean, target = weight @ mixed, weight @ Q
            t = np.max(1 - target / mean)
            u = np.maximum(target - (1 - t) * mean, 0) / t
            mixed, of_u = (1 - t) * mixed + t * u, of_rows(u / u.sum())
        V = (weight[:, None] * (mixed - Q) @ scores_of.T).T @ X
        with np.errstate(divide="ignore"):
            s = 1 - min(1, np.min(lasso / sizes(V)))
            bounds = [point.value, t * of_u + of_penalty(V)]
        of_shrunk = of_penalty((1 - s) * V)
        bounds.append((1 - s) * t * of_u + s * of_rows(Q) + of_shrunk)
        bounds.append(of_rows((1 - s) * mixed + s * Q) + of_shrunk)
        assert point.value == pytest.approx(
            of_rows(Q) + np.sum(ridge * W**2) / 2 + np.sum(lasso * sizes(W))
        )
        assert objective.duality_gap(point) == pytest.approx(min(bounds), rel=1e-9)
        of_first_two = objective.duality_gap(point, enough=np.inf)
        assert of_first_two == pytest.approx(min(bounds[:2]), rel=1e-9)


def test_it_is_above_the_true_gap_with_offsets_of_rows():
    # The intercept of a row is a feature of one row under no penalty: written out.
    rng, shape = np.random.default_rng(2), PenaltyShape(0.8)
    X, Q, weight = data()
    offset = rng.normal(size=Q.shape)

    class Offset:
        """Softmax's loss of scores plus an offset, in SciPy's terms."""

        def value(self, scores, Q):
            return -(Q * log_softmax(scores + offset, axis=1)).sum(axis=1) - entropy

        def value_and_gradient(self, scores, Q):
            p = np.exp(log_softmax(scores + offset, axis=1))
            return self.value(scores, Q), p - Q

    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.nansum(Q * np.log(Q), axis=1)
    best, coef, intercept = minimum(Offset(), X, Q, weight, 0.03, shape, True)
    target = as_target(Q, Q.shape, X.dtype)
    blocks = split_rows(X, target, weight, offset=offset)
    loss = FenchelYoungLoss(Softmax())
    objective = CompositeObjective(blocks, loss, strength=0.03, shape=shape)
    for size in 1.0, 1e-2, 0.0:
        W = coef + size * rng.normal(size=coef.shape)
        point = objective.at(objective.from_model(W, intercept))
        assert objective.duality_gap(point) >= point.value - best - 1e-12
    assert point.value == pytest.approx(best, abs=1e-10)


@pytest.mark.parametrize("loss", [AccuracyLoss(Softmax()), LogLoss(Sparsemax())])
def test_losses_without_a_dual_have_no_bound(loss):
    X, Q, weight = data()
    blocks = split_rows(X, as_target(Q, Q.shape, X.dtype), weight)
    shape = PenaltyShape(0.5)
    objective = CompositeObjective(blocks, loss, strength=0.03, shape=shape)
    point = objective.at(objective.initial())
    assert objective.duality_gap(point) == np.inf
