"""Proximal Newton's method reaches the minimum, with the declared members alone."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_breast_cancer

from skprob import SoftmaxClassifier
from skprob.losses import FenchelYoungLoss
from skprob.mappings import Softmax
from skprob.objective import CompositeObjective, PenaltyShape, split_rows
from skprob.objective._linear_point import LinearPoint
from skprob.objective.composite._shrinkage import ColumnShrinkage, EntryShrinkage
from skprob.objective.little import LittlePoint
from skprob.solvers import Criteria, Tuning, members_of, minimize, solve
from skprob.solvers._problem import CompositePoint, CompositeProblem
from skprob.solvers.proximal._proximal_newton import (
    ProximalNewton,
    ProximalState,
    _on_working_set,
)
from skprob.solvers.proximal._working_set import working_set
from skprob.targets import LabelTarget

from ..minimal_problems import SquaredHingesPoint
from .composite_problem import (
    CompositeHinges,
    CompositeHingesPoint,
    composite_optimum,
)

KINDS = {"entries": EntryShrinkage, "columns": ColumnShrinkage}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def data(n_rows=120, n_columns=8, n_outputs=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) * 2.0 ** rng.uniform(-1, 1, n_columns)
    X += 0.5 * rng.normal(size=(n_rows, 1))
    raw = X[:, :5] @ rng.normal(size=(5, n_outputs))
    return X, np.sign(raw + rng.normal(size=raw.shape))


def public(instance):
    return {name for name in dir(instance) if not name.startswith("_")}


def test_the_problem_has_the_declared_members_and_no_others():
    problem = CompositeHinges(*data(), 1e-3, EntryShrinkage(np.full(8, 0.1)))
    assert public(problem) == members_of(CompositeProblem)
    point = problem.at(problem.initial())
    assert isinstance(point, CompositeHingesPoint)
    assert public(point) == members_of(CompositePoint)


@pytest.mark.parametrize("select", ["coefficients", "features"])
def test_sparse_rows_need_no_hessian_of_drawn_rows(select, monkeypatch):
    """Features of few rows would have no curvature where these are not drawn."""

    def not_called(*_, **__):
        raise AssertionError("A Gram matrix or a Hessian matrix is computed.")

    X = sparse.random_array((3000, 60), density=0.03, rng=0, format="csr")
    y = np.argmax(X[:, :3].toarray() + 0.1 * X[:, 3:6].toarray(), axis=1)
    model = SoftmaxClassifier(C=20, l1_ratio=0.8, select=select, tol=1e-8)
    expected = model.fit(X.toarray(), y).objective_
    monkeypatch.setattr(LinearPoint, "sandwiches", not_called)
    monkeypatch.setattr(LinearPoint, "piece_hessian", not_called)
    assert_allclose(model.fit(X, y).objective_, expected, rtol=1e-7)


@every_kind
@pytest.mark.parametrize("solver", ["auto", "newton-cg", "newton-cholesky", "lbfgs"])
def test_the_minimum_of_a_small_problem(kind, solver):
    X, signs = data()
    thresholds = np.array([0.1, 0, 0.1, 0.2, 0.1, 0.1, 0.05, 0.1])
    by_column = kind is ColumnShrinkage
    best, value = composite_optimum(X, signs, 1e-3, thresholds, by_column)
    assert 0 < np.count_nonzero(best) < best.size
    problem = CompositeHinges(X, signs, 1e-3, kind(thresholds))
    limits = {"tol": 1e-8, "max_iter": 500}
    solution = solve(problem, problem.initial(), solver=solver, **limits)
    assert solution.converged, solution.message
    W = solution.parameters.reshape(best.shape)
    assert solution.value == pytest.approx(value, abs=1e-10)
    assert_allclose(W, best, atol=1e-5)
    assert_array_equal(W == 0, best == 0)
    fall = np.diff([row.objective for row in solution.history])
    assert (fall <= 1e-14).all()


@every_kind
def test_few_of_many_features_are_solved_on_a_working_set(kind, monkeypatch):
    X, signs = data(60, 1500, 2)
    thresholds = np.full(1500, 0.2)
    by_column = kind is ColumnShrinkage
    best, value = composite_optimum(X, signs, 1e-2, thresholds, by_column)
    problem, sizes = CompositeHinges(X, signs, 1e-2, kind(thresholds)), []
    restricted = CompositeHinges.restricted

    def counted(self, features):
        sizes.append(len(features))
        return restricted(self, features)

    monkeypatch.setattr(CompositeHinges, "restricted", counted)
    limits = {"tol": 1e-8, "max_iter": 100}
    solution = solve(problem, problem.initial(), **limits)
    assert solution.converged, solution.message
    assert solution.value == pytest.approx(value, abs=1e-10)
    W = solution.parameters.reshape(best.shape)
    assert_allclose(W, best, atol=1e-5)
    # All features with a coefficient were in the last set, which is not all of them.
    assert np.count_nonzero(best.any(axis=0)) <= sizes[-1] <= 300


def test_little_data_with_more_rows_than_features_have_no_working_set():
    for n_rows, has_one in ((300, False), (200, True)):
        X, signs = data(n_rows, 250, 1)
        problem = CompositeHinges(X, signs, 1e-2, EntryShrinkage(np.full(250, 0.1)))
        chosen = working_set(problem, problem.at(problem.initial()), Tuning())
        assert (chosen is not None) == has_one


@every_kind
def test_how_many_features_a_working_set_gains(kind):
    """Features are added slowly: with more of them many leave again."""
    X, signs = data(60, 1500, 2)
    problem = CompositeHinges(X, signs, 1e-2, kind(np.full(1500, 1e-6)))
    W = np.zeros((2, 1500))
    W[:, :200] = 1e-3
    tuning = Tuning(most_added=0.6)
    features, left = working_set(problem, problem.at(W.reshape(-1)), tuning)
    assert len(features) == 320
    assert set(range(200)) <= set(features)
    assert left == tuning.left_on_working_set


@every_kind
def test_a_working_set_of_sparse_rows_gains_more_features(kind):
    X, signs = data(60, 1500, 2)
    problem = CompositeHinges(X, signs, 1e-2, kind(np.full(1500, 1e-6)))
    point, tuning = problem.at(problem.initial()), Tuning()
    for n_stored, n_added in (
        (60 * 1500, tuning.fewest_added),
        (60 * 15, tuning.fewest_added_of_sparse),
    ):
        problem.description = replace(problem.description, n_stored=n_stored)
        features, _ = working_set(problem, point, tuning)
        assert len(features) == n_added


def test_from_where_the_columns_of_a_working_set_are_copied(monkeypatch):
    X, signs = data(60, 300, 1)
    problem = CompositeHinges(X, signs, 1e-2, EntryShrinkage(np.full(300, 0.1)))
    last, point = np.arange(0, 40, 2), problem.at(problem.initial())
    part = problem.restricted(last)
    state = ProximalState(point=point, restricted=part, features=last, pairs=(0,))
    restricted, copied_from = CompositeHinges.restricted, []

    def noted(self, features):
        copied_from.append(self)
        return restricted(self, features)

    monkeypatch.setattr(CompositeHinges, "restricted", noted)
    for some, source in ((last[:10], part), ([4, 7], problem), ([4, 50], problem)):
        after = _on_working_set(problem, state, np.array(some))
        expected = restricted(problem, np.array(some))
        w = np.ones(expected.description.shape).ravel()
        assert copied_from.pop() is source
        assert after.restricted.at(w).value == expected.at(w).value
        assert_array_equal(after.features, some)
        assert after.pairs == ()
    # Most of the last working set.
    assert _on_working_set(problem, state, last[:11]) is state
    assert not copied_from


@every_kind
def test_a_cheap_set_of_all_that_may_enter_is_solved_further(kind):
    X, signs = data(60, 1500, 2)
    tuning = Tuning()
    free = CompositeHinges(X, signs, 1e-2, kind(np.zeros(1500)))
    gradient = free.at(free.initial()).gradient.reshape(2, 1500)
    order = np.inf if kind is EntryShrinkage else 2
    sizes = np.linalg.norm(gradient, ord=order, axis=0)
    n_may_enter = 20
    threshold = np.sort(sizes)[-n_may_enter - 1]
    problem = CompositeHinges(X, signs, 1e-2, kind(np.full(1500, threshold)))
    point = problem.at(problem.initial())
    features, left = working_set(problem, point, tuning)
    assert (len(features), left) == (n_may_enter, tuning.left_on_few)
    # With fewer than may enter, others follow.
    tuning = tuning._replace(fewest_added=n_may_enter - 1)
    features, left = working_set(problem, point, tuning)
    assert (len(features), left) == (n_may_enter - 1, tuning.left_on_working_set)


@pytest.mark.parametrize(
    ("kind", "spread"), [(ColumnShrinkage, 1.0), (EntryShrinkage, 1e-4)]
)
def test_nearly_dependent_columns_need_double_precision(kind, spread, monkeypatch):
    X, signs = data()
    X[:, 4:] = X[:, :4] + spread * np.random.default_rng(1).normal(size=(len(X), 4))
    thresholds, dtypes = np.full(8, 1e-3), []
    by_column = kind is ColumnShrinkage
    _, value = composite_optimum(X, signs, 1e-12, thresholds, by_column)
    problem = CompositeHinges(X, signs, 1e-12, kind(thresholds))
    whole = SquaredHingesPoint.piece_hessian

    def recorded(self, included, share, dtype=np.float64):
        dtypes.append(dtype)
        return whole(self, included, share, dtype)

    monkeypatch.setattr(SquaredHingesPoint, "piece_hessian", recorded)
    tuning = Tuning(single_hessian=0)
    limits = {"tol": 1e-8, "max_iter": 100}
    solution = solve(problem, problem.initial(), tuning=tuning, **limits)
    assert solution.converged, solution.message
    # The reference has not converged for nearly dependent columns.
    assert value - 1e-6 < solution.value < value + 1e-10
    assert dtypes[0] == np.float32
    assert set(dtypes[1:]) == {np.float32 if spread == 1 else np.float64}


def test_rows_beyond_single_precision_have_no_weight_in_it():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(2000, 60)), np.ones(2000)
    y = (X[:, :4] + rng.gumbel(size=(2000, 4))).argmax(axis=1)
    X[0], weight[0] = 1e45 * X[0], 1e-95
    options = {"C": 1.0, "l1_ratio": 0.9, "tol": 1e-9}
    model = SoftmaxClassifier(**options).fit(X, y, sample_weight=weight)
    others = SoftmaxClassifier(**options).fit(X[1:], y[1:])
    assert np.count_nonzero(others.coef_) > 4
    assert_allclose(model.coef_, others.coef_, atol=1e-6)


@every_kind
def test_a_start_at_the_minimum_takes_no_step(kind):
    X, signs = data()
    problem = CompositeHinges(X, signs, 1e-3, kind(np.full(8, 0.1)))
    first = solve(problem, problem.initial(), tol=1e-8, max_iter=100)
    again = solve(problem, first.parameters, tol=1e-6, max_iter=100)
    assert (again.n_iter, again.converged) == (0, True)
    # So strong that zero is the minimum.
    margin = np.abs(signs.T @ X / len(X)).max(axis=0)
    largest = np.linalg.norm(signs.T @ X / len(X), axis=0)
    strong = kind(np.maximum(margin, largest))
    problem = CompositeHinges(X, signs, 1e-3, strong)
    solution = solve(problem, problem.initial(), tol=1e-8, max_iter=100)
    assert (solution.n_iter, solution.converged) == (0, True)
    assert not solution.parameters.any()


def test_quasi_newton_steps_keep_their_pairs():
    X, signs = data()
    problem = CompositeHinges(X, signs, 1e-3, EntryShrinkage(np.full(8, 0.05)))
    criteria, tuning = Criteria(tol=1e-8, max_iter=500), Tuning(steps_kept=3)
    solver = ProximalNewton(criteria, "lbfgs", tuning)
    solution = minimize(problem, [solver], criteria, problem.initial())
    assert solution.converged and solution.solver == "proximal-lbfgs"
    assert len(solution.state.pairs) == 3
    for step, change in solution.state.pairs:
        assert step @ change > 0
    best, _ = composite_optimum(X, signs, 1e-3, np.full(8, 0.05), False)
    assert_allclose(solution.parameters, best.ravel(), atol=1e-5)


def test_a_step_of_many_products_is_followed_by_the_whole_hessian():
    X, signs = data()
    problem = CompositeHinges(X, signs, 1e-3, EntryShrinkage(np.full(8, 0.05)))
    tuning = Tuning(hessian_products=0.01, largest_hessian_cost=0.0)
    solver = ProximalNewton(Criteria(tol=1e-8, max_iter=500), "auto", tuning)
    state = solver.init(problem, problem.at(problem.initial()))
    few = solver.step(problem, state)
    assert few.most_products == few.n_products > 0
    # Conjugate gradients need products; the whole Hessian needs none.
    after = solver.step(problem, replace(few, most_products=0))
    assert after.n_products > few.n_products
    assert after.most_products == after.n_products - few.n_products
    after = solver.step(problem, replace(few, most_products=1000))
    assert (after.n_products, after.most_products) == (few.n_products, 1000)
    assert after.point.value < few.point.value


@every_kind
def test_the_next_step_takes_the_place_of_a_certificate(kind):
    """Without a certificate the model at the last point gives the expected decrease."""
    X, signs = data()
    thresholds = np.full(8, 0.05)
    _, value = composite_optimum(X, signs, 1e-3, thresholds, kind is ColumnShrinkage)
    problem = CompositeHinges(X, signs, 1e-3, kind(thresholds))
    criteria = Criteria(tol=1e-2, max_iter=100, duality_gap="unused")
    solver = ProximalNewton(criteria)
    solution = minimize(problem, [solver], criteria, problem.initial())
    left = solution.value - value
    assert solution.converged and left > 0
    assert solution.state.expected_decrease == pytest.approx(left, rel=0.3)
    after = solver.step(problem, solution.state)
    assert after.point.value - value < left / 2


@pytest.mark.parametrize("n_stored", [15, 1])
def test_rows_are_drawn_for_a_hessian_where_entries_are_many(n_stored, monkeypatch):
    """In a sparse X they would miss the rows of rare features."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((6000, 30), density=n_stored / 30, rng=rng, format="csr")
    y = (X @ rng.normal(size=30) + 0.5 * rng.normal(size=6000) > 0).astype(int)
    shares = set()
    for kind in LinearPoint, LittlePoint:

        def watched(
            self,
            included,
            share=1.0,
            dtype=np.float64,
            piece_hessian=kind.piece_hessian,
        ):
            shares.add(share)
            return piece_hessian(self, included, share, dtype)

        monkeypatch.setattr(kind, "piece_hessian", watched)
    # Rows are drawn for little data, too.
    tuning = Tuning(sampled_hessian=0.0)

    def with_tuning(criteria, method, _):
        return ProximalNewton(criteria, method, tuning)

    monkeypatch.setattr("skprob.solvers.proximal.ProximalNewton", with_tuning)
    # By itself the solver computes no Hessian of sparse rows.
    model = SoftmaxClassifier(
        C=1.0, l1_ratio=1.0, solver="newton-cholesky", tol=1e-4
    ).fit(X, y)
    assert model.solver_ == "proximal-newton"
    assert shares
    assert (min(shares) < 1) == (n_stored > 10)


def test_steps_may_be_longer_than_those_of_the_model():
    """Far from the minimum of a logistic loss the models have too much curvature."""
    X, y = load_breast_cancer(return_X_y=True)
    problem = CompositeObjective(
        split_rows(X, LabelTarget(y, 2), np.ones(len(y))),
        FenchelYoungLoss(Softmax()),
        strength=1 / len(y),
        shape=PenaltyShape(l1_ratio=1.0),
    )
    start, limits = problem.initial(), {"tol": 1e-6, "max_iter": 100}
    solution = solve(problem, start, **limits)
    by_models = solve(problem, start, tuning=Tuning(longest_step=1.0), **limits)
    assert solution.converged
    assert by_models.converged
    assert solution.value == pytest.approx(by_models.value, rel=1e-9)
    assert solution.n_iter < by_models.n_iter
    # The loss falls along the first step up to a length of more than one.
    first = [row.objective for row in solution.history[:2]]
    by_model = by_models.history[1].objective
    assert first[1] < by_model < first[0]
