"""Losses of two classes, in the difference of their scores."""

import mpmath
import numpy as np
import pytest

from skprob.losses import AccuracyLoss, FenchelYoungLoss, LogLoss, MarginLoss
from skprob.losses._difference import evaluate_difference, linearize_difference
from skprob.mappings import Entmax, Softmax, Sparsemax, Temperature
from skprob.targets import DenseTarget, LabelTarget, SmoothedTarget

rng = np.random.default_rng(0)
difference = np.append(rng.normal(0, 3, 40), [0.0, -1e-9, 30.0, -30.0])[:, None]
second = rng.uniform(size=len(difference))
labels = rng.integers(2, size=len(difference))
one_hot = LabelTarget(labels, 2)
targets = [
    one_hot,
    DenseTarget(np.column_stack([1 - second, second])),
    SmoothedTarget(one_hot, 0.1),
]


@pytest.mark.parametrize(
    "loss",
    [
        FenchelYoungLoss(Softmax()),
        FenchelYoungLoss(Sparsemax()),
        *(
            FenchelYoungLoss(Entmax(alpha))
            for alpha in (0.5, 0.7, 1, 1.2, 1.5, 1.75, 2, 2.5)
        ),
        FenchelYoungLoss(Temperature(Softmax(), 0.5)),
        FenchelYoungLoss(Temperature(Entmax(1.5), 0.5)),
        FenchelYoungLoss(Temperature(Entmax(3), 2.0)),
        LogLoss(Softmax()),
        MarginLoss(FenchelYoungLoss(Softmax()), 0.7),
        AccuracyLoss(Softmax()),
    ],
)
def test_it_is_the_loss_of_both_scores(loss):
    half = difference / 2
    scores = np.hstack([-half, half])
    close = {"rtol": 1e-9, "atol": 1e-12}
    for target in targets:
        dense = target.to_dense(np.float64)
        value, gradient = loss.value_and_gradient(scores, dense)
        direction = np.full(scores.shape, [-0.5, 0.5])
        product = loss.hessian_product(scores, dense, direction)
        linear = linearize_difference(loss, difference.copy(), target)
        total = linear.values + loss.constant(target)
        np.testing.assert_allclose(total, value, **close)
        slope = np.diff(gradient) / 2
        np.testing.assert_allclose(linear.gradient, slope, **close)
        values, gradient = evaluate_difference(loss, difference.copy(), target)
        np.testing.assert_allclose(values, linear.values, **close)
        np.testing.assert_allclose(gradient, slope, **close)
        bend = np.diff(product) / 2
        np.testing.assert_allclose(linear.hessian_diagonal(), bend, **close)
        along = rng.normal(size=difference.shape)
        product = linear.hessian_product(along.copy())
        np.testing.assert_allclose(product, bend * along, **close)


def exact_entmax_loss(alpha, u):
    """Loss of the second class, by bisection in many digits."""
    with mpmath.workdps(60):
        alpha, u = mpmath.mpf(alpha), mpmath.mpf(float(u))
        beta, d, low, high = alpha - 1, abs(u), mpmath.mpf(0), mpmath.mpf(1) / 2
        if d >= 1 / beta:
            return float(max(-u, 0))
        for _ in range(190):
            q = (low + high) / 2
            too_low = (1 - q) ** beta - q**beta > beta * d
            low, high = (q, high) if too_low else (low, q)
        potential = -d * q + (1 - (1 - q) ** alpha - q**alpha) / (alpha * beta)
        return float(potential + max(-u, 0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("alpha", [1.5, 2])
def test_a_small_sparse_loss_is_as_accurate_as_a_large_one(alpha, dtype):
    edge = 1 / (alpha - 1)
    below = edge * (1 - np.logspace(-6, 0, 13))
    u = np.concatenate([-below, below, [-40, -edge, edge, 40]]).astype(dtype)[:, None]
    target = LabelTarget(np.ones(len(u), dtype=int), 2, dtype)
    loss = FenchelYoungLoss(Entmax(alpha))
    linear = linearize_difference(loss, u.copy(), target)
    values, _ = evaluate_difference(loss, u.copy(), target)
    exact = [exact_entmax_loss(alpha, x) for x in u[:, 0]]
    assert linear.values.dtype == linear.gradient.dtype == dtype
    rounding = 16 * np.finfo(dtype).eps
    np.testing.assert_allclose(linear.values, exact, rtol=rounding)
    np.testing.assert_allclose(values, exact, rtol=rounding)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_small_loss_is_as_accurate_as_a_large_one(dtype):
    u = np.array([[-700.0], [-40.0], [-1.0], [0.0], [1.0], [40.0], [80.0]], dtype=dtype)
    target = LabelTarget(np.ones(len(u), dtype=int), 2, dtype)
    linear = linearize_difference(FenchelYoungLoss(Softmax()), u.copy(), target)
    with mpmath.workdps(60):
        exact = [
            float(mpmath.log1p(mpmath.exp(-mpmath.mpf(float(x))))) for x in u[:, 0]
        ]
    assert linear.values.dtype == linear.gradient.dtype == dtype
    rounding = 4 * np.finfo(dtype).eps
    np.testing.assert_allclose(linear.values, exact, rtol=rounding)
