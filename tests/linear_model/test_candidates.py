"""Fits to candidates for the class of each row, of which exactly one is true."""

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import approx_fprime
from scipy.special import logsumexp
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale

from skprob import (
    AMSoftmaxClassifier,
    EntmaxClassifier,
    EntmaxClassifierCV,
    LinearClassifier,
    PerturbMaxClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
    TaylorSoftmaxClassifier,
)
from skprob.attention import AttentionClassifier
from skprob.decision import ConformalSets
from skprob.losses import InfimumLoss
from skprob.metrics import BrierScorer, brier_loss

X, LABELS = load_wine(return_X_y=True)
X = scale(X)[:, :4]
AS = {"target_type": "candidates"}


def with_others(share, n_classes=3):
    """The true class of each row, and a share of the others."""
    rng = np.random.default_rng(0)
    others = rng.random((len(LABELS), n_classes)) < share
    return (others | np.eye(n_classes, dtype=bool)[LABELS]).astype(int)


Y = with_others(0.4)


def test_one_candidate_each_is_logistic_regression():
    model = SoftmaxClassifier(C=0.5, tol=1e-8, **AS).fit(X, np.eye(3)[LABELS])
    labels = LogisticRegression(C=0.5, tol=1e-10, max_iter=1000).fit(X, LABELS)
    assert_allclose(model.coef_, labels.coef_, atol=1e-5)
    assert_allclose(model.predict_proba(X), labels.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("alpha", [0.5, 1.5, 2.0])
def test_one_candidate_each_is_the_fit_to_labels(alpha):
    model = EntmaxClassifier(alpha, C="auto", tol=1e-7)
    labels = EntmaxClassifier(alpha, C="auto", tol=1e-7).fit(X, LABELS)
    model.set_params(**AS).fit(X, np.eye(3)[LABELS])
    assert model.C_ == labels.C_
    assert_allclose(model.coef_, labels.coef_, atol=1e-4)


@pytest.mark.parametrize(
    "model", [SoftmaxClassifier(**AS), SparsemaxClassifier(**AS)], ids=repr
)
def test_nothing_is_learnt_where_all_classes_are_candidates(model):
    model.fit(X, np.ones((len(X), 3)))
    assert_array_equal(model.coef_, 0)
    assert_allclose(model.predict_proba(X), 1 / 3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_fit_is_a_minimum_of_the_marginal_likelihood(n_classes):
    """Softmax, with weights of rows and classes, against finite differences."""
    rows = np.flatnonzero(n_classes > LABELS)
    x, y = X[rows], Y[rows, :n_classes]
    sample_weight = np.random.default_rng(1).uniform(0.5, 2, len(x))
    class_weight = np.arange(1.0, n_classes + 1)
    weight = sample_weight * (y @ class_weight) / y.sum(axis=1)

    def objective(parameters):
        W, b = np.split(parameters, [4 * (1 if n_classes == 2 else 3)])
        z = x @ W.reshape(-1, 4).T + b
        z = np.hstack([-z / 2, z / 2]) if n_classes == 2 else z
        candidate_scores = np.where(y > 0, z, -np.inf)
        losses = logsumexp(z, axis=1) - logsumexp(candidate_scores, axis=1)
        return (weight @ losses + (W @ W) / (2 * 0.7)) / weight.sum()

    model = SoftmaxClassifier(
        C=0.7, tol=1e-7, class_weight=dict(enumerate(class_weight)), **AS
    )
    model.fit(x, y, sample_weight)
    parameters = np.append(model.coef_.ravel(), model.intercept_)
    value = objective(parameters)
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    assert_allclose(approx_fprime(parameters, objective, 1e-6), 0, atol=1e-5)
    rng = np.random.default_rng(2)
    steps = rng.normal(scale=0.1, size=(20, len(parameters)))
    assert min(objective(parameters + step) for step in steps) > value


def test_true_classes_are_told_from_candidates():
    """Where the shares, which count false candidates as well, are worse."""
    confused = np.eye(3, dtype=int)[LABELS]
    # Two thirds of the first class may be the second.
    confused[np.flatnonzero(LABELS == 0)[::3][:, None], 1] = 1
    confused[np.flatnonzero(LABELS == 0)[1::3][:, None], 1] = 1
    model = EntmaxClassifier(C=100, **AS).fit(X, confused)
    shares = confused / confused.sum(axis=1, keepdims=True)
    averaged = EntmaxClassifier(C=100, target_type="distribution").fit(X, shares)
    true = model.predict_proba(X)[LABELS == 0, 0].mean()
    assert true > averaged.predict_proba(X)[LABELS == 0, 0].mean() + 0.2
    accuracy = np.mean(averaged.predict(X) == LABELS)
    assert model.score(X, LABELS) > accuracy + 0.05
    assert isinstance(model.loss_, InfimumLoss)
    assert model.target_type_ == "candidates"


def test_containers_names_and_predictions():
    names = ["red", "white", "grey"]
    model = EntmaxClassifier(**AS).fit(X, Y)
    frame = EntmaxClassifier(**AS).fit(X, pd.DataFrame(Y, columns=names))
    assert frame.classes_.tolist() == names
    for y in sparse.csr_array(Y), Y.astype(bool), Y.tolist():
        same = EntmaxClassifier(class_names=names, **AS).fit(X, y)
        assert_allclose(same.coef_, model.coef_, atol=1e-12)
        assert_array_equal(same.predict(X), frame.predict(X))
    assert_array_equal(frame.predict(X), np.array(names)[model.predict(X)])
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    # Scores, on labels and on candidates.
    hits = Y[np.arange(len(X)), model.predict(X)]
    assert model.score(X, Y) == pytest.approx(hits.mean())
    reordered = pd.DataFrame(Y, columns=names)[["grey", "red", "white"]]
    assert frame.score(X, reordered) == model.score(X, sparse.csr_array(Y))
    accuracy = np.mean(model.predict(X) == LABELS)
    assert model.score(X, LABELS) == pytest.approx(accuracy)
    assert frame.score(X, np.array(names)[LABELS]) == pytest.approx(accuracy)
    p = model.predict_proba(X)
    assert BrierScorer()(model, X, LABELS) == pytest.approx(-brier_loss(LABELS, p))


def test_a_weight_is_a_number_of_copies():
    counts = np.random.default_rng(3).integers(0, 4, len(X))
    weighted = EntmaxClassifier(tol=1e-7, **AS).fit(X, Y, sample_weight=counts)
    copies = np.repeat(np.arange(len(X)), counts)
    repeated = EntmaxClassifier(tol=1e-7, **AS).fit(X[copies], Y[copies])
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)


def test_a_warm_start_stays_at_the_minimum():
    model = SoftmaxClassifier(warm_start=True, tol=1e-6, **AS).fit(X, Y)
    coef, n_iter = model.coef_, model.n_iter_
    model.fit(X, Y)
    assert_allclose(model.coef_, coef, atol=1e-4)
    assert model.n_iter_ < n_iter / 3


def test_available_classes():
    """A class that a row may not choose is as if it were none."""
    available = np.ones((len(X), 3), dtype=bool)
    available[Y[:, 2] == 0, 2] = False
    model = SoftmaxClassifier(tol=1e-7, **AS).fit(X, Y, available=available)
    z = X @ model.coef_.T + model.intercept_
    z[~available] = -np.inf
    log_sum_of_candidates = logsumexp(np.where(Y > 0, z, -np.inf), axis=1)
    losses = logsumexp(z, axis=1) - log_sum_of_candidates
    penalty = (model.coef_**2).sum() / 2 / len(X)
    assert model.objective_ == pytest.approx(losses.mean() + penalty, rel=1e-9)
    available[5] = [False, True, True]
    with pytest.raises(ValueError, match="target of row 5 is not available"):
        model.fit(X, Y, available=available)


def test_searches_and_sets():
    grid = {"C": [1e-3, 1.0]}
    search = GridSearchCV(EntmaxClassifier(**AS), grid, cv=3).fit(X, Y)
    assert search.best_params_ == {"C": 1.0}
    model = EntmaxClassifier(**AS).fit(X[::2], Y[::2])
    sets = ConformalSets(model, cv="prefit").fit(X[1::2], LABELS[1::2])
    hits = sets.predict_set(X[1::2])[np.arange(len(X) // 2), LABELS[1::2]]
    assert hits.mean() >= 0.9


EMPTY = Y * (np.arange(len(Y)) != 3)[:, None]


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (
            SoftmaxClassifier(),
            EMPTY,
            r"a candidate in each row; there is none in row 3\.",
        ),
        (SoftmaxClassifier(), sparse.csr_array(EMPTY), "none in row 3"),
        (SoftmaxClassifier(), 2 * Y, r"As candidates, y must be .*; got also \[2\]"),
        (SoftmaxClassifier(), Y / 2, r"As candidates, y must be .*; got also \[0.5\]"),
        (SoftmaxClassifier(), LABELS, "target_type='candidates' needs y of shape"),
        (
            SoftmaxClassifier(),
            np.where(Y, Y, np.nan),
            "y must be 0 or 1; it contains NaN",
        ),
        (SoftmaxClassifier(), Y[:, :1], "target_type='candidates' needs y of shape"),
        (LinearClassifier("sigmoid", threshold=0.5), Y, "got candidates"),
        (SoftmaxClassifier(label_smoothing=0.1), Y, "label_smoothing must be 0"),
        (AMSoftmaxClassifier(margin=0.3), Y, "margin must be 0"),
        (TaylorSoftmaxClassifier(), Y, "needs a Fenchel-Young loss"),
        (LinearClassifier(loss="accuracy"), Y, "needs a Fenchel-Young loss"),
        (PerturbMaxClassifier("cauchy"), Y, "needs a Fenchel-Young loss"),
        (
            LinearClassifier("entropy_invariant_softmax"),
            Y,
            "the same function for all numbers of available classes",
        ),
        (SoftmaxClassifier(solver="newton-cholesky"), Y, "needs a convex loss"),
        (EntmaxClassifierCV(), Y, "Use GridSearchCV"),
        (AttentionClassifier(), Y, "'target_type' parameter"),
    ],
)
def test_what_candidates_are_not_for(model, y, message):
    with pytest.raises(ValueError, match=re.compile(message, re.DOTALL)):
        model.set_params(**AS).fit(X, y)
