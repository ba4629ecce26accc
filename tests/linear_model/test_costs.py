"""Costs in prediction (LeastCost) and in training (a matrix of margins)."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale

from skprob import (
    EntmaxClassifierCV,
    LinearClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.decision import LabelCuts, LeastCost
from skprob.losses import FenchelYoungLoss, MarginLoss

from .assertions import assert_refused

X, Y = load_wine(return_X_y=True)
X = scale(X)[:, :4]
NAMES = np.array(["red", "rose", "white"])
COSTS = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 3.0], [0.1, 7.0, 0.0]])
FRAME = pd.DataFrame(COSTS, NAMES, NAMES).iloc[[1, 2, 0], [2, 0, 1]]
PINK = FRAME.rename({"rose": "pink"}).rename(columns={"rose": "pink"})
SOLVERS = ["newton-cholesky", "newton-cg", "lbfgs"]


@pytest.mark.parametrize(
    "model",
    [SoftmaxClassifier(), SparsemaxClassifier(), SigmoidClassifier()],
    ids=str,
)
def test_a_rule_predicts_what_it_does_of_the_probabilities(model):
    y = NAMES[Y]
    plain = clone(model).fit(X, y)
    assert not hasattr(plain, "threshold_")
    for rule in (LeastCost(FRAME), LeastCost(FRAME, abstain=0.3)):
        expected = LeastCost(COSTS, rule.abstain).predict(plain.predict_proba(X), NAMES)
        assert (expected != plain.predict(X)).any()
        fitted = clone(model).set_params(threshold=rule).fit(X, y)
        assert_array_equal(fitted.predict(X), expected)
        assert_array_equal(plain.set_threshold(rule).predict(X), expected)
        assert_allclose(fitted.threshold_.costs, COSTS)
        assert fitted.score(X, y) == pytest.approx(np.mean(expected == y))
        weight = np.arange(len(y))
        assert fitted.score(X, y, weight) == pytest.approx(
            np.average(expected == y, weights=weight)
        )
        back = fitted.set_threshold("auto")
        assert not hasattr(back, "threshold_")
        assert_array_equal(back.predict(X), clone(plain).fit(X, y).predict(X))
        # A new fit has the rule of the parameter, which is none here.
        assert not hasattr(plain.fit(X, y), "threshold_")


@pytest.mark.parametrize("abstain", [None, 1.5])
@pytest.mark.parametrize(
    "model", [SoftmaxClassifier(), SparsemaxClassifier(), SigmoidClassifier()], ids=str
)
def test_only_available_labels_are_decided(model, abstain):
    """A cheap label was predicted for rows that could not have it."""
    available = np.random.default_rng(0).random((len(Y), 3)) < 0.6
    available[np.arange(len(Y)), Y] = True
    rule = LeastCost(COSTS, abstain)
    model = clone(model).set_params(threshold=rule).fit(X, Y)
    costs = model.predict_proba(X, available=available) @ COSTS
    expected = []
    for row, may_be in zip(costs, available, strict=True):
        chosen = min(np.flatnonzero(may_be), key=lambda k: row[k])
        expected.append(chosen if abstain is None or row[chosen] <= abstain else -1)
    predicted = model.predict(X, available=available)
    assert_array_equal(predicted, expected)
    assert (predicted != costs.argmin(axis=1)).any()


def test_two_classes_by_the_threshold_of_elkan():
    """With costs c for a miss and 1 for a false alarm it is p > 1 / (1 + c)."""
    model = SoftmaxClassifier(threshold=LeastCost([[0, 1], [9, 0]])).fit(X, Y == 1)
    expected = model.predict_proba(X)[:, 1] > 0.1
    assert_array_equal(model.predict(X), expected)
    assert (expected != (model.decision_function(X) > 0)).any()


def test_lazily_on_dask_collections():
    rows = da.from_array(X, chunks=(50, 4))
    rule = LeastCost(FRAME, abstain=0.3)
    model = SoftmaxClassifier(threshold=rule).fit(X, NAMES[Y])
    assert_array_equal(model.predict(rows).compute(), model.predict(X))
    on_dask = SoftmaxClassifier(threshold=rule, margin=FRAME)
    on_dask.fit(rows, da.from_array(NAMES[Y], chunks=50))
    in_memory = clone(on_dask).fit(X, NAMES[Y])
    assert_allclose(on_dask.coef_, in_memory.coef_, atol=1e-6)
    assert_array_equal(on_dask.threshold_.costs, COSTS)


@pytest.mark.parametrize(
    ("kind", "y"),
    [("label_set", np.eye(3)[Y]), ("distribution", np.full((len(Y), 3), 1 / 3))],
)
def test_a_rule_is_for_labels(kind, y):
    model, rule = SoftmaxClassifier(), LeastCost(COSTS)
    message = f"is for class labels.* got target_type='{kind}'"
    assert_refused(message, clone(model).set_params(threshold=rule).fit, X, y)
    assert_refused(message, model.fit(X, y).set_threshold, rule)


def test_a_matrix_of_costs_is_no_threshold():
    """It had no effect."""
    message = (
        r"LeastCost for class labels.* array of shape \(3, 3\), .*LeastCost\(costs"
    )
    for threshold in (COSTS, COSTS.tolist(), FRAME):
        model = SoftmaxClassifier(threshold=threshold)
        assert_refused(message, model.fit, X, Y)


@pytest.mark.parametrize("kind", [SoftmaxClassifier, SigmoidClassifier])
def test_a_cut_of_a_probability_is_an_error_that_names_the_costs(kind):
    """It had no effect, and looked like a cut of the second class's probability."""
    y = (Y > 0).astype(int)
    message = r"got the number 0\.3, .*LeastCost\(\[\[0, 0\.3\], \[0\.7, 0\]\]\)"
    assert_refused(message, kind(threshold=0.3).fit, X, y)
    model = kind(threshold=LeastCost([[0, 0.3], [0.7, 0]])).fit(X, y)
    assert_array_equal(model.predict(X), model.predict_proba(X)[:, 1] > 0.3)
    search = EntmaxClassifierCV([1], [1], cv=2, threshold=0.3)
    assert_refused(message, search.fit, X, y)


@pytest.mark.parametrize(
    "threshold", ["macro", "cv", "support", LabelCuts(), 0.3], ids=str
)
def test_a_threshold_of_label_sets_is_an_error_for_class_labels(threshold):
    """It had no effect."""
    message = r"LeastCost for class labels, or 'auto'; got .*, which is for label sets"
    assert_refused(message, SoftmaxClassifier(threshold=threshold).fit, X, Y)
    search = EntmaxClassifierCV([1], [1], cv=2, threshold=threshold)
    assert_refused(message, search.fit, X, Y)


@pytest.mark.parametrize("threshold", ["micro", LabelCuts(), 0.3, [0.1, 0.2, 0.3]])
@pytest.mark.parametrize("kind", ["distribution", "candidates"])
def test_a_threshold_of_label_sets_is_an_error_for_other_targets(kind, threshold):
    """It had no effect."""
    y = {"distribution": np.full((len(Y), 3), 1 / 3), "candidates": np.eye(3)[Y]}[kind]
    message = f"'auto' for target_type='{kind}'; got .*, which is for label sets"
    model = SoftmaxClassifier(target_type=kind, threshold=threshold)
    assert_refused(message, model.fit, X, y)


def test_bad_rules_are_refused():
    model = SoftmaxClassifier()
    small = LeastCost(COSTS[:2, :2])
    message = r"costs must be a matrix .*\(3, 3\).*got shape \(2, 2\)"
    assert_refused(message, clone(model).set_params(threshold=small).fit, X, Y)
    model.fit(X, Y)
    assert_refused(message, model.set_threshold, small)
    assert_refused("needs no rows", model.set_threshold, LeastCost(COSTS), X, Y)
    assert_refused("'auto' and without rows", model.set_threshold, "auto", X, Y)
    assert_refused("to class labels; .* is 0.5", model.set_threshold, 0.5)
    model.threshold_ = 0.3
    assert_refused("threshold_ must be a LeastCost", model.predict, X)


def test_costs_in_training_minimise_the_cost_augmented_log_loss():
    def objective(w):
        W, b = w[:12].reshape(3, 4), w[12:]
        z = X @ W.T + b + COSTS[Y]
        loss = logsumexp(z, axis=1) - z[np.arange(len(Y)), Y]
        return loss.mean() + np.sum(W**2) / (2 * 2.0 * len(Y))

    best = minimize(objective, np.zeros(15), method="BFGS", options={"gtol": 1e-9})
    for solver in SOLVERS:
        model = SoftmaxClassifier(margin=COSTS, C=2.0, solver=solver, tol=1e-9)
        model.fit(X, Y)
        assert model.objective_ == pytest.approx(best.fun, rel=1e-9)
        assert 0 <= model.duality_gap_ <= 1e-8
        w = np.append(model.coef_, model.intercept_)
        assert objective(w) == pytest.approx(model.objective_, rel=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_two_classes_have_costs_too(solver):
    """The margins of labels are offsets of the training rows."""
    costs, y = np.array([[0, 3.0], [1.0, 0]]), (Y == 1).astype(int)
    model = SparsemaxClassifier(margin=costs, solver=solver, tol=1e-9).fit(X, y)
    plain = SparsemaxClassifier(tol=1e-9).fit(X, y, offset=costs[y])
    assert model.objective_ == pytest.approx(plain.objective_, abs=1e-9)
    assert model.duality_gap_ <= 1e-7


@pytest.mark.parametrize("wrapped", [False, True])
def test_frames_are_lined_up_with_labels(wrapped):
    array = SoftmaxClassifier(margin=COSTS).fit(X, NAMES[Y])
    if wrapped:
        loss = MarginLoss(FenchelYoungLoss(), FRAME)
        frame = LinearClassifier(loss=loss).fit(X, NAMES[Y])
    else:
        frame = SoftmaxClassifier(margin=FRAME).fit(X, NAMES[Y])
    assert_array_equal(frame.coef_, array.coef_)
    assert_array_equal(frame.loss_.margin, COSTS)


def test_distributions_and_label_sets_take_arrays():
    y = np.full((len(Y), 3), 0.1) + 0.7 * np.eye(3)[Y]
    for target in (y, np.eye(3)[Y]):
        model = SparsemaxClassifier(margin=COSTS, tol=1e-7).fit(X, target)
        assert model.duality_gap_ < 1e-4
        message = "margin must be an array for a y with a column for each class"
        assert_refused(message, SparsemaxClassifier(margin=FRAME).fit, X, target)


def test_in_a_search():
    search = EntmaxClassifierCV(
        alphas=[1, 2], Cs=[1.0], margin=FRAME, threshold=LeastCost(FRAME), cv=3
    ).fit(X, NAMES[Y])
    assert_array_equal(search.loss_.margin, COSTS)
    assert_array_equal(search.threshold_.costs, COSTS)
    grid = {"margin": [0.0, COSTS], "threshold__abstain": [None, 0.5]}
    model = SoftmaxClassifier(threshold=LeastCost(COSTS))
    assert len(GridSearchCV(model, grid, cv=2).fit(X, Y).cv_results_["params"]) == 4
    # Margins do not change what is meant by C="auto".
    plain, costly = (SparsemaxClassifier(C="auto", margin=m) for m in (0.0, COSTS))
    assert plain.fit(X, Y).C_ == pytest.approx(costly.fit(X, Y).C_)


@pytest.mark.parametrize(
    ("margin", "message"),
    [
        (COSTS[:2], r"margin must be a matrix .* got shape \(2, 3\)"),
        (np.ones((4, 4)) - np.eye(4), r"\(3, 3\), .*got shape \(4, 4\)"),
        (-COSTS, "non-negative numbers"),
        (FRAME.rename({"rose": "pink"}, axis=0), "margin must have the rows"),
        (PINK, r"margin must .*missing: \['rose'\], unexpected: \['pink'\]"),
        ("costs", "'margin' parameter"),
    ],
)
def test_bad_margins_are_refused(margin, message):
    assert_refused(message, SoftmaxClassifier(margin=margin).fit, X, NAMES[Y])


def test_the_expected_cost_is_lower_than_without_the_rule():
    """On the training rows, as for any model of calibrated probabilities."""
    plain = LogisticRegression().fit(X, Y)
    rule = LeastCost(COSTS)
    model = SoftmaxClassifier(threshold=rule).fit(X, Y)
    assert_array_equal(model.predict(X), rule.predict(plain.predict_proba(X)))
    cost, without = (COSTS[Y, m.predict(X)].mean() for m in (model, plain))
    assert cost < without
