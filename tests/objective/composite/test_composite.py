"""Composite objectives against the formula, derivatives and the best of steps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skprob.losses import FenchelYoungLoss
from skprob.mappings import Sigmoid, Softmax, Sparsemax
from skprob.objective import CompositeObjective, PenaltyShape, split_rows
from skprob.solvers import Tuning
from skprob.targets import as_target

from ..formulas import Problem, in_model

FACTORS = np.array([1.0, 2.0, 0.0, 0.5])


def composite(
    problem,
    mapping,
    shape,
    *,
    X=None,
    strength=0.1,
    fit_intercept=True,
    tuning=Tuning(),
):
    X = problem.X if X is None else X
    target = as_target(problem.Q, problem.Q.shape, X.dtype)
    return CompositeObjective(
        split_rows(X, target, problem.weight, tuning=tuning),
        FenchelYoungLoss(mapping),
        strength=strength,
        shape=shape,
        fit_intercept=fit_intercept,
        tuning=tuning,
    )


def formula(problem, mapping, shape, coef, *, strength=0.1, fit_intercept=True):
    """Mean loss plus penalty, of coefficients and the problem's intercepts."""
    raw = problem.X @ coef.T + problem.intercept * fit_intercept
    scores = raw if raw.shape[1] > 1 else np.hstack([-raw / 2, raw / 2])
    losses = FenchelYoungLoss(mapping).value(scores, problem.Q)
    factors = np.ones(4) if shape.factors is None else shape.factors
    sizes = abs(coef).sum(axis=0)
    if shape.by_feature:
        sizes = np.linalg.norm(coef, axis=0)
    ridge = (1 - shape.l1_ratio) / 2 * (factors * coef**2).sum()
    penalty = ridge + shape.l1_ratio * factors @ sizes
    return np.average(losses, weights=problem.weight) + strength * penalty


@pytest.mark.parametrize("mapping", [Softmax(), Sparsemax(), Sigmoid()], ids=repr)
@pytest.mark.parametrize("by_feature", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_value_and_smallest_subgradient(mapping, by_feature, n_classes, fit_intercept):
    problem = Problem(n_classes, polytope=mapping.traits.polytope)
    rng, shape = np.random.default_rng(0), PenaltyShape(0.6, by_feature, FACTORS)
    kind = {"fit_intercept": fit_intercept}
    problem.coef[:, 1] = 0
    problem.coef[0, 0] = 0
    X = sparse.csr_array(problem.X)
    for objective in (
        composite(problem, mapping, shape, **kind),
        composite(problem, mapping, shape, X=X, **kind),
    ):
        intercept = problem.intercept * fit_intercept
        x = objective.from_model(problem.coef, intercept)
        expected = formula(problem, mapping, shape, problem.coef, **kind)
        point = objective.at(x)
        value, gradient = objective.value_and_gradient(x)
        assert point.value == pytest.approx(expected, rel=1e-12)
        assert value == pytest.approx(expected, rel=1e-12)
        assert_allclose(point.gradient, gradient, atol=1e-13)
        # Steepest descent: see the test of shrinkages.
        smallest, step = gradient.reshape(objective.shape), 1e-7
        norm = np.linalg.norm(smallest)
        directions = rng.normal(size=(30, *objective.shape))
        for direction in directions:
            direction = direction / np.linalg.norm(direction)
            moved = objective.value_and_gradient(x + step * direction.ravel())[0]
            slope = (moved - value) / step
            assert slope >= -norm - 1e-5
        descent = x - step * smallest.ravel() / norm
        moved = objective.value_and_gradient(descent)[0]
        assert (moved - value) / step == pytest.approx(-norm, abs=1e-5)


@pytest.mark.parametrize("by_feature", [False, True])
def test_other_strengths_and_some_features(by_feature):
    problem, mapping = Problem(3), Softmax()
    shape = PenaltyShape(0.6, by_feature, FACTORS)
    objective = composite(problem, mapping, shape)
    x = objective.from_model(problem.coef, problem.intercept)
    stronger = objective.with_l2(0.7)
    expected = formula(problem, mapping, shape, problem.coef, strength=0.7)
    assert stronger.at(x).value == pytest.approx(expected, rel=1e-12)
    # Back to the first penalty.
    assert stronger.with_l2(0.1).at(x).value == pytest.approx(objective.at(x).value)

    features = np.array([1, 3])
    part = objective.restricted(features)
    coef = np.zeros_like(problem.coef)
    coef[:, features] = problem.coef[:, features]
    parameters = part.from_model(coef, problem.intercept)
    expected = formula(problem, mapping, shape, coef)
    point = part.at(parameters)
    assert point.value == pytest.approx(expected, rel=1e-12)
    whole = objective.at(objective.from_model(coef, problem.intercept))
    columns = np.append(features, 4)
    gradient = whole.gradient.reshape(3, 5)[:, columns]
    assert_allclose(point.gradient.reshape(3, 3), gradient, atol=1e-12)
    back, intercept = part.to_model(parameters)
    assert_allclose(back, coef, atol=1e-13)
    # One number added to all intercepts is no change.
    shift = problem.intercept - intercept
    assert_allclose(shift, shift.mean(), atol=1e-12)
    assert in_model(objective, whole.gradient)[0].shape == coef.shape


@pytest.mark.parametrize("n_blocks", [1, 3])
@pytest.mark.parametrize("of_little", ["neither", "some features", "both"])
def test_points_with_the_same_raw_predictions(n_blocks, of_little, monkeypatch):
    """A point of some features is one of all, with zeros.

    It takes no pass, and the one of all half a pass.
    """
    problem, shape = Problem(4), PenaltyShape(0.6, False, FACTORS)
    largest = {"neither": 0, "some features": 60, "both": 1 << 18}[of_little]
    slices = "skprob.objective._block.row_slices"
    rows = [slice(i, None, n_blocks) for i in range(n_blocks)]
    monkeypatch.setattr(slices, lambda *_: rows)
    problem.coef[:, 2] = 0
    tuning = Tuning(most_standardised=largest)
    whole = composite(problem, Softmax(), shape, tuning=tuning)
    some = whole.restricted(np.array([0, 1, 3]))
    x = whole.from_model(problem.coef, problem.intercept)
    part = np.delete(x.reshape(4, -1), 2, axis=1).ravel()
    step = np.random.default_rng(0).normal(size=part.shape)
    point = whole.at(x)
    passes = whole.passes
    columns = np.delete(np.arange(len(x) // 4), 2)
    started = some.at_part(point, columns)
    assert some.passes == passes
    assert_allclose(started.parameters, part, atol=0)
    ended = some.composed(started.smooth.along(step).arrive(0.5))
    moved = np.insert((part + 0.5 * step).reshape(4, -1), 2, 0, axis=1).ravel()
    passes = whole.passes
    again = whole.at(moved, known=ended)
    assert whole.passes - passes == 0.5
    for point, expected in [
        (started, some.at(part)),
        (ended, some.at(part + 0.5 * step)),
        (again, whole.at(moved)),
    ]:
        assert point.value == pytest.approx(expected.value, rel=1e-12)
        assert_allclose(point.gradient, expected.gradient, atol=1e-12)
        direction = np.ones(len(point.parameters))
        product = point.smooth.hessian_product(direction)
        expected = expected.smooth.hessian_product(direction)
        assert_allclose(product, expected, atol=1e-12)


def test_what_a_shrinkage_makes_of_a_problem():
    problem = Problem(3)
    plain = composite(problem, Softmax(), PenaltyShape(0.5))
    free = composite(problem, Softmax(), PenaltyShape(0.5, factors=FACTORS))
    assert plain.has_penalty and not free.has_penalty
    assert plain.description.has_shrinkage
    assert plain.family(np.ones(2)) is None
    cube = Problem(3, polytope="cube")
    by_entry = composite(cube, Sigmoid(), PenaltyShape(0.5))
    by_feature = composite(cube, Sigmoid(), PenaltyShape(0.5, True))
    assert by_entry.description.is_separable
    assert not by_feature.description.is_separable


@pytest.mark.parametrize("by_feature", [False, True])
def test_penalties_to_minimise_under_first(by_feature):
    problem, shape = Problem(4, n_samples=15), PenaltyShape(0.6, by_feature)
    objective = composite(problem, Sparsemax(), shape, strength=1e-6)
    assert problem.X.shape[0] < objective.n_parameters
    coef, intercept = np.zeros((4, 4)), np.zeros(4)

    def enters(other):
        gradient = other.at(other.from_model(coef, intercept)).gradient
        return gradient.reshape(other.shape)[:, :-1].any()

    stronger = objective.under_stronger_penalties()
    assert len(stronger) >= 3
    for i, other in enumerate(reversed(stronger), start=1):
        times = other.shrinkage.thresholds[:-1] / objective.shrinkage.thresholds[:-1]
        assert_allclose(times, 10.0 ** (i / 2))
        diagonal = 10.0 ** (i / 2) * objective.penalty.diagonal
        assert_allclose(other.penalty.diagonal, diagonal)
        assert other.loss is objective.loss
        assert enters(other)
    strongest = 10.0 ** ((1 + len(stronger)) / 2) * 1e-6
    assert not enters(composite(problem, Sparsemax(), shape, strength=strongest))
    # Near the strongest, with more rows than parameters, and without zeros.
    near = composite(problem, Sparsemax(), shape, strength=strongest / 90)
    assert near.under_stronger_penalties() == []
    many = composite(Problem(4, n_samples=40), Sparsemax(), shape, strength=1e-6)
    assert many.under_stronger_penalties() == []
    positive = composite(problem, Softmax(), shape, strength=1e-6)
    assert positive.under_stronger_penalties() == []
