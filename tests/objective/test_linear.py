"""The objective of the linear model against its formula."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skprob.data import LocalBlocks
from skprob.losses import AccuracyLoss, FenchelYoungLoss, LogLoss, MarginLoss
from skprob.mappings import Entmax, Sigmoid, Softmax, Sparsemax
from skprob.objective import LinearObjective, split_rows
from skprob.targets import LabelTarget, SmoothedTarget, SparseTarget, as_target

from ..losses.cases import LOSSES, MAPPINGS
from ..solvers.training_problems import hessian_at, in_blocks
from .formulas import Problem, in_model

SOFTMAX_LOSS = FenchelYoungLoss(Softmax())


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_value_and_gradient_are_those_of_the_formula(mapping):
    """For every loss of the registry through the mapping."""
    losses = [loss for loss in LOSSES.values() if repr(loss.mapping) == mapping]
    assert losses
    shapes = (2, True), (3, False)
    for loss, (n_classes, fit_intercept) in itertools.product(losses, shapes):
        problem = Problem(n_classes, polytope=loss.traits.polytope)
        objective = problem.objective(loss, fit_intercept=fit_intercept)
        x = objective.from_model(problem.coef, problem.intercept)
        value, gradient = objective.value_and_gradient(x)
        expected = problem.formula(loss, fit_intercept=fit_intercept)
        assert_allclose(value, expected, rtol=1e-12)
        expected = problem.slope(loss, fit_intercept=fit_intercept)
        coef, intercept = in_model(objective, gradient)
        assert_allclose(coef, expected[0], rtol=1e-9, atol=1e-12)
        assert_allclose(intercept, expected[1] * fit_intercept, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("loss", [SOFTMAX_LOSS, FenchelYoungLoss(Sparsemax())], ids=str)
def test_any_cut_into_blocks_gives_the_same_sums(container, loss):
    problem = Problem(3)
    X, target = container(problem.X), as_target(problem.Q, problem.Q.shape, float)
    whole = problem.objective(loss, X=X)
    rng = np.random.default_rng(0)
    x, direction = rng.normal(size=(2, whole.n_parameters)) / 3

    def figures(objective):
        point = objective.at(x)
        return [
            *objective.units[:2],
            objective.constant,
            objective.value_at_zero,
            *objective.value_and_gradient(x),
            point.value,
            point.gradient,
            point.hessian_product(direction),
            point.hessian(),
            point.sandwiches(True, 100),
            *point.curvature_moments(),
            objective.class_means,
            *objective.target_sums(),
            objective.duality_gap(point),
        ]

    # The second row has no weight: it may be a block of its own.
    for cuts in ([1, 2, 7, 8], [5], list(range(1, 15))):
        blocks = in_blocks(X, target, problem.weight, cuts)
        cut = LinearObjective(blocks, loss, l2=0.1)
        assert cut.description == whole.description
        for one, other in zip(figures(cut), figures(whole), strict=True):
            assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def layouts(X):
    return {
        "F": np.asfortranarray(X),
        "csr": sparse.csr_array(X),
        "csr_matrix": sparse.csr_matrix(X),
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_layout_and_type_of_X_do_not_matter(dtype, n_classes):
    """Nor how the target is stored: numbers that are exact in both types."""
    problem = Problem(n_classes)
    problem.X = np.round(problem.X * 16) / 16
    tolerance = 1e-11 if dtype == np.float64 else 1e-4
    sparse_target = as_target(
        sparse.csr_array(problem.Q.astype(dtype)), problem.Q.shape, dtype
    )
    for loss in (SOFTMAX_LOSS, FenchelYoungLoss(Entmax(1.5)), LogLoss(Softmax())):
        expected = problem.formula(loss)
        slopes = problem.slope(loss)
        for name, X in layouts(problem.X.astype(dtype)).items():
            for target in (None, sparse_target):
                objective = problem.objective(loss, X=X, target=target)
                x = objective.from_model(problem.coef, problem.intercept)
                value, gradient = objective.value_and_gradient(x)
                assert gradient.dtype == np.float64
                assert_allclose(value, expected, rtol=tolerance, err_msg=name)
                for got, wanted in zip(
                    in_model(objective, gradient), slopes, strict=True
                ):
                    assert_allclose(got, wanted, atol=20 * tolerance, err_msg=name)


def test_label_sets_and_smoothed_labels_are_their_distributions():
    problem = Problem(4)
    sets = SparseTarget(
        np.arange(0, 31, 2), np.tile([0, 1, 1, 3], 8)[:30], np.full(30, 0.5), 4
    )
    labels = LabelTarget(np.arange(15) % 4, 4)
    for target in (
        sets,
        labels,
        SmoothedTarget(labels, 0.2),
        SmoothedTarget(sets, 0.2),
    ):
        problem.Q = target.to_dense(float)
        assert_allclose(problem.Q.sum(axis=1), 1)
        objective = problem.objective(SOFTMAX_LOSS, target=target)
        x = objective.from_model(problem.coef, problem.intercept)
        value, gradient = objective.value_and_gradient(x)
        assert_allclose(value, problem.formula(SOFTMAX_LOSS), rtol=1e-12)
        coef, intercept = in_model(objective, gradient)
        slopes = problem.slope(SOFTMAX_LOSS)
        assert_allclose(coef, slopes[0], rtol=1e-9)
        assert_allclose(intercept, slopes[1], rtol=1e-9)


def test_weights_are_relative_and_zero_is_absence():
    problem = Problem(3)
    objective = problem.objective(SOFTMAX_LOSS)
    x = objective.from_model(problem.coef, problem.intercept)
    value, gradient = objective.value_and_gradient(x)
    problem.weight *= 1000
    kept = problem.weight > 0
    scaled = problem.objective(SOFTMAX_LOSS)
    problem.X, problem.Q = problem.X[kept], problem.Q[kept]
    problem.weight = problem.weight[kept]
    for other in (scaled, problem.objective(SOFTMAX_LOSS)):
        assert_allclose(other.value_and_gradient(x)[0], value, rtol=1e-13)
        assert_allclose(other.value_and_gradient(x)[1], gradient, atol=1e-14)


def test_the_value_at_zero_is_that_of_equal_scores():
    problem = Problem(3)
    for loss in (SOFTMAX_LOSS, FenchelYoungLoss(Sparsemax()), AccuracyLoss(Softmax())):
        objective = problem.objective(loss)
        expected, _ = objective.value_and_gradient(np.zeros(objective.n_parameters))
        assert_allclose(objective.value_at_zero, expected, rtol=1e-14)


def test_another_penalty_or_loss_is_that_objective():
    problem = Problem(3)
    entmax = FenchelYoungLoss(Entmax(1.5))
    objective = problem.objective(SOFTMAX_LOSS, l2=0.1)
    x = objective.from_model(problem.coef, problem.intercept)
    before = objective.value_at_zero, *objective.value_and_gradient(x)
    for other, loss, l2 in (
        (objective.with_l2(3.0), SOFTMAX_LOSS, 3.0),
        (objective.with_l2(0.0), SOFTMAX_LOSS, 0.0),
        (objective.with_loss(entmax), entmax, 0.1),
        (objective.with_loss(entmax).with_l2(3.0), entmax, 3.0),
        (objective.with_l2(3.0).with_loss(entmax), entmax, 3.0),
    ):
        value, gradient = other.value_and_gradient(x)
        assert_allclose(value, problem.formula(loss, l2=l2), rtol=1e-12)
        expected = problem.slope(loss, l2=l2)
        for one, wanted in zip(in_model(other, gradient), expected, strict=True):
            assert_allclose(one, wanted, rtol=1e-9, atol=1e-12)
        at_zero, _ = other.value_and_gradient(np.zeros_like(x))
        assert_allclose(other.value_at_zero, at_zero)
        assert other.has_penalty == (l2 > 0)
        assert other.loss is loss
        assert other.description == problem.objective(loss, l2=l2).description
        assert_allclose(hessian_at(other, x), hessian_at(other, x).T, atol=1e-12)
    # The first is as it was.
    assert (objective.value_at_zero, *objective.value_and_gradient(x)[:1]) == before[:2]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_parameters_are_those_of_a_model(n_classes, fit_intercept):
    problem = Problem(n_classes)
    objective = problem.objective(SOFTMAX_LOSS, fit_intercept=fit_intercept)
    assert objective.coef_shape == problem.coef.shape
    x = objective.from_model(problem.coef, problem.intercept)
    assert x.shape == (objective.n_parameters,)
    coef, intercept = objective.to_model(x)
    assert_allclose(coef, problem.coef, rtol=1e-12)
    expected = problem.intercept * fit_intercept
    if n_classes > 2:
        # Intercepts of relative scores sum to zero.
        expected = expected - expected.mean()
    assert_allclose(intercept, expected, rtol=1e-12, atol=1e-12)


def test_what_is_free_is_zero_on_average():
    problem = Problem(3)
    for l2, loss, centred in (
        (0.0, SOFTMAX_LOSS, True),
        (0.1, SOFTMAX_LOSS, False),
        (0.0, LOSSES["LogLoss(mapping=TaylorSoftmax())"], False),
    ):
        objective = problem.objective(loss, l2=l2)
        x = objective.from_model(problem.coef, problem.intercept)
        coef, intercept = objective.to_model(x)
        assert np.allclose(coef.mean(axis=0), 0, atol=1e-12) == centred
        is_shift_invariant = loss is SOFTMAX_LOSS
        assert np.allclose(intercept.mean(), 0, atol=1e-12) == is_shift_invariant
        # The value has not changed.
        value, _ = objective.value_and_gradient(objective.from_model(coef, intercept))
        assert_allclose(value, objective.value_and_gradient(x)[0], rtol=1e-12)


def test_passes_over_the_data_are_counted():
    objective = Problem(3).objective(SOFTMAX_LOSS)
    x = np.linspace(-1, 1, objective.n_parameters)
    for n_passes, work in (
        (1, lambda: objective.value_and_gradient(x)),
        (1, lambda: objective.at(x)),
        (2, lambda: objective.at(x).hessian_product(x)),
        (1, lambda: objective.with_l2(2.0).value_and_gradient(x)),
    ):
        before = objective.passes
        work()
        assert objective.passes - before == n_passes


def far_intercepts(Y, polytope, fit_intercept=True, dtype=float):
    """Intercepts at which a fit to these rows starts."""
    mapping = {"cube": Sigmoid(), "simplex": Softmax()}[polytope]
    X = np.random.default_rng(0).normal(size=(len(Y), 2)).astype(dtype)
    target = as_target(Y / 1.0, Y.shape, X.dtype, polytope)
    blocks = split_rows(X, target, np.ones(len(Y)))
    loss = FenchelYoungLoss(mapping)
    objective = LinearObjective(blocks, loss, l2=0.1, fit_intercept=fit_intercept)
    coef, intercept = objective.to_model(objective.initial())
    assert not coef.any()
    _, gradient = objective.value_and_gradient(objective.initial())
    return intercept, in_model(objective, gradient)[1]


def test_a_class_in_no_row_starts_far_down():
    Y = np.eye(4)[[0, 1, 3, 3, 0, 1]]
    intercept, slope = far_intercepts(Y, "simplex")
    assert np.argmin(intercept) == 2
    # Its probability, the gradient of its intercept, is only rounding error.
    assert abs(slope[2]) <= np.finfo(float).eps
    assert_allclose(intercept[[0, 1, 3]], intercept[0])


def test_labels_in_no_row_and_in_all_rows_start_far_out():
    Y = np.array([[0, 1, 0], [0, 1, 1], [0, 1, 1]])
    for dtype in float, np.float32:
        intercept, slope = far_intercepts(Y, "cube", dtype=dtype)
        eps = np.finfo(dtype).eps
        assert_allclose(intercept, [np.log(eps), -np.log(eps), 0], rtol=1e-6)
        assert np.abs(slope[:2]).max() <= 1.1 * eps


def test_all_classes_in_some_rows_start_at_zero():
    assert not far_intercepts(np.eye(3)[[0, 1, 2, 2]], "simplex")[0].any()
    assert not far_intercepts(np.eye(2)[[0, 1, 0]], "simplex")[0].any()
    without = far_intercepts(np.eye(3)[[0, 1, 0]], "simplex", fit_intercept=False)
    assert not without[0].any()
    pair = far_intercepts(np.eye(2)[[1, 1, 1]], "simplex")[0]
    assert_allclose(pair, [-np.log(np.finfo(float).eps)])


@pytest.mark.parametrize("alpha", [1.0, 2.0])
def test_outputs_of_a_sum_add_up(alpha):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 3)), rng.integers(2, size=(40, 5)) / 1.0
    offset, available = rng.normal(size=Y.shape), (rng.random(Y.shape) < 0.7) | (Y > 0)
    target, weight = as_target(Y, Y.shape, float, "cube"), rng.random(40)
    blocks = split_rows(X, target, weight, offset=offset, available=available)
    objective = LinearObjective(blocks, FenchelYoungLoss(Sigmoid(alpha)), l2=0.1)
    x = rng.normal(size=objective.shape)
    value, gradient = objective.value_and_gradient(x.ravel())
    parts = [slice(0, 2), slice(2, 5)]
    pairs = [
        objective.of_outputs(part).value_and_gradient(x[part].ravel()) for part in parts
    ]
    assert_allclose(sum(pair[0] for pair in pairs), value, rtol=1e-12)
    assert_allclose(np.concatenate([pair[1] for pair in pairs]), gradient, atol=1e-14)
    sizes = [objective.of_outputs(part).value_at_zero for part in parts]
    assert_allclose(sum(sizes), objective.value_at_zero, rtol=1e-12)


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_intercepts_alone_are_those_of_the_mean_target(alpha, n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), np.minimum(rng.integers(0, 9, 90), n_classes - 1)
    weight, mapping = rng.uniform(0.5, 2, 90), Entmax(alpha)
    target = LabelTarget(y, n_classes)
    loss = FenchelYoungLoss(mapping)
    objective = LinearObjective(split_rows(X, target, weight), loss, l2=0.1)
    passes, alone = objective.passes, objective.intercepts_alone()
    starts = rng.normal(size=(2, objective.shape[0]))
    values, gradients = zip(*map(alone.value_and_gradient, starts), strict=True)
    whole = np.zeros((2, *objective.shape))
    whole[:, :, -1] = starts
    assert objective.passes == passes
    expected, slopes = zip(
        *(objective.value_and_gradient(each.ravel()) for each in whole), strict=True
    )
    assert_allclose(np.diff(values), np.diff(expected), rtol=1e-10)
    for gradient, slope in zip(gradients, slopes, strict=True):
        of_intercepts = slope.reshape(objective.shape)[:, -1]
        assert_allclose(gradient, of_intercepts, atol=1e-12)


def test_no_intercepts_alone_where_rows_differ():
    X, target = np.ones((4, 1)), LabelTarget(np.array([0, 1, 2, 0]), 3)
    loss, offset = FenchelYoungLoss(Softmax()), np.zeros((4, 3))
    offset[0, 1] = 1.0
    available = np.ones((4, 3), bool)
    available[0, 1] = False
    blocks = split_rows(X, target, np.ones(4))
    others = [
        LinearObjective(blocks, loss, l2=0.1, fit_intercept=False),
        LinearObjective(blocks, MarginLoss(loss, 1.0), l2=0.1),
        LinearObjective(split_rows(X, target, np.ones(4), offset=offset), loss, l2=0.1),
        LinearObjective(
            split_rows(X, target, np.ones(4), available=available), loss, l2=0.1
        ),
    ]
    assert [each.intercepts_alone() for each in others] == [None] * 4


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0])
def test_has_several_classes_if_a_row_has(alpha):
    X, loss = np.ones((4, 1)), FenchelYoungLoss(Entmax(alpha))
    q = np.eye(3)[[0, 1, 2, 0]]
    for target, has_several in (q, False), (np.vstack([q[:3], [0, 0.5, 0.5]]), True):
        blocks = split_rows(X, as_target(target, (4, 3), float), np.ones(4))
        assert LinearObjective(blocks, loss, l2=0.1).has_several_classes is has_several


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_sample_has_rows_with_their_targets_weights_and_scores(container):
    """The rows drawn from three blocks are in one: a third of the rows of each."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(1.0, 61), rng.normal(size=(60, 2))])
    Q, weight, offset = (
        rng.dirichlet(np.ones(3), 60),
        rng.random(60),
        rng.random((60, 3)),
    )
    available = rng.random((60, 3)) < 0.8
    available[np.arange(60), Q.argmax(axis=1)] = True
    Q = Q * available / (Q * available).sum(axis=1, keepdims=True)
    blocks = in_blocks(container(X), as_target(Q, Q.shape, float), weight, [9, 30, 31])
    ends = [0, 9, 30, 31, 60]
    blocks = LocalBlocks(
        replace(block, offset=offset[start:stop], available=available[start:stop])
        for block, start, stop in zip(blocks._blocks, ends, ends[1:], strict=False)
    )
    objective = LinearObjective(blocks, SOFTMAX_LOSS, l2=0.1)
    sampled = objective.sample(20)
    parts = sampled.blocks._blocks
    assert [len(part.weight) for part in parts] == [3 + 7 + 1, 10]
    for part in parts:
        columns = part.design.columns(slice(None))
        features = columns[:3].T * objective.units.scale + objective.units.mean
        rows = features[:, 0].round().astype(int) - 1
        assert len(set(rows)) == len(rows)
        assert_allclose(features, X[rows], atol=1e-12)
        assert_allclose(part.target.to_dense(float), Q[rows])
        assert_allclose(part.weight / part.weight[0], weight[rows] / weight[rows[0]])
        assert_allclose(part.offset, offset[rows])
        assert (part.available == available[rows]).all()
    assert_allclose(sum(part.weight.sum() for part in parts), 1)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5), Sparsemax()], ids=repr)
def test_single_precision_rounds_the_numbers_of_rows(container, mapping):
    """Value and gradient are those of the formula, within its rounding error."""
    loss, problem = FenchelYoungLoss(mapping), Problem(3)
    objective = problem.objective(loss, X=container(problem.X))
    x = objective.from_model(problem.coef, problem.intercept)
    single = objective.in_single_precision()
    assert single.description.dtype == np.float32
    value, gradient = single.value_and_gradient(x)
    expected = problem.formula(loss)
    assert value != expected
    assert_allclose(value, expected, rtol=1e-6)
    assert gradient.dtype == np.float64
    for derivative, slope in zip(
        in_model(objective, gradient), problem.slope(loss), strict=True
    ):
        assert_allclose(derivative, slope, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_no_single_precision_where_it_would_lose_too_much(container):
    problem = Problem(3)

    def at_hand(X):
        objective = problem.objective(SOFTMAX_LOSS, X=container(X))
        return objective.in_single_precision() is not None

    assert at_hand(problem.X)
    assert not at_hand(problem.X.astype(np.float32))
    assert not at_hand(problem.X * 1e20)
    assert not at_hand(problem.X + 1e5)
    outlier = problem.X.copy()
    outlier[1, 0] = 1e20  # This row has no weight.
    assert not at_hand(outlier)


def test_the_gradient_of_single_precision_sums_to_zero_over_the_classes():
    """As it does exactly: rounding errors would be divided by no curvature."""
    problem = Problem(4)
    X = problem.X.astype(np.float32)
    for cut in ([], [5, 9]):
        target = as_target(problem.Q, problem.Q.shape, X.dtype)
        blocks = in_blocks(X, target, problem.weight.astype(np.float32), cut)
        objective = LinearObjective(blocks, FenchelYoungLoss(Softmax()), l2=0.1)
        parameters = objective.from_model(problem.coef, problem.intercept)
        _, gradient = objective.mean_loss_and_gradient(
            parameters.reshape(objective.shape)
        )
        assert np.abs(gradient.sum(axis=0)).max() <= 1e-15 < np.abs(gradient).max()


@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5)], ids=repr)
def test_a_loss_of_zero_is_not_negative_by_rounding(mapping):
    """The probabilities are the targets."""
    values = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        P = rng.dirichlet(np.ones(3), size=5)
        scores = np.log(P) if isinstance(mapping, Softmax) else 2 * np.sqrt(P)
        blocks = in_blocks(np.eye(5), as_target(P, P.shape, float), rng.random(5), [2])
        objective = LinearObjective(blocks, FenchelYoungLoss(mapping), l2=0.0)
        parameters = objective.from_model(scores.T, np.zeros(3))
        values.append(
            objective.mean_loss_and_gradient(parameters.reshape(objective.shape))[0]
        )
    assert min(values) == 0.0
    assert max(values) < 1e-14
