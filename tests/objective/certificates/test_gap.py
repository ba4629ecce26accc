"""The bound on value less minimum: above it everywhere, and zero at the minimum."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skprob.losses import AccuracyLoss, FenchelYoungLoss, LogLoss, MarginLoss
from skprob.mappings import Entmax, Softmax, Sparsemax, Temperature
from skprob.objective import CosineObjective, LinearObjective, split_rows
from skprob.solvers import Tuning, solve
from skprob.targets import LabelTarget, as_target

from ...solvers.training_problems import (
    METHODS,
    classes,
    exact_optimum,
    objective_of,
)

COSTS = np.array([[0, 1, 2, 0], [0.5, 0, 1, 1], [0.2, 0, 0, 2], [1, 1, 0.3, 0]]) / 4
LOSSES = {
    repr(loss): loss
    for loss in (
        *(
            FenchelYoungLoss(m)
            for m in (Softmax(), Entmax(0.75), Entmax(1.5), Sparsemax())
        ),
        FenchelYoungLoss(Temperature(Entmax(1.25), 0.5)),
        LogLoss(Softmax()),
        MarginLoss(FenchelYoungLoss(Softmax()), 0.5),
        MarginLoss(MarginLoss(FenchelYoungLoss(Entmax(1.5)), 0.2), 0.1),
        MarginLoss(MarginLoss(FenchelYoungLoss(Entmax(1.5)), 0.2), COSTS),
        MarginLoss(LogLoss(Softmax()), COSTS),
    )
}
every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
SHAPES = [(2, True), (2, False), (4, True), (4, False)]


def of_size(loss, n_classes):
    """The loss with the costs of the first few classes."""
    costs = getattr(loss, "margin", 0)
    if costs is not COSTS:
        return loss
    return MarginLoss(loss.loss, costs[:n_classes, :n_classes])


def margins(loss, Q):
    """Margins that are added to the scores of rows with the distributions Q."""
    if not isinstance(loss, MarginLoss):
        return 0
    added = loss.margin * (1 - Q) if np.isscalar(loss.margin) else Q @ loss.margin
    return added + margins(loss.loss, Q)


def data(n_classes):
    rng = np.random.default_rng(n_classes)
    X = rng.normal([0, 1, 5], [1, 0.1, 3], size=(40, 3))
    Q = rng.dirichlet(np.full(n_classes, 0.3), size=40)
    Q[::2] = np.eye(n_classes)[rng.integers(n_classes, size=20)]
    return X, Q, rng.uniform(0, 2, 40)


def problem(loss, n_classes, fit_intercept=True, l2=0.05, container=np.asarray):
    X, Q, weight = data(n_classes)
    blocks = split_rows(container(X), as_target(Q, Q.shape, float), weight)
    loss = of_size(loss, n_classes)
    return LinearObjective(blocks, loss, l2=l2, fit_intercept=fit_intercept)


def gap_at(objective, x, enough=0.0):
    point = objective.at(x)
    return point.value, objective.duality_gap(point, enough)


@every_loss
def test_it_bounds_what_is_left_and_vanishes_at_the_minimum(loss):
    rng = np.random.default_rng(0)
    for n_classes, fit_intercept in SHAPES:
        container = sparse.csr_array if fit_intercept else np.asarray
        objective = problem(loss, n_classes, fit_intercept, container=container)
        best = exact_optimum(objective)
        least, gap = gap_at(objective, best)
        assert 0 <= gap <= 1e-8
        assert objective.has_certificate()
        for size in (1e-4, 1e-2, 1.0, 10.0):
            for _ in range(3):
                point = best + size * rng.normal(size=best.size)
                value, gap = gap_at(objective, point)
                assert value - least <= gap * (1 + 1e-9) + 1e-14
                assert 0 <= gap <= value


def test_one_step_of_the_intercepts_is_not_repeated_for_a_bound_that_is_known():
    """With many raw predictions; with few, a smaller bound takes more steps."""
    objective = problem(FenchelYoungLoss(Softmax()), 3, True)
    rng = np.random.default_rng(0)
    x = exact_optimum(objective)
    x.reshape(objective.shape)[:, -1] += rng.normal(size=3)
    point, other = objective.at(x), objective.at(x.copy())
    few = objective.duality_gap(point)
    objective.tuning = Tuning(most_twice=0)
    first = objective.duality_gap(point)
    assert few < first < 0.9 * point.value
    passes = objective.passes
    assert objective.duality_gap(point, known=first) == first
    assert objective.passes == passes
    # A bound of another point.
    assert objective.duality_gap(other, known=0.9 * point.value) == first
    assert objective.passes > passes


@every_loss
@pytest.mark.parametrize("n_steps", [1, 20])
def test_it_is_the_gap_of_its_formula(loss, n_steps):
    """The formula in raw features, at the probabilities with better intercepts."""
    rng, l2 = np.random.default_rng(1), 0.05
    for n_classes, fit_intercept in SHAPES:
        objective = problem(loss, n_classes, fit_intercept, l2)
        if n_steps == 1:  # The limit for many raw predictions.
            objective.tuning = Tuning(most_twice=0)
        X, Q, s = data(n_classes)
        s = s / s.sum()
        point = exact_optimum(objective)
        point = point + 0.01 * rng.normal(size=point.size)
        value, gap = gap_at(objective, point)
        coef, intercept = objective.to_model(point)
        scores = X @ coef.T + intercept
        if n_classes == 2:
            scores = np.hstack([-scores / 2, scores / 2])
        scores += margins(objective.loss, Q)
        mapping, share, extra = loss.mapping, 0.0, 0.0
        p = mapping(scores)
        if fit_intercept:
            # Newton's steps of the intercepts, and what their means still lack.
            shifted = scores
            for _ in range(n_steps):
                hessian = np.tensordot(s, mapping.jacobian(shifted), 1)
                shifted = shifted - np.linalg.pinv(hessian) @ (s @ (p - Q))
                p = mapping(shifted)
            mean, target = s @ p, s @ Q
            share = np.max(1 - target / mean)
        p_mixed = p
        if share > 1e-12:
            u = np.maximum(target - (1 - share) * mean, 0)
            u /= u.sum()
            p_mixed = (1 - share) * p + share * u
            assert_allclose(s @ p_mixed, target)
            extra = s @ (mapping.potential(scores) - scores @ u)
            extra -= mapping.entropy(u[None])[0]
        first = s @ (mapping.potential(scores) - mapping.entropy(p))
        first -= s @ np.sum(p * scores, axis=1)
        v = ((p_mixed - Q) * s[:, None]).T @ X
        v = v if n_classes > 2 else (v[1:] - v[:1]) / 2
        expected = (1 - share) * first + share * extra
        expected += np.sum((l2 * coef + v) ** 2) / (2 * l2)
        # The steps are found to 1/1000.
        assert gap == pytest.approx(min(expected, value), rel=0.02)


@every_loss
def test_newtons_step_makes_it_about_as_small_as_what_is_left(loss):
    rng = np.random.default_rng(3)
    for n_classes, fit_intercept in SHAPES:
        objective = problem(loss, n_classes, fit_intercept, l2=1e-5)
        best = exact_optimum(objective)
        least, _ = gap_at(objective, best)
        ratios = []
        for size in (1e-3, 1e-2, 0.1, 1.0, 10.0):
            point = best + size * rng.normal(size=best.size)
            at_point = objective.at(point)
            value = at_point.value
            newton = np.linalg.lstsq(at_point.hessian(), -at_point.gradient)[0]
            without = objective.duality_gap(at_point, enough=np.inf)
            for step in (newton, rng.normal(size=point.size)):
                gap = objective.duality_gap(at_point, after=objective.at(point + step))
                # A bound, whatever the step is, and never a looser one.
                assert value - least <= gap * (1 + 1e-9) + 1e-13
                assert gap <= without
                ratios.append(gap / (value - least))
        assert ratios[0] <= 1.5


@pytest.mark.parametrize("n_classes", [2, 4])
def test_it_is_made_tighter_where_that_pays(n_classes):
    objective = problem(FenchelYoungLoss(Entmax(1.5)), n_classes)
    best = exact_optimum(objective)
    least, _ = gap_at(objective, best)
    objective.target_sums()  # All bounds have these sums in common: they take a pass.
    step = np.random.default_rng(2).normal(size=objective.shape)
    coefs, intercepts = 0.1 * step, 0.1 * step
    coefs[:, -1] = intercepts[:, :-1] = 0

    def passes_and_gap(step, enough):
        before, point = objective.passes, best + step.ravel()
        value, gap = gap_at(objective, point, enough=enough)
        assert value - least <= gap
        return objective.passes - before - 1, gap  # without those for the value

    # Other intercepts are all that it takes.
    assert passes_and_gap(intercepts, enough=np.inf)[0] == 0
    assert passes_and_gap(intercepts, enough=0)[0] > 0
    # They gain next to nothing, but it may be enough.
    passes, loose = passes_and_gap(coefs, enough=np.inf)
    assert passes == 0
    assert passes_and_gap(coefs, enough=0.1 * loose) == (0, loose)
    passes, tight = passes_and_gap(coefs, enough=0.99 * loose)
    assert passes > 0
    assert tight <= loose


@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5), Sparsemax()], ids=repr)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_it_is_not_far_above_what_is_left(mapping, n_classes):
    """It was a thousand times as large while the intercepts stayed where they were."""
    X, y = classes(n_classes, n_samples=100)
    objective = objective_of(X, y, mapping, l2=0.01)
    least, _ = objective.value_and_gradient(exact_optimum(objective))
    for solver in METHODS:
        solution = solve(
            objective, objective.initial(), solver=solver, tol=1e-3, max_iter=1000
        )
        _, gap = gap_at(objective, solution.parameters)
        left = solution.value - least
        assert left <= gap * (1 + 1e-6) + 1e-15
        # A gap of a millionth of the objective is not made smaller.
        assert gap <= 100 * left + 1e-6 * solution.value


@pytest.mark.parametrize(
    ("mapping", "dtype"),
    [(Softmax(), np.float32), (Softmax(), np.float64), (Sparsemax(), np.float32)],
    ids=repr,
)
def test_neither_it_nor_the_objective_is_ever_negative(mapping, dtype):
    """Where next to nothing is left, rounding decides."""
    X, y = classes(3, n_samples=40, n_features=5)
    X = (X + 20 * np.eye(5)[y]).astype(dtype)
    for l2 in (1e-3, 1e-8, 1e-14, 0.0):
        objective = objective_of(X, y, mapping, l2=l2)
        for solver in METHODS:
            solution = solve(
                objective, objective.initial(), solver=solver, tol=1e-9, max_iter=200
            )
            value, gap = gap_at(objective, solution.parameters)
            assert gap >= 0
            assert value >= 0
            assert min(row[1] for row in solution.history) >= 0


def test_where_no_better_bound_is_known_it_says_so():
    fenchel_young = FenchelYoungLoss(Softmax())
    objective = problem(fenchel_young, 3, l2=0.0)
    assert not objective.has_certificate()
    value, gap = gap_at(objective, np.ones(objective.n_parameters))
    assert gap == value
    accuracy = AccuracyLoss(Softmax())
    for loss in (accuracy, MarginLoss(accuracy, 0.5)):
        objective = problem(loss, 3)
        assert not objective.has_certificate()
        assert gap_at(objective, objective.initial())[1] == np.inf
    cosine = CosineObjective(problem(fenchel_young, 3).blocks, fenchel_young)
    assert not cosine.has_certificate()
    assert gap_at(cosine, cosine.initial())[1] == np.inf


def test_a_class_that_is_never_the_target_leaves_no_certificate():
    X, y = classes(3)
    for fit_intercept in (True, False):
        blocks = split_rows(X, LabelTarget(y, 4), np.ones(len(y)))
        objective = LinearObjective(
            blocks, FenchelYoungLoss(Softmax()), l2=0.1, fit_intercept=fit_intercept
        )
        assert objective.has_certificate() != fit_intercept
        # A bound it is, though it does not vanish.
        best = exact_optimum(objective)
        assert gap_at(objective, best)[1] >= 0


@pytest.mark.parametrize("unit", [1e-150, 1e150, 1e300])
def test_absurd_units_give_a_bound(unit):
    X, y = classes(3)
    objective = objective_of(X * [1, 1, unit], y, l2=0.01)
    x = 0.1 * np.ones(objective.n_parameters)
    value, gap = gap_at(objective, x)
    assert 0 <= gap <= value
