"""A huge value hides a feature: a fit that is then not at the minimum says so."""

import re
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning

from skprob import LinearClassifier, PerturbMaxClassifier, SigmoidClassifier
from skprob.linear_model.fit._outliers import _along_feature, _FittedRows

N_CLASSES = 3
DATA = {"iris": load_iris, "wine": load_wine}
# Fits that are above the minimum because of the value: data, C, feature, row, sign.
HIDDEN = [
    ("wine", 100, 0, 136, 1),
    ("iris", 100, 3, 30, 1),
    ("iris", 100, 2, 43, 1),
    ("wine", 100, 9, 140, 1),
]
# The minimum without the feature is the minimum, or the coefficient is large enough.
PLAIN = [("iris", 1, 1, 46, -1), ("wine", 1, 10, 119, -1), ("wine", 1, 5, 152, 1)]


def softmax_loss(scores, y):
    shifted = scores - scores.max(axis=1, keepdims=True)
    p = np.exp(shifted)
    total = p.sum(axis=1, keepdims=True)
    rows = np.arange(len(y))
    losses = np.log(total[:, 0]) - shifted[rows, y]
    gradient = p / total
    gradient[rows, y] -= 1
    return losses, gradient


def sparsemax_loss(scores, y):
    scores = scores - scores.max(axis=1, keepdims=True)
    ordered = -np.sort(-scores, axis=1)
    sizes = np.arange(1, scores.shape[1] + 1)
    thresholds = (np.cumsum(ordered, axis=1) - 1) / sizes
    rows = np.arange(len(y))
    size = (ordered > thresholds).sum(axis=1)
    p = np.maximum(scores - thresholds[rows, size - 1][:, None], 0)
    losses = (p * scores - p**2 / 2).sum(axis=1) - scores[rows, y] + 0.5
    p[rows, y] -= 1
    return losses, p


LOSSES = {"softmax": softmax_loss, "sparsemax": sparsemax_loss}


@cache
def least_objective(data, C, feature, row, sign, loss, lasso=False):
    """The least objective in the limit of an infinite value, by SciPy.

    The row has no loss if its class has the largest coefficient of the feature in the
    direction of the value, and an infinite one otherwise. So the other rows' objective
    is minimised under these linear constraints.
    """
    X, y = DATA[data](return_X_y=True)
    n, d = X.shape
    others = np.delete(np.arange(n), row)
    mean, scale = X[others].mean(axis=0), X[others].std(axis=0)
    Z, y_others = (X[others] - mean) / scale, y[others]
    size, strength = N_CLASSES * d, 1 / (C * n)

    def objective(parameters):
        positive, negative = parameters[: 2 * size].reshape(2, N_CLASSES, d)
        W = positive - negative
        losses, residual = LOSSES[loss](Z @ W.T + parameters[2 * size :], y_others)
        of_loss = residual.T @ Z / n
        if lasso:
            penalty = strength * ((positive + negative) / scale).sum()
            of_positive = of_negative = np.tile(strength / scale, (N_CLASSES, 1))
        else:
            penalty = strength / 2 * np.square(W / scale).sum()
            of_positive = strength * W / scale**2
            of_negative = -of_positive
        gradient = of_loss + of_positive, of_negative - of_loss
        intercepts = residual.sum(axis=0) / n
        return losses.sum() / n + penalty, np.append(np.ravel(gradient), intercepts)

    def coefficient(k):
        vector = np.zeros((2, N_CLASSES, d))
        vector[0, k, feature], vector[1, k, feature] = sign, -sign
        return np.append(vector.ravel(), np.zeros(N_CLASSES))

    wrong = [k for k in range(N_CLASSES) if k != y[row]]
    A = np.array([coefficient(y[row]) - coefficient(k) for k in wrong])
    bounds = [(0, None)] * 2 * size + [(None, None)] * N_CLASSES
    constraint = {"type": "ineq", "fun": lambda w: A @ w, "jac": lambda w: A}
    optimum = minimize(
        objective,
        np.zeros(len(bounds)),
        jac=True,
        method="SLSQP",
        bounds=bounds,
        constraints=[constraint],
        options={"maxiter": 3000, "ftol": 1e-12},
    )
    return optimum.fun


def decrease_of(record):
    """The decrease that the warning names."""
    text = str(record[0].message)
    assert re.search(r"Correct these values, or limit them by numpy\.clip", text)
    return float(re.search(r"can fall by ([0-9.e-]+) along feature", text)[1])


FORMS = [
    (1e15, np.asarray),
    (1e150, np.asarray),
    (1e15, sparse.csr_array),
    (1e8, np.float32),
]


# Each case in each form, by turns with one of the losses.
@pytest.mark.parametrize(
    ("size", "container", "case", "loss"),
    [
        (*form, case, list(LOSSES)[(i + j) % 2])
        for i, form in enumerate(FORMS)
        for j, case in enumerate(HIDDEN)
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_fit_above_the_minimum_names_the_feature(loss, case, size, container):
    data, C, feature, row, sign = case
    X, y = DATA[data](return_X_y=True)
    least = least_objective(*case, loss)
    X[row, feature] = sign * size
    model = LinearClassifier(loss, C=C)
    with pytest.warns(ConvergenceWarning, match=f"along feature {feature}") as record:
        model.fit(container(X), y)
    # The decrease is a fact: the minimum is at least as low.
    decrease = decrease_of(record)
    assert model.objective_ > 1.02 * least
    assert least * (1 - 1e-5) <= model.objective_ - 0.99 * decrease
    assert decrease > 1e-4 * model.objective_


@pytest.mark.parametrize(
    ("size", "case", "loss"),
    [
        (size, case, list(LOSSES)[(i + j) % 2])
        for i, size in enumerate([1e4, 1e8, 1e12, 1e15, 1e150])
        for j, case in enumerate(PLAIN)
    ],
    ids=str,
)
def test_a_fit_at_the_minimum_says_nothing(loss, case, size):
    data, C, feature, row, sign = case
    X, y = DATA[data](return_X_y=True)
    least = least_objective(*case, loss)
    X[row, feature] = sign * size
    model = LinearClassifier(loss, C=C).fit(X, y)  # Warnings are errors.
    assert model.objective_ == pytest.approx(least, rel=2e-3)


@pytest.mark.parametrize("loss", ["softmax", "sparsemax"])
def test_lasso(loss):
    data, C, feature, row, sign = case = "iris", 100, 2, 25, 1
    X, y = DATA[data](return_X_y=True)
    least = least_objective(*case, loss, lasso=True)
    X[row, feature] = sign * 1e10
    for select in "coefficients", "features":
        model = LinearClassifier(loss, C=C, l1_ratio=1.0, select=select)
        with pytest.warns(ConvergenceWarning, match="along feature 2") as record:
            model.fit(X, y)
        if select == "coefficients":
            assert model.objective_ > 1.5 * least
            assert least <= model.objective_ - 0.99 * decrease_of(record)


def test_the_column_of_a_frame_is_named():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X.loc[136, "alcohol"] = 1e15
    match = r"along feature 'alcohol'\. Its values up to 1e\+15 hide those .* is 0\.81"
    with pytest.warns(ConvergenceWarning, match=match):
        LinearClassifier(C=100).fit(X, y)
    # Its penalty is infinite: nothing is hidden.
    LinearClassifier(C=100, penalty_factors={"alcohol": np.inf}).fit(X, y)
    # The factors of the others count.
    match = "along feature 'alcohol'"
    with pytest.warns(ConvergenceWarning, match=match):
        LinearClassifier(C=100, penalty_factors={"ash": np.inf}).fit(X, y)


def test_labels_of_a_set():
    X, y = load_wine(return_X_y=True)
    Y = np.eye(3, dtype=int)[y]
    Y[:, 0] |= X[:, 1] > 2
    X[133, 8] = -1e15
    with pytest.warns(ConvergenceWarning, match="along feature 8"):
        SigmoidClassifier(threshold=0.5).fit(X, Y)


def test_the_loss_is_the_one_of_the_learnt_noise(monkeypatch):
    seen, decrease_along = [], _FittedRows.decrease_along

    def spy(rows, *args):
        coef = rows._coef
        along_first = rows._blocks.map(_along_feature, 0, 0.0)
        loss, _ = rows._moved(along_first, 0 * coef[:, 0])
        seen.append(loss + np.square(coef).sum() / (2 * 10 * 200))
        return decrease_along(rows, *args)

    monkeypatch.setattr(_FittedRows, "decrease_along", spy)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + rng.logistic(size=200) > 0) + (X[:, 1] > 1).astype(int)
    X[77, 0] = -1e14 if y[77] > 0 else 1e14
    model = PerturbMaxClassifier("student_t", learn_noise=True, C=10)
    with pytest.warns(ConvergenceWarning, match="along feature 0"):
        model.fit(X, y)
    assert model.mapping_.noise.df > 30
    assert seen == pytest.approx([model.objective_], rel=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_without_a_penalty(fit_intercept):
    rng = np.random.default_rng(0)
    X, y = load_iris(return_X_y=True)
    y = np.where(np.arange(150) % 4 == 0, rng.integers(0, 3, 150), y)
    X[25, 3] = 1e15
    model = LinearClassifier("sparsemax", C=np.inf, fit_intercept=fit_intercept)
    if not fit_intercept:
        model.set_params(C=1e6)
    with pytest.warns(ConvergenceWarning, match="along feature 3"):
        model.fit(X, y)


def test_values_that_differ_by_orders_of_magnitude_hide_nothing():
    """A feature of 1e15 times the others' size, and a lognormal one."""
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    X[:, 0] *= 1e15
    X = np.column_stack([X, rng.lognormal(sigma=8, size=150)])
    for C in (1, 100):
        for factors in (None, [1, 1, 1, 1e-30, 1e-30]):
            LinearClassifier(C=C, penalty_factors=factors).fit(X, y)


@pytest.mark.filterwarnings("ignore:.*along feature 2")
@pytest.mark.parametrize(
    ("l1_ratio", "select"),
    [(0.0, "coefficients"), (0.4, "coefficients"), (0.4, "features")],
)
def test_the_decrease_is_that_of_the_penalised_objective(monkeypatch, l1_ratio, select):
    """At coefficients whose penalty is large, of a feature that adds a little loss."""
    rng, C, factor, moved = np.random.default_rng(0), 100, 200, []
    X, y = load_iris(return_X_y=True)
    y = np.where(np.arange(150) % 4 == 0, rng.integers(0, 3, 150), y)
    X[25, 2], X[:, 3] = 1e10, rng.normal(size=150) / 10
    model = LinearClassifier(
        C=C, l1_ratio=l1_ratio, select=select, penalty_factors=[1, 1, 1, factor]
    )
    fitted = []
    decrease_along = _FittedRows.decrease_along

    def spy(rows, *args):
        fitted.append(rows)
        return decrease_along(rows, *args)

    monkeypatch.setattr(_FittedRows, "decrease_along", spy)
    model.fit(X, y)
    rows, coef = fitted[-1], np.array([2.0, -1.5, 0.0])
    # The last feature gets other coefficients.
    change = coef - rows._coef[:, 3]
    rows._coef[:, 3] = coef
    rows._blocks = rows._blocks.map(
        lambda block: block._replace(raw=block.raw + X[:, [3]] * change)
    )
    losses_of = _FittedRows._moved

    def moved_spy(rows, blocks, step):
        moved.append(step)
        return losses_of(rows, blocks, step)

    monkeypatch.setattr(_FittedRows, "_moved", moved_spy)

    def objective(step):
        scores = rows._blocks.collect(lambda block: block.raw)[0]
        losses, _ = softmax_loss(scores + X[:, [3]] * step, y)
        w = coef + step
        size = np.linalg.norm(w) if select == "features" else np.abs(w).sum()
        penalty = (1 - l1_ratio) / 2 * w @ w + l1_ratio * size
        return losses.mean() + factor * penalty / (C * len(y))

    before = rows._penalty(coef) * factor
    decrease = decrease_along(rows, 3, 0.0, X[:, 3].std(), 1e-8)
    assert decrease > 0.5 * before
    assert decrease == pytest.approx(objective(0.0) - objective(moved[-1]), rel=1e-9)


@pytest.mark.parametrize("coef", [[0.0, 0.0, 0.0], [0.0, 2.0, -1.0]], ids=str)
@pytest.mark.parametrize("select", ["coefficients", "features"])
def test_the_smallest_subgradient_is_the_steepest_descent(select, coef):
    """The objective falls by the squared norm of it, times a small length."""
    rows = _FittedRows.__new__(_FittedRows)
    rows._spec = SimpleNamespace(select=select)
    coef, gradient, lasso = np.array(coef), np.array([0.5, 2.0, -3.0]), 0.7

    def objective(w):
        size = np.linalg.norm(w) if select == "features" else np.abs(w).sum()
        return gradient @ w + lasso * size

    steepest = rows._smallest_subgradient(gradient, coef, lasso)
    assert steepest.any()
    fall = (objective(coef) - objective(coef - 1e-6 * steepest)) / 1e-6
    assert fall == pytest.approx(steepest @ steepest, rel=1e-5)
    # A lasso as large as the gradient leaves nothing to gain at zero.
    assert coef.any() or not rows._smallest_subgradient(gradient, coef, 4.0).any()
