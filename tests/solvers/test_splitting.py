"""Douglas-Rachford splitting, which continues where Newton's method is slow."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skprob import SparsemaxClassifier
from skprob.losses import FenchelYoungLoss
from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.objective import LinearObjective
from skprob.objective._splitting import Splitting
from skprob.solvers import (
    Criteria,
    DouglasRachford,
    Tuning,
    _solve,
    minimize,
    plan,
    solve,
)
from skprob.solvers._splitting import _anderson_shares
from skprob.targets import LabelTarget, SmoothedTarget

from .descriptions import SPARSE_MAPPING, sized
from .training_problems import classes, in_blocks, objective_of, optimum


def split(objective, *, start=None, tol=1e-7, max_iter=200):
    """Solve by splitting alone."""
    start = objective.initial() if start is None else start
    criteria = Criteria(tol=tol, max_iter=max_iter)
    return minimize(objective, [DouglasRachford()], criteria, start)


@pytest.mark.parametrize("mapping", [Sparsemax(), Entmax(2.0)], ids=repr)
def test_the_optimum_is_the_one_another_method_finds(mapping):
    X, y = classes(n_classes=4, n_samples=80)
    objective = objective_of(X, y, mapping)
    solution = split(objective, tol=1e-9)
    expected_coef, expected_intercept = optimum(X, y, mapping, l2=0.01)
    coef, intercept = objective.to_model(solution.parameters)
    assert solution.solver == "splitting"
    assert_allclose(coef, expected_coef, atol=1e-5)
    expected = expected_intercept - expected_intercept.mean()
    assert_allclose(intercept - intercept.mean(), expected, atol=1e-5)


# Each pair of two of the three choices occurs.
@pytest.mark.parametrize(
    ("dtype", "container", "fit_intercept"),
    [
        (np.float32, np.asarray, True),
        (np.float32, sparse.csr_array, False),
        (np.float64, np.asarray, False),
        (np.float64, sparse.csr_array, True),
    ],
)
def test_any_rows_weights_and_targets(dtype, container, fit_intercept):
    X, y = classes(n_classes=5, n_samples=90, n_features=8)
    X = np.where(np.abs(X) < 0.5, 0, X).astype(dtype)
    weight = np.random.default_rng(1).uniform(size=90).astype(dtype)
    weight[:10] = 0
    target = SmoothedTarget(LabelTarget(y, 5, dtype), 0.1)
    loss, kind = FenchelYoungLoss(Sparsemax()), {"fit_intercept": fit_intercept}
    values = []
    for cuts in [], [20, 70]:
        blocks = in_blocks(container(X), target, weight, cuts)
        objective = LinearObjective(blocks, loss, l2=0.01, **kind)
        solution = split(objective, tol=1e-5)
        exact = solve(
            objective, objective.initial(), solver="newton-cg", tol=1e-6, max_iter=500
        )
        rounding = 1e-8 if dtype == np.float64 else 1e-4
        assert solution.value <= exact.value * (1 + rounding) + rounding**2
        values.append(solution.value)
    assert_allclose(*values, rtol=1e-6 if dtype == np.float64 else 1e-3)


def split_early(monkeypatch):
    """From then on plans split almost at once, after conjugate gradients."""

    def early(description, tuning=Tuning()):
        return plan(description, tuning)._replace(split_after=1)

    monkeypatch.setattr(_solve, "suits_whole_hessian", lambda *_: False)
    monkeypatch.setattr(_solve, "plan", early)
    monkeypatch.setattr(_solve, "method_for", lambda *_: "newton-cg")


def nearly_separable():
    """More columns than rows: Newton's method takes hundreds of products."""
    rng = np.random.default_rng(0)
    X = (rng.random((220, 260)) < 0.05).astype(float)
    y = np.argmax(X @ rng.normal(size=(260, 8)) + rng.gumbel(size=(220, 8)), axis=1)
    return X, y


def test_auto_splits_where_newton_is_slow_and_ends_at_the_same_optimum(monkeypatch):
    X, y = nearly_separable()
    models = {}
    for solver in "newton-cg", "auto":
        if solver == "auto":
            split_early(monkeypatch)
        models[solver] = SparsemaxClassifier(solver=solver, C=10, tol=1e-5).fit(X, y)
    newton_cg, auto = models["newton-cg"], models["auto"]
    assert newton_cg.solver_ == "newton-cg"
    assert auto.solver_ == "newton-cg+splitting"
    assert auto.objective_ == pytest.approx(newton_cg.objective_, rel=1e-4)
    assert auto.duality_gap_ <= 0.05 * auto.objective_
    history = auto.history_
    assert np.all(np.diff(history["objective"]) <= 1e-12)
    assert np.all(np.diff(history["passes"]) > 0)
    assert len(history["iteration"]) == auto.n_iter_ + 1


@pytest.mark.parametrize("l2", [1e-4, 1e-2])
def test_the_strength_is_between_curvature_and_penalty(l2, monkeypatch):
    """At zero scores of sparsemax each of K outputs has the curvature 1 - 1 / K."""
    X, y = classes(n_classes=4, n_samples=80)
    objective, strengths = objective_of(X, y, Sparsemax(), l2=l2), []
    monkeypatch.setattr(
        objective, "splitting", lambda x, strength, n: strengths.append(strength)
    )
    DouglasRachford().init(objective, objective.at(objective.initial()))
    ridge = np.append(l2 / objective.units.scale**2, 0)
    expected = Tuning().splitting_strength * np.sqrt(0.75 * ridge.mean())
    assert_allclose(strengths, [expected])


def test_newton_finishes_what_splitting_cannot(monkeypatch):
    """Where the steps of splitting lead nowhere."""
    objective = objective_of(*classes(n_classes=4), Sparsemax())
    original = Splitting.step

    def astray(self):
        splitting, parameters, products = original(self)
        return splitting, -parameters, products

    monkeypatch.setattr(Splitting, "step", astray)
    split_early(monkeypatch)
    solution = solve(objective, objective.initial(), tol=1e-7, max_iter=500)
    assert solution.converged, solution.message
    assert solution.solver == "newton-cg+splitting"


def test_splitting_continues_after_a_result_that_is_not_lower(monkeypatch):
    """Newton's method would take many more passes."""
    objective = objective_of(*classes(n_classes=4), Sparsemax())
    original, calls = Splitting.step, []

    def astray_at_first(self):
        splitting, parameters, products = original(self)
        calls.append(products)
        sign = -1 if len(calls) <= Tuning().splitting_memory else 1
        return splitting, sign * parameters, products

    monkeypatch.setattr(Splitting, "step", astray_at_first)
    solution = split(objective, tol=1e-5)
    assert solution.converged, solution.message
    assert solution.solver == "splitting"
    assert len(calls) > 2 * Tuning().splitting_memory


def test_the_plan_splits_only_where_it_wins():
    def after(*shape, base=SPARSE_MAPPING, **kind):
        return plan(sized(*shape, base=base, **kind)).split_after

    # bibtex, scene
    assert 20 <= after(4880, 1837, 159, density=0.037) < 100
    assert 20 <= after(1211, 295, 6) < 100
    # digits, two classes, and what would take much memory
    assert after(1797, 65, 10) == np.inf
    assert after(1211, 295, 1) == np.inf
    assert after(11_315, 21_210, 20, density=0.003) == np.inf
    assert after(100_000, 1837, 159, density=0.037) == np.inf
    for mapping in Softmax(), Entmax(1.5):
        base = objective_of(*classes(3), mapping).description
        assert after(4880, 1837, 159, base=base, density=0.037) == np.inf


def test_the_history_of_a_splitting_has_values_of_the_objective():
    objective = objective_of(*classes(n_classes=4), Sparsemax())
    solution = split(objective, tol=1e-5)
    value, _ = objective.value_and_gradient(solution.parameters)
    assert solution.history[-1][1] == pytest.approx(value)


def test_the_mixture_of_residuals_is_the_shortest():
    rng = np.random.default_rng(0)
    residuals = rng.normal(size=(4, 30))
    shares = _anderson_shares(residuals @ residuals.T, 1e-14)
    assert shares.sum() == pytest.approx(1)
    # By least squares over the differences to the last one.
    last, differences = residuals[-1], residuals[:-1] - residuals[-1]
    expected, *_ = np.linalg.lstsq(differences.T, -last)
    assert_allclose(shares[:-1], expected, rtol=1e-9)
    # One residual has no choice, and residuals that are the same leave the last.
    assert_allclose(_anderson_shares(np.array([[4.0]]), 1e-14), [1.0])
    assert_allclose(_anderson_shares(np.full((3, 3), 4.0), 1e-14), [0, 0, 1])
