"""Which coordinates are chosen, and the optimum of wide data in them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skprob.losses import AccuracyLoss, SparseTarget
from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.objective import LinearObjective, split_rows
from skprob.solvers import Standardization, newton_cg
from skprob.solvers import _preconditioner as module
from skprob.solvers._preconditioner import Preconditioner

from .problems import classes, exact_optimum, objective_of


@pytest.fixture(autouse=True)
def features_are_too_many_to_whiten(monkeypatch):
    monkeypatch.setattr(module, "_MAX_FEATURES", 50)


def wide(container=np.asarray, n_classes=3, mapping=None, **options):
    """More features than rows, of all frequencies, two of them empty or constant."""
    X, y = classes(n_classes, n_samples=20, n_features=60)
    present = np.random.default_rng(1).random(X.shape) < np.linspace(0.1, 0.9, 60)
    X = np.abs(X) * present
    X[:, 7] = 0
    return objective_of(container(X), y, mapping, **options)


def preconditioner_of(objective):
    return Preconditioner(objective, Standardization(objective))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5)], ids=repr)
@pytest.mark.parametrize("l2", [1e-3, 1.0])
def test_wide_features_are_scaled_by_the_curvature(
    l2, mapping, n_classes, fit_intercept
):
    objective = wide(
        n_classes=n_classes, mapping=mapping, l2=l2, fit_intercept=fit_intercept
    )
    parameters = np.random.default_rng(0).normal(size=objective.n_parameters) / 9
    preconditioner = preconditioner_of(objective)
    assert not preconditioner.whitens
    linearization = objective.linearize(parameters)
    coordinates = preconditioner.at(linearization)
    change = [coordinates.to_original(e) for e in np.eye(objective.n_parameters)]
    bends = np.array([linearization.hessian_product(e) @ e for e in change])
    coef, intercept = objective.unpack(bends)
    # Rows without curvature count a little, so that it is not quite one.
    assert_allclose(coef.mean(axis=0), 1, rtol=1e-3)
    if fit_intercept:
        assert_allclose(intercept.mean(), 1, rtol=1e-3)
    gradients = [coordinates.gradient(e) for e in np.eye(objective.n_parameters)]
    assert_allclose(np.transpose(gradients), change, rtol=1e-12, atol=1e-14)


def test_scales_are_renewed_when_they_have_been_used():
    preconditioner = preconditioner_of(wide())
    preconditioner.first()
    assert not preconditioner.is_worn
    preconditioner.used(100)
    assert preconditioner.is_worn


def test_where_nothing_bends_the_scales_are_those_of_the_start():
    objective = wide(mapping=Sparsemax(), l2=0.0)
    parameters = objective.initial()
    parameters[-3:] = [1e3, 0, 0]
    preconditioner = preconditioner_of(objective)
    coordinates = preconditioner.at(objective.linearize(parameters))
    assert_allclose(coordinates.scale, preconditioner.first().scale)


def test_a_loss_that_is_not_convex_has_but_standardised_features():
    X, y = classes(3, n_samples=20, n_features=60)
    blocks = split_rows(X, SparseTarget.from_labels(y, 3), np.ones(20))
    objective = LinearObjective(blocks, AccuracyLoss(Softmax()), l2=0.01)
    standardization = Standardization(objective)
    preconditioner = Preconditioner(objective, standardization)
    assert preconditioner.first() is standardization
    preconditioner.used(10**6)
    assert not preconditioner.is_worn


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5)], ids=repr)
def test_the_optimum_of_wide_data(mapping, n_classes, container):
    objective = wide(container, n_classes, mapping)
    expected = np.float32 if container is sparse.csr_array else np.float64
    assert preconditioner_of(objective).precision is expected
    solution = newton_cg(objective, objective.initial(), tol=1e-9, max_iter=200)
    assert solution.converged, solution.message
    reference = objective.value_and_gradient(exact_optimum(objective))[0]
    assert_allclose(solution.value, reference, rtol=1e-12)
    coef, _ = objective.unpack(solution.parameters)
    assert_allclose(coef, objective.unpack(exact_optimum(objective))[0], atol=1e-7)
