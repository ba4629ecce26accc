"""The bound on the suboptimality: above it everywhere, and nothing at the optimum."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import root
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from skprob.losses import AccuracyLoss, FenchelYoungLoss, LogLoss, MarginLoss
from skprob.losses._target import as_target
from skprob.mappings import Entmax, Softmax, Sparsemax, Temperature
from skprob.objective import (
    CosineObjective,
    LinearObjective,
    PathObjective,
    _intercepts,
    split_rows,
)
from skprob.objective._gap import mixing_distribution
from skprob.solvers import lbfgs, newton_cg

from .solvers.problems import exact_optimum, objective_of

LOSSES = {
    repr(loss): loss
    for loss in (
        *(FenchelYoungLoss(m) for m in (Softmax(), Entmax(1.5), Sparsemax())),
        FenchelYoungLoss(Temperature(Entmax(1.25), 0.5)),
        LogLoss(Softmax()),
        *(MarginLoss(FenchelYoungLoss(m), 0.5) for m in (Softmax(), Sparsemax())),
        MarginLoss(MarginLoss(FenchelYoungLoss(Entmax(1.5)), 0.2), 0.1),
    )
}
every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
every_shape = pytest.mark.parametrize(
    ("n_classes", "fit_intercept"), [(2, True), (2, False), (4, True), (4, False)]
)


def problem(loss, n_classes, fit_intercept, l2=0.05, container=np.asarray):
    rng = np.random.default_rng(n_classes)
    X = rng.normal([0, 1, 5], size=(40, 3))
    Q = rng.dirichlet(np.full(n_classes, 0.3), size=40)
    Q[::2] = np.eye(n_classes)[rng.integers(n_classes, size=20)]
    blocks = split_rows(
        container(X), as_target(Q, Q.shape, float), rng.uniform(0, 2, 40)
    )
    return LinearObjective(blocks, loss, l2=l2, fit_intercept=fit_intercept)


def gap_at(objective, parameters):
    value, gradient = objective.value_and_gradient(parameters)
    return value, objective.duality_gap(parameters, value, gradient)


@every_loss
@every_shape
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_it_bounds_the_suboptimality(loss, n_classes, fit_intercept, container):
    objective = problem(loss, n_classes, fit_intercept, container=container)
    best = exact_optimum(objective)
    least, gap = gap_at(objective, best)
    assert 0 <= gap <= 1e-8
    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-2, 0.1, 1.0, 10.0):
        for _ in range(5):
            point = best + size * rng.normal(size=best.size)
            value, gap = gap_at(objective, point)
            assert value - least <= gap * (1 + 1e-9) + 1e-14
            assert gap <= value


@every_loss
@every_shape
def test_it_is_the_gap_to_the_dual_objective(
    loss, n_classes, fit_intercept, monkeypatch
):
    """The dual objective written out, at the probabilities with the best intercepts."""
    # As precisely as they are found below; a fit is content with less.
    monkeypatch.setattr(_intercepts, "_PRECISION", 1e-6)
    objective = problem(loss, n_classes, fit_intercept)
    rng = np.random.default_rng(1)
    point = exact_optimum(objective) + 0.01 * rng.normal(size=objective.n_parameters)
    value, gap = gap_at(objective, point)
    (block,) = objective.blocks
    Q, s = block.target.to_dense(float), block.weight
    cost = loss.total_margin * (1 - Q)
    coef, intercept = objective.unpack(point)

    def augmented_scores(intercept):
        scores = block.X @ coef.T + intercept
        if n_classes == 2:
            scores = np.hstack([-scores / 2, scores / 2])
        return scores + cost

    def excess(intercept):
        return s @ (loss.mapping(augmented_scores(intercept)) - Q)

    if fit_intercept:
        free = slice(1, None) if n_classes > 2 else slice(None)
        best = intercept.copy()

        def gradient(some):
            best[free] = some
            return excess(best)[1:]

        best[free] = root(gradient, intercept[free], tol=1e-14).x
        intercept = best
        assert_allclose(excess(intercept), 0, atol=1e-10)
    p = loss.mapping(augmented_scores(intercept))
    v = ((p - Q) * s[:, None]).T @ block.X
    v = v if n_classes > 2 else (v[1:] - v[:1]) / 2
    dual = objective.constant + s @ loss.mapping.entropy(p)
    dual += s @ ((p - Q) * cost).sum(axis=1) - (v**2).sum() / (2 * objective.l2)
    assert gap == pytest.approx(value - dual, rel=1e-4)


@every_loss
@every_shape
def test_a_bound_that_is_enough_is_not_made_tighter(
    loss, n_classes, fit_intercept, monkeypatch
):
    objective = problem(loss, n_classes, fit_intercept)
    best = exact_optimum(objective)
    least, _ = objective.value_and_gradient(best)
    point = best + 0.01 * np.random.default_rng(2).normal(size=best.size)
    value, gradient = objective.value_and_gradient(point)
    loose = objective.duality_gap(point, value, gradient, enough=np.inf)
    tight = objective.duality_gap(point, value, gradient)
    assert value - least <= tight <= loose * (1 + 1e-9)
    if fit_intercept:
        assert tight < 0.99 * loose
        between = (tight + loose) / 2
        assert objective.duality_gap(point, value, gradient, between) == tight

    def evaluated(*_):
        raise AssertionError

    for name in ("value_and_gradient", "linearize"):
        monkeypatch.setattr(objective, name, evaluated)
    assert objective.duality_gap(point, value, gradient, enough=loose) == loose


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5), Sparsemax()], ids=repr)
@pytest.mark.parametrize("solver", [lbfgs, newton_cg])
def test_it_is_not_far_above_the_suboptimality(load, mapping, solver):
    """It was a thousand times as large while the intercepts stayed where they were."""
    X, y = load(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    objective = objective_of(X, y, mapping, l2=0.01)
    solution = solver(objective, objective.initial(), tol=1e-4, max_iter=1000)
    gap = objective.duality_gap(*solution[:3])
    least, _ = objective.value_and_gradient(exact_optimum(objective))
    left = solution.value - least
    assert left <= gap * (1 + 1e-6) + 1e-15
    assert gap <= 20 * left + 1e-12


def test_mixing_gives_the_target_mean():
    rng = np.random.default_rng(0)
    for _ in range(20):
        target, model = rng.dirichlet(np.ones(5), size=2)
        t, u = mixing_distribution(target, model)
        assert 0 < t <= 1
        assert (u >= 0).all()
        assert_allclose((1 - t) * model + t * u, target, atol=1e-15)
        # It is the least: some class gets nothing from u.
        assert u.min() == pytest.approx(0, abs=1e-12)
    assert mixing_distribution(target, target)[0] == 0


def test_where_no_better_bound_is_known_it_says_so():
    fenchel_young = FenchelYoungLoss(Softmax())
    objective = problem(fenchel_young, 3, True, l2=0.0)
    value, gap = gap_at(objective, np.ones(objective.n_parameters))
    assert gap == value
    accuracy = AccuracyLoss(Softmax())
    for loss in (accuracy, MarginLoss(accuracy, 0.5)):
        objective = problem(loss, 3, True)
        assert gap_at(objective, objective.initial())[1] == np.inf
    cosine = CosineObjective(objective.blocks, fenchel_young)
    assert gap_at(cosine, cosine.initial())[1] == np.inf


def test_what_is_asked_after_a_fit_is_remembered_from_its_end():
    objective = problem(FenchelYoungLoss(Softmax()), n_classes=4, fit_intercept=True)
    point = np.random.default_rng(0).normal(size=objective.n_parameters)
    value, gradient = objective.value_and_gradient(point)
    gap = objective.duality_gap(point, value, gradient, enough=1e-3 * value)
    blocks, objective.blocks = objective.blocks, ()
    assert objective.duality_gap(point, value, gradient) == gap
    objective.blocks = blocks
    # Nothing is remembered of another point, or of another penalty.
    other = 2 * point
    assert gap_at(objective, other)[1] > 1.1 * gap
    path = PathObjective.of(objective)
    assert gap_at(path, point)[1] == gap
    stronger = problem(FenchelYoungLoss(Softmax()), 4, fit_intercept=True, l2=5.0)
    assert gap_at(path.with_penalty(5.0), point) == gap_at(stronger, point)
