"""Fits under several penalties, compared with single fits of a small tolerance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from skprob.losses import FenchelYoungLoss
from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.objective import (
    CompositeObjective,
    LinearObjective,
    PenaltyShape,
    split_rows,
)
from skprob.solvers import SOLVERS, Tuning, minimize_path, solve
from skprob.targets import LabelTarget

from .training_problems import METHODS, classes, objective_of

MAPPINGS = [Softmax(), Entmax(1.25), Entmax(1.5), Sparsemax()]
STRENGTHS = np.array([1.0, 0.1, 1e-2, 1e-3])


def path(objective, strengths=STRENGTHS, starts=(), solver="auto", **options):
    options = {"tol": 1e-6, "max_iter": 500} | options
    path_solutions = list(
        minimize_path(objective, strengths, list(starts), solver=solver, **options)
    )
    assert len(path_solutions) == len(strengths)
    parameters, converged, *_ = zip(*path_solutions, strict=True)
    return list(parameters), list(converged)


def assert_optimal(objective, strengths, parameters, rtol):
    minima = {}
    for l2, x in zip(strengths, parameters, strict=True):
        single = objective.with_l2(l2)
        if l2 not in minima:
            minima[l2] = solve(
                single, single.initial(), solver="newton-cg", tol=1e-11, max_iter=2000
            )
        tight = minima[l2]
        value, _ = single.value_and_gradient(x)
        assert value - tight.value <= rtol * value, l2


@pytest.mark.parametrize("n_classes", [2, 3])
def test_each_is_the_optimum_under_its_penalty(n_classes):
    X, y = classes(n_classes)
    X = X * [1e-2, 1, 1e2] + [0, 1, -50]
    weight = np.random.default_rng(0).uniform(0.1, 3, len(y))
    weight[5] = 0
    for i, mapping in enumerate(MAPPINGS):
        # Each mapping has an intercept with two classes, or with three.
        fit_intercept = (i + n_classes) % 2 == 0
        objective = objective_of(
            X, y, mapping, fit_intercept=fit_intercept, weight=weight
        )
        paths = []
        for solver in METHODS:
            parameters, converged = path(objective, solver=solver)
            assert all(converged)
            for l2, x in zip(STRENGTHS, parameters, strict=True):
                _, gradient = objective.with_l2(l2).value_and_gradient(x)
                assert np.abs(gradient).max() <= 1e-6
            paths.append(parameters)
        for l2, *solutions in zip(STRENGTHS, *paths, strict=True):
            assert_optimal(objective, [l2] * len(METHODS), solutions, rtol=1e-5)


@pytest.mark.parametrize("mapping", [Softmax(), Sparsemax()], ids=repr)
def test_data_that_are_not_small(mapping):
    """Newton's method by conjugate gradients starts each from the one before."""
    X, y = classes(8, n_samples=1500, n_features=20)
    objective = objective_of(X, y, mapping)
    parameters, converged = path(objective, tol=1e-4)
    assert all(converged)
    assert_optimal(objective, STRENGTHS, parameters, rtol=1e-3)


@pytest.mark.parametrize("convert", [sparse.csr_array, np.float32])
def test_sparse_and_single_precision_data(convert):
    X, y = classes()
    expected, _ = path(objective_of(X, y, Entmax(1.5)), tol=1e-9)
    solutions, converged = path(objective_of(convert(X), y, Entmax(1.5)), tol=1e-5)
    assert all(converged)
    assert_allclose(solutions, expected, atol=1e-4)


def test_the_next_loss_starts_where_the_last_has_ended():
    X, y = load_wine(return_X_y=True)
    strengths = np.logspace(-3, -6, 4)
    softmax = objective_of(scale(X), y)
    starts, _ = path(softmax, strengths, tol=1e-6)
    for alpha in (1.25, 1.5, 2):
        objective = softmax.with_loss(FenchelYoungLoss(Entmax(alpha)))
        starts, converged = path(objective, strengths, starts, tol=1e-6)
        assert all(converged)
        assert_optimal(objective, strengths, starts, rtol=1e-4)


def test_separable_data_with_next_to_no_penalty():
    X, y = classes(3, n_samples=40)
    X = X + 10 * np.eye(3)[y]
    strengths = np.array([1e-3, 1e-6, 1e-8, 0.0])
    for mapping in MAPPINGS[1:]:
        objective = objective_of(X, y, mapping)
        parameters, converged = path(objective, strengths, tol=1e-6)
        assert all(converged)
        assert_optimal(objective, strengths[:-1], parameters[:-1], rtol=1e-3)
        last, _ = objective.with_l2(0.0).value_and_gradient(parameters[-1])
        assert last < 1e-9


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_start_at_the_optimum_is_kept(solver):
    objective = objective_of(*classes())
    solutions, _ = path(objective, solver=solver, tol=1e-9)
    again, converged = path(objective, starts=solutions, solver=solver, max_iter=0)
    assert all(converged[:1])
    # Where the whole Hessian is known each penalty has a start of its own.
    if solver in ("auto", "newton-cholesky"):
        assert all(converged)
        assert_allclose(again, solutions, atol=1e-9)


@pytest.mark.parametrize("strengths", [STRENGTHS, np.array([1.0, 0.0])])
def test_all_fits_of_a_path_have_its_tuning(strengths):
    """Conjugate gradients take more steps than the whole Hessian."""
    objective, options = objective_of(*classes()), {"solver": "auto", "max_iter": 500}
    whole, by_products = (
        sum(
            solution.n_iter
            for solution in minimize_path(
                objective, strengths, [], tol=1e-10, tuning=tuning, **options
            )
        )
        for tuning in (Tuning(), Tuning(largest_hessian_cost=0))
    )
    assert by_products > whole


def test_what_does_not_converge_is_told():
    objective = objective_of(*classes())
    _, converged = path(objective, np.array([1e3, 1e-6]), max_iter=3)
    assert converged == [True, False]


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_fit_from_zero_that_does_not_converge_is_not_repeated(solver):
    X, y = classes()
    objective, single = objective_of(X, y), objective_of(X, y)
    limits = {"tol": 1e-9, "max_iter": 2}
    one = np.array([objective.penalty.strength])
    (solution,) = minimize_path(objective, one, [], solver=solver, **limits)
    assert not solution.converged
    assert solution.n_iter == 2
    expected = solve(single, single.initial(), solver=solver, **limits)
    assert_allclose(solution.parameters, expected.parameters, rtol=1e-9)
    # Newton's method with the whole Hessian first solves all penalties together, here
    # a single one.
    times = 1 if solver == "lbfgs" else 2
    assert objective.passes <= times * single.passes
    elsewhere = [np.ones(len(expected.parameters))]
    (solution,) = minimize_path(objective, one, elsewhere, solver=solver, **limits)
    assert solution.n_iter == 2


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("mapping", [Softmax(), Sparsemax()], ids=repr)
def test_starts_that_are_far_off_do_not_end_it(mapping):
    objective = objective_of(*classes(), mapping)
    start = np.linspace(-1e6, 1e6, objective.n_parameters)
    strengths = STRENGTHS[::3]
    parameters, converged = path(objective, strengths, [start] * len(strengths))
    assert all(converged)
    assert_optimal(objective, strengths, parameters, rtol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_where_a_warm_start_leads_nowhere_the_fit_starts_again(solver):
    """From zero, and what it finds is taken if it converges, or gets lower."""
    X, y = classes(3)
    objective = objective_of(X, y, Softmax())
    far = np.random.default_rng(0).normal(scale=1e4, size=objective.n_parameters)
    cold = solve(objective, objective.initial(), solver=solver, tol=1e-5, max_iter=500)
    limits = {"tol": 1e-5, "max_iter": cold.n_iter}
    stuck = solve(objective, far, solver=solver, **limits)
    assert cold.converged and not stuck.converged
    one = np.array([objective.penalty.strength])
    (parameters,), converged = path(objective, one, [far], solver=solver, **limits)
    assert converged == [True]
    assert_optimal(objective, one, [parameters], rtol=1e-5)
    (parameters,), converged = path(objective, one, [far], solver=solver, max_iter=1)
    assert converged == [False]
    first = solve(objective, objective.initial(), solver=solver, tol=1e-6, max_iter=1)
    assert objective.value_and_gradient(parameters)[0] <= first.value * 1.001


@pytest.mark.parametrize("solver", SOLVERS)
def test_only_the_whole_hessian_stands_for_the_certificate(solver, monkeypatch):
    """Fits one by one; conjugate gradients and L-BFGS do not write it out."""
    uses = []

    def watched(*args, duality_gap="reported", **options):
        uses.append(duality_gap)
        return solve(*args, duality_gap=duality_gap, **options)

    monkeypatch.setattr("skprob.solvers._path.solve", watched)
    monkeypatch.setattr(LinearObjective, "family", lambda self, strengths: None)
    _, converged = path(objective_of(*classes()), solver=solver)
    assert all(converged)
    has_hessian = solver in ("auto", "newton-cholesky")
    assert uses == ["unused" if has_hessian else "checked"] * len(STRENGTHS)


def test_the_duality_gap_is_not_made_tighter(monkeypatch):
    """Only the criteria compute it, at most once for each fit."""
    gaps, duality_gap = [], LinearObjective.duality_gap

    def watched(*args, **options):
        gaps.append(duality_gap(*args, **options))
        return gaps[-1]

    monkeypatch.setattr(LinearObjective, "family", lambda self, strengths: None)
    monkeypatch.setattr(LinearObjective, "duality_gap", watched)
    _, converged = path(objective_of(*classes()), solver="newton-cg", tol=1e-3)
    assert all(converged)
    assert len(gaps) == len(STRENGTHS)


@pytest.mark.parametrize("mapping", MAPPINGS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_penalties_solved_together_are_those_solved_one_by_one(n_classes, mapping):
    X, y = classes(n_classes)
    solutions = []
    for together in (True, False):
        objective = objective_of(X, y, mapping)
        with pytest.MonkeyPatch.context() as patch:
            if not together:
                patch.setattr(LinearObjective, "family", lambda self, strengths: None)
            parameters, converged = path(objective, tol=1e-9)
        assert all(converged)
        solutions.append(parameters)
    assert_allclose(*solutions, atol=1e-6)


def test_little_data_one_by_one_evaluate_one_start(monkeypatch):
    """Each other fit begins at the last point, under the next penalty."""
    starts, at = [], LinearObjective.at

    def watched(self, parameters):
        starts.append(parameters)
        return at(self, parameters)

    monkeypatch.setattr(LinearObjective, "at", watched)
    _, converged = path(objective_of(*classes()), tuning=Tuning(family_rounds=0))
    assert all(converged)
    assert len(starts) == 1


def test_penalties_between_those_of_a_lasso_lead_to_its_solutions():
    """Without such penalties the last fit takes more than 700 iterations."""
    X, y = load_wine(return_X_y=True)
    X, y = scale(X)[::3], y[::3]
    target = LabelTarget(y, n_classes=3)
    blocks = split_rows(X, target, np.ones(len(y)))
    strengths = np.geomspace(0.5, 5e-5, 8)
    objective = CompositeObjective(
        blocks,
        FenchelYoungLoss(Entmax(1.5)),
        strength=strengths[-1],
        shape=PenaltyShape(l1_ratio=1.0),
    )
    limits = {"solver": "auto", "tol": 1e-6, "max_iter": 1000}
    solutions = list(minimize_path(objective, strengths, [], **limits))
    assert max(solution.n_iter for solution in solutions) < 200
    for strength, (parameters, converged, *_) in zip(strengths, solutions, strict=True):
        assert converged
        coef, intercept = objective.to_model(parameters)
        p = Entmax(1.5)(X @ coef.T + intercept)
        gradient = (p - np.eye(3)[y]).T @ X / len(y)
        is_in = coef != 0
        assert_allclose(gradient[is_in], -strength * np.sign(coef[is_in]), atol=2e-6)
        assert np.abs(gradient[~is_in]).max(initial=0) <= strength + 2e-6


def test_a_path_ends_without_a_penalty_that_makes_zeros():
    X, y = load_wine(return_X_y=True)
    X, y = scale(X)[:, :3], y
    blocks = split_rows(X, LabelTarget(y, n_classes=3), np.ones(len(y)))
    loss = FenchelYoungLoss(Softmax())
    objective = CompositeObjective(
        blocks, loss, strength=0.1, shape=PenaltyShape(l1_ratio=0.5)
    )
    limits = {"solver": "auto", "tol": 1e-8, "max_iter": 100}
    _, last = minimize_path(objective, np.array([0.1, 0.0]), [], **limits)
    assert last.converged
    alone = solve(objective.with_l2(0.0), objective.initial(), **limits)
    # Without a penalty a part that the classes share changes nothing.
    differences = (last.parameters - alone.parameters).reshape(3, -1)
    assert_allclose(np.ptp(differences, axis=0), 0, atol=1e-5)
