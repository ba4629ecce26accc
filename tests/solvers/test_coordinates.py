"""Coordinates in which a Hessian is about the identity."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skprob.mappings import Softmax, Sparsemax
from skprob.objective import Description
from skprob.solvers._coordinates import Identity, Scaling, Whitening, _inverse_factor

from .training_problems import classes, correlated, hessian_at, objective_of


def coordinates_at(objective, x, kind):
    """Coordinates for the curvature of all rows at a point."""
    point, description = objective.at(x), objective.description
    if kind == "diagonal":
        return Scaling(point.curvature_moments(), point.ridge, description)
    grams = point.sandwiches(kind == "gram by output", np.inf)
    return Whitening(grams, point.ridge, description)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_of_many_columns_it_centres_and_scales_them(n_classes):
    """By the geometric mean of the curvature in an output and the mean of outputs."""
    X, y = classes(n_classes, n_samples=20, n_features=60)
    present = np.random.default_rng(1).random(X.shape) < np.linspace(0.1, 0.9, 60)
    X = np.abs(X) * present
    X[:, 7] = 0
    for container in (np.asarray, sparse.csr_array):
        objective = objective_of(container(X), y, l2=1e-3)
        shape = objective.shape
        x = np.random.default_rng(0).normal(size=objective.n_parameters) / 9
        hessian = hessian_at(objective, x)
        coordinates = coordinates_at(objective, x, "diagonal")
        moves = [coordinates.to_parameters(e) for e in np.eye(len(x))]
        curvatures = np.array([move @ hessian @ move for move in moves])
        curvatures = curvatures.reshape(shape)
        # The expected unit is from the curvature of centred columns in each output.
        ridge = objective.penalty.diagonal[:-1]
        blocks = np.einsum("kikj->kij", hessian.reshape(*shape, *shape))
        diagonal = np.einsum("kii->ki", blocks)
        centred = diagonal[:, :-1] - blocks[:, -1, :-1] ** 2 / diagonal[:, -1:] - ridge
        centred = np.maximum(centred, 0)
        common = centred.mean(axis=0)
        unit = np.sqrt(np.maximum(centred, 1e-4 * common) * common) + ridge
        assert_allclose(curvatures[:, :-1], (centred + ridge) / unit, rtol=1e-3)
        unit = np.sqrt(diagonal[:, -1] * diagonal[:, -1].mean())
        assert_allclose(curvatures[:, -1], diagonal[:, -1] / unit, rtol=1e-3)


def test_without_own_units_all_outputs_have_the_same():
    objective = correlated(4)
    x = np.random.default_rng(0).normal(size=objective.n_parameters)
    point, moments = objective.at(x), objective.at(x).curvature_moments()
    for own_units in (True, False):
        scaling = Scaling(moments, point.ridge, objective.description, own_units)
        columns = np.zeros(objective.shape)
        columns[:, :-1] = 1
        rows = scaling.to_parameters(columns.ravel()).reshape(objective.shape)
        are_equal = np.allclose(rows[:, :-1], rows[0, :-1], rtol=1e-12)
        assert are_equal == (not own_units)


@pytest.mark.parametrize("kind", ["gram by output", "gram", "diagonal"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_gradient_is_the_adjoint_of_the_change(n_classes, kind):
    objective = correlated(n_classes)
    rng = np.random.default_rng(0)
    for x in (objective.initial(), 0.1 * rng.normal(size=objective.n_parameters)):
        coordinates = coordinates_at(objective, x, kind)
        gradient = rng.normal(size=objective.n_parameters)
        variables = rng.normal(size=coordinates.gradient(gradient).size)
        expected = coordinates.to_parameters(variables) @ gradient
        assert_allclose(expected, variables @ coordinates.gradient(gradient), rtol=1e-8)


def test_the_identity_changes_nothing():
    vector = np.arange(6.0)
    assert Identity().to_parameters(vector) is Identity().gradient(vector) is vector


@pytest.mark.parametrize("n_outputs", [1, 4])
def test_of_one_gram_matrix_for_each_output_every_block_becomes_the_identity(n_outputs):
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(n_outputs, 5, 8))
    grams, ridge = factors @ factors.swapaxes(1, 2), np.full(5, 1e-3)
    shape, dtype = (n_outputs, 5), np.dtype("f8")
    description = Description(n_rows=8, n_stored=40, shape=shape, dtype=dtype)
    whitening = Whitening(grams, ridge, description)
    hessian = np.zeros((n_outputs * 5, n_outputs * 5))
    for k, gram in enumerate(grams):
        some = slice(5 * k, 5 * k + 5)
        hessian[some, some] = gram + np.diag(ridge)
    moves = np.array([whitening.to_parameters(e) for e in np.eye(len(hessian))])
    assert_allclose(moves @ hessian @ moves.T, np.eye(len(hessian)), atol=1e-6)


def test_rank_deficient_constant_and_vanishing_features_get_finite_coordinates():
    X, y = classes(3)
    columns = [X, X[:, :1], np.full((60, 1), 1e6), np.zeros((60, 1)), X[:, 1:] * 1e-200]
    for l2, mapping in ((0.0, Softmax()), (0.01, Softmax()), (0.0, Sparsemax())):
        objective = objective_of(np.hstack(columns), y, mapping, l2=l2)
        # Far out no row has any curvature.
        for x in (objective.initial(), 10.0 * np.arange(objective.n_parameters)):
            gradient = objective.at(x).gradient
            for kind in ("gram by output", "gram", "diagonal"):
                coordinates = coordinates_at(objective, x, kind)
                step = coordinates.to_parameters(coordinates.gradient(gradient))
                assert np.isfinite(step).all()
                assert step @ gradient >= 0


@pytest.mark.parametrize("entry", [np.nan, np.inf])
def test_numbers_that_overflowed_do_not_hang_it(entry):
    gram = np.diag([1.0, entry, 2.0])
    assert_array_equal(_inverse_factor(gram, 1e-9), np.eye(3))
    # Not positive definite, but finite: something is added until it is.
    factor = _inverse_factor(np.diag([1.0, -1.0]), 1e-9)
    assert np.isfinite(factor).all()
