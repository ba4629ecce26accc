"""Marginals: what a point of the cube has that one of the simplex has not."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from sklearn.datasets import load_digits

from skprob import SigmoidClassifier
from skprob.losses import AccuracyLoss, FenchelYoungLoss, LogLoss
from skprob.mappings import Entmax, Sigmoid, Temperature, sigmoid

from .. import references

ALPHAS = [1, 1 + 1e-9, 1.25, 1.5, 1.75, 2, 2.5]
SCORES = np.array([[-3.0, -1.0, -0.25, 0.0, 1e-8, 0.5, 1.0, 2.0, 40.0]])


@pytest.mark.parametrize("alpha", ALPHAS)
def test_each_label_is_two_classes_of_its_own(alpha):
    pairs = np.column_stack([-SCORES[0] / 2, SCORES[0] / 2])
    expected = Entmax(alpha)(pairs)[:, 1]
    assert_allclose(Sigmoid(alpha)(SCORES)[0], expected, rtol=1e-13, atol=1e-16)
    entropies = Entmax(alpha).entropy(Entmax(alpha)(pairs))
    entropy = Sigmoid(alpha).entropy(Sigmoid(alpha)(SCORES))
    assert_allclose(entropy, entropies.sum(), rtol=1e-12)


@pytest.mark.parametrize("alpha", [1, 1.25, 1.5, 2])
def test_potential_in_fifty_digits(alpha):
    exact = sum(references.potential([0.0, z], alpha) for z in SCORES[0])
    assert Sigmoid(alpha).potential(SCORES)[0] == pytest.approx(float(exact), rel=1e-14)


def test_the_logistic_function_and_the_hard_sigmoid():
    assert_allclose(Sigmoid()(SCORES), expit(SCORES), rtol=1e-15)
    large = np.array([[-800.0, -40.0, 1e-12, 40.0, 800.0]])
    log_p = Sigmoid().log_probabilities(large)
    assert_allclose(log_p, log_expit(large), rtol=1e-15)
    hard = np.clip((1 + SCORES) / 2, 0, 1)
    assert_allclose(Sigmoid(2)(SCORES), hard, rtol=0, atol=1e-16)
    # Exact zeros and exact ones.
    assert {0.0, 1.0} <= set(Sigmoid(2)(SCORES)[0])
    assert_array_equal(sigmoid(SCORES.T, alpha=2, axis=0).T, Sigmoid(2)(SCORES))


def test_the_slope_for_alpha_above_two():
    scores = np.linspace(-0.4, 0.4, 5)[None]
    step = 1e-6
    high, low = (Sigmoid(3.0)(scores + s) for s in (step, -step))
    diagonal = np.diagonal(Sigmoid(3.0).jacobian(scores)[0])
    assert_allclose(diagonal, (high - low)[0] / (2 * step), rtol=1e-6)


@pytest.mark.parametrize("alpha", [2.5, 3, 50, 300])
def test_the_slope_is_finite_for_large_alpha(alpha):
    """p^(alpha - 1) - (1 - p)^(alpha - 1) = (alpha - 1) z, in fifty digits."""
    with mpmath.workdps(50):
        p = [mpmath.mpf(p) for p in (1e-9, 0.1, 0.3, 0.5, 0.6, 1 - 1e-9)]
        a = mpmath.mpf(alpha)
        z = [(q ** (a - 1) - (1 - q) ** (a - 1)) / (a - 1) for q in p]
        slopes = [1 / (q ** (a - 2) + (1 - q) ** (a - 2)) for q in p]
    scores, slopes = np.array([z], float), np.array(slopes, float)
    outside = np.array([[-1.0, 1.0]])
    jacobian = Sigmoid(alpha).jacobian(np.hstack([scores, outside]))[0]
    assert_allclose(np.diag(jacobian)[:6], slopes, rtol=1e-6)
    assert_array_equal(np.diag(jacobian)[6:], 0)


def test_a_fit_with_a_large_alpha():
    """Its slopes overflowed, and the loss was said to have no second derivative."""
    X, y = (array[::3] for array in load_digits(return_X_y=True))
    model = SigmoidClassifier(alpha=50, C=1.0).fit(X, y)  # Warnings are errors.
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_loss_is_the_sum_over_labels(alpha):
    rng = np.random.default_rng(0)
    scores = rng.normal(scale=2, size=(30, 4))
    target = (rng.random((30, 4)) < 0.4).astype(float)
    assert not target.any(axis=1).all()  # Some rows have no label.
    target[::3] = rng.random((10, 4))
    loss, pair = FenchelYoungLoss(Sigmoid(alpha)), FenchelYoungLoss(Entmax(alpha))
    value, gradient = loss.value_and_gradient(scores, target)
    values = [
        pair.value(np.column_stack([-z / 2, z / 2]), np.column_stack([1 - q, q]))
        for z, q in zip(scores.T, target.T, strict=True)
    ]
    assert_allclose(value, np.sum(values, axis=0), rtol=1e-10, atol=1e-14)
    assert_allclose(gradient, Sigmoid(alpha)(scores) - target, atol=1e-15)


def test_a_small_loss_is_exact_beside_large_ones():
    # The loss of the second label is exp(-40), that of the others zero.
    loss = FenchelYoungLoss(Sigmoid())
    value = loss.value([[1e6, 40.0, -1e6]], [[1, 1, 0]])
    assert value == pytest.approx(np.exp(-40.0), rel=1e-12)


def test_what_is_no_marginal_is_refused():
    loss = FenchelYoungLoss(Sigmoid())
    for target in ([[0.5, 1.5]], [[-0.1, 0.5]], [[np.nan, 0.5]]):
        with pytest.raises(ValueError, match="target must be marginals, numbers from"):
            loss.value([[0.0, 0.0]], target)
        with pytest.raises(ValueError, match="probabilities must be marginals"):
            Sigmoid().entropy(target)


@pytest.mark.parametrize("loss", [LogLoss, AccuracyLoss])
@pytest.mark.parametrize("mapping", [Sigmoid(), Temperature(Sigmoid(), 2.0)])
def test_losses_of_distributions_are_refused(loss, mapping):
    with pytest.raises(ValueError, match=r"sum to\s+one.*use FenchelYoungLoss"):
        loss(mapping).value([[0.0, 0.0]], [[1, 0]])


# Each budget with a mapping that has zeros and with one that does not, or is steep.
@pytest.mark.parametrize(
    ("alpha", "budget"),
    [
        (1.0, (0, 1)),
        (1.0, (2, 2)),
        (1.0, (5, 5)),
        (1.5, (0, 1)),
        (1.5, (4.5, 9)),
        (2.0, (2, 2)),
        (2.0, (1.5, 2.25)),
        (2.5, (1.5, 2.25)),
        (2.5, (4.5, 9)),
        (2.5, (5, 5)),
    ],
)
def test_a_budget_is_a_projection(alpha, budget):
    """Beside an independent maximiser of ⟨p, z⟩ - Ω(p) over the polytope."""
    mapping, rng = Sigmoid(alpha, budget), np.random.default_rng(0)
    for z in rng.normal(scale=2, size=(3, 5)):
        optimum = minimize(
            lambda p: mapping.negative_entropy(p[None])[0] - p @ z,  # noqa: B023
            np.full(5, np.clip(2.5, *budget) / 5),
            bounds=[(1e-12, 1 - 1e-12)] * 5,
            constraints=[
                {"type": "ineq", "fun": lambda p: p.sum() - budget[0] + 1e-10},
                {"type": "ineq", "fun": lambda p: budget[1] + 1e-10 - p.sum()},
            ],
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 200},
        )
        p = mapping(z[None])[0]
        assert_allclose(p, optimum.x, atol=2e-5)
        assert mapping.potential(z[None])[0] == pytest.approx(-optimum.fun, abs=1e-6)


def test_the_sum_keeps_to_its_budget_for_scores_of_any_size():
    rows = [1e300, -1e300, 3e299, 0], [1e17, 1e17, -5, 2], [1e-300, 0, 0, 0]
    large = np.array(rows)
    for alpha in (1.0, 1.5, 2.0, 3.0):
        for scores in (large, -large, large[:, ::-1]):
            for budget in ((1, 1), (2, 2), (4, 4), (0, 0.5), (1.5, 2.5)):
                p = Sigmoid(alpha, budget)(scores)
                total = p.sum(axis=1)
                assert (total >= budget[0] - 1e-14).all()
                assert (total <= budget[1] + 1e-14).all()
    # A sum of two, of two that are equal and two that are far below.
    assert_allclose(Sigmoid(2, (1, 1))(large[1:2])[0], [0.5, 0.5, 0, 0], atol=1e-15)
    p = sigmoid([0.0, -np.inf, 1.0], budget=(2, 3))
    assert_array_equal(p, [1, 0, 1])


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0, 2.5])
@pytest.mark.parametrize("scale", [0.3, 2.0, 20.0])
def test_a_budget_takes_few_evaluations(alpha, scale, monkeypatch):
    """Those without it are the first; halving the interval would take fifty."""
    evaluated, freely = [], Sigmoid._linearize_freely

    def counted(self, scores):
        evaluated.append(len(scores))
        return freely(self, scores)

    monkeypatch.setattr(Sigmoid, "_linearize_freely", counted)
    scores = np.random.default_rng(0).normal(scale=scale, size=(500, 20))
    Sigmoid(alpha, (2, 3)).probabilities_and_potential(scores)
    assert sum(evaluated) <= 10 * len(scores)
    evaluated.clear()
    Sigmoid(alpha, (0, 20)).probabilities_and_potential(scores)
    assert evaluated == [500]


def test_slopes_are_bounded_for_every_alpha():
    """By 1 at the edges or 2^(alpha - 3) in the middle, unlike those of entmax."""
    z = np.linspace(-0.6, 0.6, 120_001)
    for alpha in (2.2, 3.0, 5.0):
        p = Sigmoid(alpha)(z[:, None])[:, 0]
        steepest = np.diff(p).max() / (z[1] - z[0])
        assert 0.5 < steepest <= max(1, 2 ** (alpha - 3)) * (1 + 1e-6)
        assert Sigmoid(alpha).traits.is_lipschitz


@pytest.mark.parametrize("alpha", [3.0, 10.0, 40.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_slopes_are_exact_where_powers_of_probabilities_overflow(alpha, dtype):
    """z = ((1 - q)^β - q^β) / β with β = α - 1 has the slope 1 / (q^(α-2) + p^(α-2)).

    With α = 40 q^(2 - α) overflows float32 at q = 0.01, and float64 at 1e-10.
    """
    scores, slopes, changes = [], [], []
    smallest = [1e-10] * (dtype == np.float64)  # Its score is that of zero in float32.
    with mpmath.workdps(50):
        for q in (0.4, 0.1, 1e-2, 1e-5, *smallest):
            p, q = mpmath.mpf(1) - q, mpmath.mpf(q)
            total = p ** (alpha - 2) + q ** (alpha - 2)
            change = (alpha - 2) * (q ** (alpha - 3) - p ** (alpha - 3)) / total**3
            scores.append(float((p ** (alpha - 1) - q ** (alpha - 1)) / (alpha - 1)))
            slopes.append(float(1 / total))
            changes.append(float(change))
    z = np.array([scores], dtype)
    rtol = 1e-3 if dtype == np.float32 else 1e-9
    linear, ones = Sigmoid(alpha).linearize(z), np.ones_like(z)
    assert_allclose(linear.jvp(ones.copy())[0], slopes, rtol=rtol)
    assert_allclose(linear.vjp_derivative(ones, ones)[0], changes, rtol=rtol)


def test_a_budget_that_is_none():
    for budget in (
        (1,),
        (2, 1),
        (-1, 2),
        (0, 0),
        ("a", 2),
        (np.nan, 2),
        (np.inf, np.inf),
    ):
        with pytest.raises(ValueError, match="budget must be"):
            Sigmoid(budget=budget)(SCORES)
    with pytest.raises(ValueError, match=r"is 2, and row 1 has 1 available"):
        Sigmoid(budget=(2, 3))([[0.0, 1.0, 2.0], [0.0, -np.inf, -np.inf]])
    loss = FenchelYoungLoss(Sigmoid(budget=(0, 1)))
    with pytest.raises(
        ValueError, match=r"budget \(0, 1\).* target of row 1; row 1 sums to 2"
    ):
        loss.value([[0.0, 1.0], [0.0, 1.0]], [[0, 1], [1, 1]])


def test_a_target_may_miss_the_budget_by_rounding():
    """By 4e-7 of its sum, as in single precision, and not by 4e-6."""
    scores, target = np.full((1, 1000), np.log(0.3 / 0.7)), np.full((1, 1000), 0.3)
    for budget, sign in ((0, 300), 1), ((300, 1000), -1):
        loss = FenchelYoungLoss(Sigmoid(budget=budget))
        value = loss.value(scores, target * (1 + sign * 4e-7))
        assert_allclose(value, 0, atol=1e-3)
        with pytest.raises(ValueError, match="does not allow the target of row 0"):
            loss.value(scores, target * (1 + sign * 4e-6))
