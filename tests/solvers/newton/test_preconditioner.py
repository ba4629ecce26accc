"""The approximate inverse of a Hessian: exact on a quadratic, and used again."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.solvers import Preconditioner, plan
from skprob.solvers._coordinates import Identity, Scaling, Whitening
from skprob.solvers.newton._conjugate_gradients import conjugate_gradients

from ..training_problems import classes, correlated, hessian_at, objective_of

MAPPINGS = [Softmax(), Entmax(1.5), Sparsemax()]


def preconditioner_at(objective, x, kind="gram by output", before=None, **options):
    """The preconditioner of this kind at a point, from all rows."""
    chosen = plan(objective.description)._replace(
        preconditioner=kind, n_drawn=10**9, **options
    )
    point = objective.at(x)
    return Preconditioner.at(point, chosen, objective.description, before)


def as_matrix(preconditioner, n):
    columns = []
    for e in np.eye(n):
        product, square = preconditioner.times(e)
        assert square == pytest.approx(e @ product)
        columns.append(product)
    return np.array(columns)


@pytest.mark.parametrize("mapping", MAPPINGS, ids=repr)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_of_one_output_it_is_the_exact_inverse(mapping, fit_intercept):
    for container in (np.asarray, sparse.csr_array):
        objective = correlated(
            2, container, mapping=mapping, l2=1e-4, fit_intercept=fit_intercept
        )
        rng = np.random.default_rng(0)
        x = 0.1 * rng.normal(size=objective.n_parameters)
        hessian = hessian_at(objective, x)
        inverse = as_matrix(preconditioner_at(objective, x), len(x))
        assert_allclose(inverse @ hessian, np.eye(len(x)), atol=1e-4)
        assert_allclose(inverse, inverse.T, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mapping", MAPPINGS, ids=repr)
def test_of_several_outputs_the_hessian_is_about_the_identity(mapping):
    objective = correlated(4, mapping=mapping, l2=1e-3)
    x = 0.3 * np.random.default_rng(0).normal(size=objective.n_parameters)
    hessian = hessian_at(objective, x)
    inverse = as_matrix(preconditioner_at(objective, x), len(x))
    values = np.linalg.eigvals(inverse @ hessian).real
    # A shift of all intercepts has no curvature.
    values = np.sort(values)[1:]
    assert values.min() > 0
    assert values.max() / values.min() < 100
    raw = np.linalg.eigvalsh(hessian)[1:]
    assert raw.max() / raw.min() > 500


class Scaled:
    """Coordinates w = T v with any matrix T, wide or high."""

    def __init__(self, matrix):
        self._matrix = matrix

    def to_parameters(self, variables):
        return self._matrix @ variables

    def gradient(self, gradient):
        return self._matrix.T @ gradient


def test_recycled_directions_are_known_exactly_and_spare_products():
    """In coordinates that approximate the Hessian badly."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    hessian = basis * np.logspace(-3, 1, 12) @ basis.T
    preconditioner = Preconditioner(Scaled(rng.normal(size=(12, 15))))
    gradient, other = rng.normal(size=(2, 12))

    def solve(gradient, preconditioner, n_kept=0):
        return conjugate_gradients(
            lambda d: hessian @ d,
            gradient,
            preconditioner.times,
            forcing_term=1e-12,
            least_gain=0.2,
            n_kept=n_kept,
        )

    model = solve(gradient, preconditioner, n_kept=8)
    kept, without = model.kept, solve(other, preconditioner)
    # Symmetric and positive, also where the Hessian has changed since.
    wrong = kept.products * rng.uniform(0.5, 2, (1, kept.products.shape[1], 1))
    changed = preconditioner.after(model._replace(kept=kept._replace(products=wrong)))
    inverse = as_matrix(changed, 12)
    assert_allclose(inverse, inverse.T, atol=1e-9 * np.abs(inverse).max())
    assert np.linalg.eigvalsh(inverse).min() > 0
    after = preconditioner.after(model)
    assert after.n_products == model.n_products
    for direction, product in zip(kept.directions[0], kept.products[0], strict=True):
        assert_allclose(after.times(product)[0], direction, rtol=1e-6)
    with_them = solve(other, after)
    most = other @ np.linalg.solve(hessian, other) / 2
    for preconditioner in (without, with_them):
        gain = -(
            other @ preconditioner.step
            + preconditioner.step @ hessian @ preconditioner.step / 2
        )
        assert 0.9 * most < gain <= most * (1 + 1e-9)
    assert with_them.n_products < 0.7 * without.n_products


def test_each_kind_has_its_coordinates():
    objective = objective_of(*classes())
    for kind, coordinates in (
        ("none", Identity),
        ("diagonal", Scaling),
        ("gram", Whitening),
        ("gram by output", Whitening),
    ):
        preconditioner = preconditioner_at(objective, objective.initial(), kind)
        assert type(preconditioner.coordinates) is coordinates
        assert (preconditioner.recycled, preconditioner.n_products) == (None, 0)


def test_products_are_added_up_and_the_first_state_stays_as_it_is():
    objective = correlated(3, l2=1.0)
    first = preconditioner_at(objective, objective.initial())
    gradient = objective.at(objective.initial()).gradient
    before = first.times(gradient)[0]
    model = conjugate_gradients(
        objective.at(objective.initial()).hessian_product,
        gradient,
        first.times,
        forcing_term=1e-3,
        n_kept=2,
    )
    twice = first.after(model).after(model)
    assert twice.n_products == 2 * model.n_products
    assert twice.recycled is model.kept
    assert (first.recycled, first.n_products) == (None, 0)
    assert_allclose(first.times(gradient)[0], before, rtol=0)


def test_a_share_of_the_curvature_at_zero_is_added_away_from_there():
    """Rows without curvature get some: all of them, far out."""
    X, y = classes(4)
    objective = objective_of(X, y, Sparsemax(), l2=0.0)
    share = {"share_at_zero": 0.25}
    zero, far = objective.initial(), 1e3 * np.arange(objective.n_parameters)
    at_zero = objective.at(zero)
    first = preconditioner_at(objective, zero, **share)
    # There all classes have the same.
    assert_allclose(first.sandwiches_at_zero, at_zero.sandwiches(False, np.inf))
    assert not objective.at(far).total_curvature()[0].any()
    after = preconditioner_at(objective, far, before=first, **share)
    assert after.sandwiches_at_zero is first.sandwiches_at_zero
    blocks = 0.25 * at_zero.sandwiches(True, np.inf)
    variables = np.zeros(len(after.coordinates.gradient(zero)))
    n_columns = objective.shape[1]
    for k in range(4):
        for j in range(n_columns):
            variables[:] = 0
            variables[n_columns * k + j] = 1
            move = after.coordinates.to_parameters(variables).reshape(objective.shape)
            # Leave out the shift of all classes.
            centred = move - move.mean(axis=0)
            curvature = centred[k] @ blocks[k] @ centred[k] / (3 / 4) ** 2
            assert curvature == pytest.approx(1, rel=1e-6)
    without = preconditioner_at(objective, far, before=first)
    assert not np.allclose(
        without.times(np.eye(len(zero))[0])[0], after.times(np.eye(len(zero))[0])[0]
    )


@pytest.mark.parametrize("kind", ["none", "diagonal", "gram", "gram by output"])
def test_for_another_penalty_it_is_that_of_the_same_curvature(kind):
    """It takes no pass, and uses no directions of a step."""
    objective = correlated(3, l2=1.0)
    weaker = objective.with_l2(1e-4)
    x = 0.1 * np.ones(objective.n_parameters)
    first, expected = (preconditioner_at(o, x, kind) for o in (objective, weaker))
    before = objective.passes
    chosen = plan(objective.description)._replace(preconditioner=kind)
    ridge = weaker.at(x).ridge
    preconditioner = first.with_ridge(ridge, chosen, objective.description)
    assert objective.passes == before + 1  # for the point
    assert preconditioner.recycled is None
    gradient = np.arange(objective.n_parameters, dtype=float)
    assert_allclose(
        preconditioner.times(gradient)[0], expected.times(gradient)[0], rtol=1e-9
    )
    if kind != "none":
        assert not np.allclose(
            preconditioner.times(gradient)[0], first.times(gradient)[0]
        )


def test_single_precision_ends_where_its_rounding_errors_would_matter():
    """Not for collinear features, nor where rows have next to no curvature."""
    X, y = classes(4, n_samples=300, n_features=4)
    nearly = X + 1e-4 * np.random.default_rng(0).normal(size=X.shape)
    collinear = np.hstack([X, nearly])
    for rows, scale, expected in (
        (X, 0.1, np.float32),
        (collinear, 0.1, np.float64),
        (X, 1e3, np.float64),
    ):
        objective = objective_of(rows, y, l2=1e-9)
        x = scale * np.random.default_rng(1).normal(size=objective.n_parameters)
        single = preconditioner_at(objective, x, precision=np.float32)
        assert single.precision is expected
        double = preconditioner_at(objective, x, precision=np.float64)
        is_same = (single.moments_or_grams == double.moments_or_grams).all()
        assert is_same == (expected is np.float64)
    # It does not begin again.
    objective = objective_of(X, y)
    x = objective.initial()
    after = preconditioner_at(objective, x, precision=np.float32, before=single)
    assert after.precision is np.float64
