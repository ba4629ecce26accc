"""Fits under several penalties at once, beside an independent minimiser."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from skprob.losses import FenchelYoungLoss
from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.objective import PathObjective, PenaltyBatch
from skprob.solvers import _newton_batch as module
from skprob.solvers import newton_batch, newton_cg

from .problems import classes, exact_optimum, objective_of

MAPPINGS = [Softmax(), Entmax(1.25), Entmax(1.5), Sparsemax()]
PENALTIES = np.array([1.0, 0.1, 1e-2, 1e-3])


def path_objective(X, y, mapping=None, **options):
    return PathObjective.of(objective_of(X, y, mapping, **options))


def together(objective, penalties=PENALTIES, *, tol=1e-10, max_iter=100, initial=None):
    zeros = [objective.initial()] * len(penalties)
    return newton_batch(
        objective, penalties, initial or zeros, tol=tol, max_iter=max_iter
    )


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("mapping", MAPPINGS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_each_is_the_optimum_under_its_penalty(n_classes, mapping, fit_intercept):
    X, y = classes(n_classes)
    X = X * [1e-2, 1, 1e2] + [0, 1, -50]
    weight = np.random.default_rng(0).uniform(0.1, 3, len(y))
    weight[5] = 0
    objective = path_objective(
        X, y, mapping, fit_intercept=fit_intercept, weight=weight
    )
    found, converged = together(objective)
    assert converged.all()
    for l2, parameters in zip(PENALTIES, found, strict=True):
        penalised = objective.with_penalty(l2)
        value, gradient = penalised.value_and_gradient(parameters)
        assert np.abs(gradient).max() < 1e-9
        least = penalised.value_and_gradient(exact_optimum(penalised))[0]
        assert value <= least * (1 + 1e-9)


@pytest.mark.parametrize("convert", [sparse.csr_array, np.float32])
def test_sparse_and_single_precision_data(convert):
    X, y = classes()
    expected, _ = together(path_objective(X, y, Entmax(1.5)))
    found, converged = together(path_objective(convert(X), y, Entmax(1.5)), tol=1e-6)
    assert converged.all()
    assert_allclose(found, expected, atol=1e-4)


def test_long_ways_go_on_from_the_minimum_before(monkeypatch):
    X, y = load_wine(return_X_y=True)
    objective = path_objective(scale(X), y, Sparsemax())
    penalties, n_points = np.logspace(-3, -8, 6), []

    def found():
        n_points.append(0)
        parameters, converged = together(objective, penalties, tol=1e-8, max_iter=500)
        assert converged.all()
        return [
            objective.with_penalty(l2).value_and_gradient(one)[0]
            for l2, one in zip(penalties, parameters, strict=True)
        ]

    def counted(self, which, parameters, linearize=PenaltyBatch.linearize):
        n_points[-1] += len(which)
        return linearize(self, which, parameters)

    monkeypatch.setattr(PenaltyBatch, "linearize", counted)
    values = found()
    monkeypatch.setattr(module, "_LONG", np.inf)
    assert_allclose(values, found(), rtol=1e-6)
    assert n_points[0] < n_points[1] / 2


def test_starts_that_are_too_far_out_are_taken_nearer(monkeypatch):
    X, y = load_wine(return_X_y=True)
    penalties = np.logspace(-3, -6, 4)
    softmax = path_objective(scale(X), y)
    starts, _ = together(softmax, penalties, tol=1e-8)
    objective = PathObjective.of(softmax, FenchelYoungLoss(Entmax(1.25)))
    n_points = []

    def counted(self, which, parameters, linearize=PenaltyBatch.linearize):
        n_points[-1] += len(which)
        return linearize(self, which, parameters)

    monkeypatch.setattr(PenaltyBatch, "linearize", counted)
    found = []
    for part in module._NEARER, 1.0:
        monkeypatch.setattr(module, "_NEARER", part)
        n_points.append(0)
        solutions, converged = together(
            objective, penalties, initial=starts, tol=1e-10, max_iter=500
        )
        assert converged.all()
        found.append(solutions)
    assert_allclose(*found, atol=1e-4)
    assert n_points[0] < 0.8 * n_points[1]


def test_separable_data_with_next_to_no_penalty():
    X, y = classes(3, n_samples=40)
    X = X + 10 * np.eye(3)[y]
    for mapping in MAPPINGS:
        objective = path_objective(X, y, mapping)
        penalties = np.array([1e-3, 1e-6, 1e-8])
        # What is still to gain is an estimate: the promise is kept to a factor.
        found, converged = together(objective, penalties, tol=1e-7)
        assert converged.all()
        for l2, parameters in zip(penalties, found, strict=True):
            penalised = objective.with_penalty(l2)
            zeros = penalised.initial()
            other = newton_cg(penalised, zeros, tol=1e-11, max_iter=3000)
            value = penalised.value_and_gradient(parameters)[0]
            assert value <= other.value * (1 + 1e-6)


def test_a_constant_and_a_repeated_feature():
    X, y = classes()
    X = np.column_stack([X, X[:, 0], np.full(len(y), 7.0)])
    found, converged = together(path_objective(X, y))
    assert converged.all()
    assert_allclose(np.array(found)[:, 0:15:5], np.array(found)[:, 3:15:5])
    assert_allclose(np.array(found)[:, 4:15:5], 0, atol=1e-8)


def test_a_start_at_the_optimum_is_kept():
    objective = path_objective(*classes())
    found, _ = together(objective)
    again, converged = together(objective, initial=found, max_iter=0, tol=1e-9)
    assert converged.all()
    assert_allclose(again, found, atol=1e-12)


def test_what_does_not_converge_is_told():
    objective = path_objective(*classes())
    _, converged = together(objective, np.array([1e3, 1e-4]), tol=1e-6, max_iter=3)
    assert converged.tolist() == [True, False]


def test_scores_that_overflow_end_the_way():
    objective = path_objective(*classes())
    start = np.full(objective.n_parameters, 1e300)
    start[0] = -1e308
    _, converged = together(objective, initial=[start] * len(PENALTIES))
    assert not converged.any()
