"""Whitened coordinates, alone: whatever the features, the Hessian is about one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.objective import _gram
from skprob.solvers import Standardization
from skprob.solvers._conjugate_gradients import ConjugateDirections
from skprob.solvers._preconditioner import Preconditioner
from skprob.solvers._whitening import Whitening

from .problems import classes, objective_of

MAPPINGS = [Softmax(), Entmax(1.5), Sparsemax()]


def matrices(objective, coordinates, parameters):
    """Hessian in the new coordinates, and the change to the original ones."""
    product = objective.linearize(parameters).hessian_product
    n = objective.n_parameters
    back = np.array([coordinates.gradient(e) for e in np.eye(n)])
    hessian = np.array([product(e) for e in np.eye(n)])
    return back.T @ hessian @ back, back


def correlated(n_classes, **options):
    X, y = classes(n_classes, n_samples=200, n_features=4)
    X = X @ np.random.default_rng(1).normal(size=(4, 4)) * [1e-3, 1, 10, 1e3]
    return objective_of(X + np.array([0, 5, -100, 1e6]), y, **options)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_gradient_is_the_adjoint_of_the_change(n_classes, fit_intercept):
    objective = correlated(n_classes, fit_intercept=fit_intercept)
    preconditioner = Preconditioner(objective, Standardization(objective))
    rng = np.random.default_rng(0)
    for coordinates in (
        preconditioner.first(),
        preconditioner.at(objective.linearize(objective.initial())),
    ):
        gradient = rng.normal(size=objective.n_parameters)
        variables = rng.normal(size=coordinates.gradient(gradient).size)
        there = coordinates.to_original(variables) @ gradient
        assert_allclose(there, variables @ coordinates.gradient(gradient), rtol=1e-8)


@pytest.mark.parametrize("mapping", MAPPINGS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_hessian_is_about_the_identity(n_classes, mapping):
    objective = correlated(n_classes, mapping=mapping, l2=1e-3)
    preconditioner = Preconditioner(objective, Standardization(objective))
    point = 0.3 * preconditioner.first().to_original(
        np.random.default_rng(0).normal(size=objective.n_parameters)
    )
    raw = np.linalg.eigvalsh(
        [objective.linearize(point).hessian_product(e) for e in np.eye(len(point))]
    )
    whitened, _ = matrices(
        objective, preconditioner.at(objective.linearize(point)), point
    )
    values = np.linalg.eigvalsh(whitened)
    # As many coordinates as parameters matter; the others change nothing.
    values = values[values > 1e-8]
    assert len(values) >= objective.n_parameters - objective.fit_intercept
    assert values.max() / values.min() < 100
    assert values.max() < 4
    assert raw.max() / raw[raw > 0].min() > 1e9


@pytest.fixture
def rows_in_batches(monkeypatch):
    """No data are so few that their rows are kept."""
    monkeypatch.setattr(_gram, "_BATCH_SIZE", 0)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("by_class", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kept", [True, False])
def test_the_grams_are_the_diagonal_blocks_of_the_hessian(
    n_classes, by_class, container, kept, request
):
    if not kept:
        request.getfixturevalue("rows_in_batches")
    X, y = classes(n_classes)
    weight = np.random.default_rng(0).uniform(0, 2, len(y))
    objective = objective_of(container(X), y, l2=0.0, weight=weight)
    point = np.linspace(-1, 1, objective.n_parameters)
    product = objective.linearize(point).hessian_product
    n_outputs, size = objective.coef_shape[0], X.shape[1] + 1
    blocks = np.zeros((n_outputs, size, size))
    for k in range(n_outputs):
        for j in range(size):
            coef, intercept = np.zeros((n_outputs, size - 1)), np.zeros(n_outputs)
            if j < size - 1:
                coef[k, j] = 1
            else:
                intercept[k] = 1
            coef, intercept = objective.unpack(product(objective.pack(coef, intercept)))
            blocks[k, :, j] = np.append(coef[k], intercept[k])
    if not by_class:
        blocks = blocks.mean(axis=0, keepdims=True)
    zero, one = np.zeros(size - 1), np.ones(size - 1)
    curvature = objective.curvature(objective.linearize(point), by_class=by_class)
    make = objective.grams(zero, one)
    # Twice: what is kept must be as it was.
    for grams in make(curvature), make(curvature):
        tiny = 1e-12 * np.abs(blocks).max()
        assert_allclose(grams, blocks, rtol=1e-8, atol=tiny)


def test_a_sample_of_the_rows_is_nearly_as_good_and_counts_heavy_rows(rows_in_batches):
    rng = np.random.default_rng(0)
    X, y = classes(3, n_samples=4000)
    weight = 10.0 ** rng.uniform(-6, 6, 4000)
    objective = objective_of(X, y, weight=weight)
    zero, one = np.zeros(3), np.ones(3)
    point = 0.1 * rng.normal(size=objective.n_parameters)
    for at in (None, objective.linearize(point)):
        curvature = objective.curvature(at)
        grams = objective.grams(zero, one)(curvature)
        drawn = objective.grams(zero, one)(curvature, n_drawn=500)
        assert not np.allclose(grams, drawn, rtol=1e-9, atol=0)
        for gram, other in zip(grams, drawn, strict=True):
            values = np.linalg.eigvals(np.linalg.solve(gram, other)).real
            assert 0.7 < values.min() <= values.max() < 1.4


def test_rank_deficient_constant_and_vanishing_features_get_finite_coordinates():
    X, y = classes(3)
    columns = [
        X,
        X[:, :1],
        np.full((60, 1), 1e6),
        np.zeros((60, 1)),
        X[:, 1:2] * 1e-200,
    ]
    for l2 in (0.0, 0.01):
        objective = objective_of(np.hstack(columns), y, l2=l2)
        standardization = Standardization(objective)
        for grams in (
            objective.grams(standardization.mean, standardization.scale)(
                objective.curvature()
            ),
            np.zeros((1, 8, 8)),
        ):
            whitening = Whitening(objective, standardization, grams)
            gradient = objective.value_and_gradient(objective.initial())[1]
            step = whitening.to_original(whitening.gradient(gradient))
            assert np.isfinite(step).all()
            assert step @ gradient > 0


def test_the_next_fit_begins_with_what_the_last_has_left_and_its_own_penalty():
    first, then = correlated(3, l2=1.0), correlated(3, l2=1e-4)
    preconditioner = Preconditioner(first, Standardization(first), patience=3)
    point = 0.1 * preconditioner.first().to_original(np.ones(first.n_parameters))
    preconditioner.at(first.linearize(point))
    direction = np.arange(1.0, first.n_parameters + 1)
    product = first.linearize(point).hessian_product(direction)
    met = ConjugateDirections(
        direction[None], product[None], np.array([direction @ product])
    )
    preconditioner.met(0.5, met)
    preconditioner.used(2 * preconditioner._cost)
    following = preconditioner.for_objective(then)
    for one in preconditioner, following:
        assert not one.is_worn
        one.used(2 * preconditioner._cost)
        assert one.is_worn
    assert following.least_curvature == 0.5
    product = then.linearize(point).hessian_product(direction)
    assert_allclose(following.directions.products[0], product)
    assert_allclose(following.directions.curvatures[0], direction @ product)
    assert_allclose(following.directions.directions[0], direction)
    coordinates = following.begin(point, linearize=None)
    expected = Preconditioner(then, Standardization(first))
    expected = expected.at(then.linearize(point))
    gradient = np.arange(then.n_parameters, dtype=float)
    assert_allclose(coordinates.gradient(gradient), expected.gradient(gradient))


def test_another_loss_begins_anew_but_for_what_all_losses_share(monkeypatch):
    first, then = correlated(3, l2=1.0), correlated(3, l2=1.0, mapping=Sparsemax())
    unused = Preconditioner(first, Standardization(first))
    used = unused.for_objective(first)
    point = 0.1 * used.first().to_original(np.ones(first.n_parameters))
    used.at(first.linearize(point))
    used.met(0.5, ConjugateDirections(*np.ones((2, 1, 15)), np.ones(1)))
    used.used(10**6)
    other = unused.for_objective(then)
    assert not other.is_worn
    assert other.least_curvature == 0
    assert other.directions is None
    grams = []
    monkeypatch.setattr(
        _gram, "_grams", lambda *args, f=_gram._grams: grams.append(1) or f(*args)
    )
    found = other.begin(point, then.linearize)
    # Of the curvature; those of equal scores are known.
    assert len(grams) == 1
    expected = Preconditioner(then, Standardization(then)).at(then.linearize(point))
    gradient = np.arange(then.n_parameters, dtype=float)
    assert_allclose(found.gradient(gradient), expected.gradient(gradient))


def test_standardised_features_are_those_of_the_penalty_at_hand():
    X, y = classes(3, n_samples=20, n_features=600)
    first, then = objective_of(X, y, l2=1.0), objective_of(X, y, l2=1e-6)
    preconditioner = Preconditioner(first, Standardization(first))
    coordinates = preconditioner.for_objective(then).begin(then.initial(), None)
    assert_allclose(coordinates.scale, Standardization(then).scale)
