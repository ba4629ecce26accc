"""cv="loo" in searches, compared with one fold for each row."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.metrics import accuracy_score, f1_score, make_scorer
from sklearn.model_selection import LeaveOneOut
from sklearn.preprocessing import scale

from skprob import EntmaxClassifierCV, PerturbMaxClassifierCV, SparsemaxClassifier
from skprob.linear_model.fit import _chosen_C
from skprob.objective.left_out import _leave_one_out

from ..data_sets import distributions, label_sets, labels

GRID = {"alphas": [2.0, 1.0], "Cs": [0.1, 0.003, 0.02], "refit": False}


def searches(**options):
    search = EntmaxClassifierCV(cv="loo", **(GRID | options))
    folds = EntmaxClassifierCV(cv=LeaveOneOut(), **(GRID | options))
    return search, folds


@pytest.mark.parametrize("case", ["two", "shares", "offset", "weights", "n_jobs"])
def test_scores_are_those_of_as_many_folds_as_rows(case):
    X, y = distributions() if case == "shares" else labels(2 if case == "two" else 3)
    X, y, given, weight = X[:20], y[:20], {}, None
    if case == "offset":
        given["offset"] = np.random.default_rng(0).normal(size=(20, 3))
    if case == "weights":
        weight = np.random.default_rng(0).uniform(0.2, 3, 20)
    search, folds = searches()
    if case == "n_jobs":
        search.set_params(n_jobs=2)
    search.fit(X, y, weight, **given)
    expected = np.average(folds.fit(X, y, weight, **given).scores_, 0, weight)
    assert search.scores_.shape == (1, 2, 3)
    # Without a row sparsemax may have another support.
    assert_allclose(search.scores_[0, 1], expected[1], rtol=0.01)
    assert_allclose(search.scores_[0, 0], expected[0], rtol=0.05)
    assert_array_equal(search.coefs_paths_.shape[:3], (1, 2, 3))


@pytest.mark.parametrize("scoring", ["neg_log_loss", make_scorer(accuracy_score)])
def test_scorers_of_predictions_score_as_with_folds(scoring):
    X, y = load_wine(return_X_y=True)
    X, y = scale(X)[::6], y[::6]
    search, folds = searches(scoring=scoring, alphas=[1.0])
    search.fit(X, y)
    assert_allclose(search.scores_[0], folds.fit(X, y).scores_.mean(axis=0), rtol=0.1)
    same = search.fit(sparse.csr_array(X), y).scores_
    assert_allclose(same, searches(scoring=scoring, alphas=[1.0])[0].fit(X, y).scores_)


def test_empty_label_sets_score_as_with_folds():
    """Rows without a label are in no fit; the model of all rows predicts them."""
    X, Y = (array[:30] for array in label_sets())
    Y[:5] = 0
    options = {"none_class": False, "threshold": 0.3, "alphas": [2.0]}
    scorer = make_scorer(f1_score, average="samples", zero_division=1.0)
    search, folds = searches(**options, scoring=scorer)
    search.fit(X, Y)
    scores = folds.fit(X, Y).scores_.mean(axis=0)
    # Where the leave-one-out probability is about the threshold a set may differ.
    assert_allclose(search.scores_[0], scores, atol=0.02)


@pytest.mark.parametrize("kind", ["labels", "label sets", "wide", "one fold"])
def test_folds_where_the_hessian_takes_long(kind, monkeypatch):
    """They are those of C="loo", and of an ordinary search."""
    monkeypatch.setattr(_leave_one_out, "_LARGEST_COST", 0)
    X, y, options = *labels(), {}
    if kind == "label sets":
        X, y = label_sets()
        y[:5] = 0
        options = {"none_class": False, "threshold": "micro"}
    if kind == "wide":
        X = np.hstack([X, X**2, X**3, np.eye(60)])
    if kind == "one fold":
        monkeypatch.setattr(_chosen_C, "_ROWS", 12)
    search = EntmaxClassifierCV(**GRID | options, cv="loo", tol=1e-6)
    search.fit(X, y)
    has_label = y.any(axis=1) if y.ndim == 2 else np.ones(60, bool)
    numbers = np.flatnonzero(has_label)
    order = np.random.default_rng(0).permutation(len(numbers))
    tests = [np.sort(numbers[order[k::5]]) for k in range(5)]
    folds = [(np.delete(np.arange(60), test), test) for test in tests]
    folds = folds[:1] if kind == "one fold" else folds
    same = clone(search).set_params(cv=folds).fit(X, y)
    assert search.scores_.shape == (len(folds), 2, 3)
    assert_array_equal(search.scores_, same.scores_)
    if kind in ("labels", "one fold"):
        monkeypatch.setattr(_chosen_C, "_TOL_OF_FOLDS", 1e-6)
        single = SparsemaxClassifier(C="loo").fit(X, y)
        same = search.set_params(alphas=[2.0], Cs=single.Cs_).fit(X, y)
        known = np.isfinite(single.loo_scores_)
        scores = same.scores_.mean(axis=(0, 1))
        assert_allclose(scores[known], single.loo_scores_[known], rtol=1e-3)


def test_the_choice_and_the_last_fit():
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    search = EntmaxClassifierCV([1.0, 1.5], cv="loo").fit(X, y)
    folds = EntmaxClassifierCV([1.0, 1.5], cv=5).fit(X, y)
    assert search.alpha_ == folds.alpha_
    assert abs(np.log(search.C_ / folds.C_)) < 2.1  # At most one value apart.
    assert search.best_score_ == search.scores_.max()
    assert search.score(X, y) > 0.98
    noise = PerturbMaxClassifierCV(["gumbel"], Cs=[0.1, 1], cv="loo")
    softmax = EntmaxClassifierCV([1.0], Cs=[0.1, 1], cv="loo").fit(X, y)
    assert_allclose(noise.fit(X, y).scores_[0, 0], softmax.scores_[0, 0], rtol=1e-3)


def test_what_leave_one_out_cannot_do_is_refused():
    X, y = labels()

    def of_first_rows(model, X, y):
        return model.score(X[:10], y[:10])

    with pytest.raises(ValueError, match="cv='loo' needs scoring=None"):
        EntmaxClassifierCV(cv="loo", scoring=of_first_rows).fit(X, y)
    message = r"cv='loo' needs a loss with bounded second.*\(alpha=2\.5\)"
    with pytest.raises(ValueError, match=message):
        EntmaxClassifierCV([1.0, 2.5], cv="loo").fit(X, y)
    with pytest.raises(ValueError, match="cv='loo' needs a convex loss"):
        PerturbMaxClassifierCV(["normal"], loss="log", cv="loo").fit(X, y)
    with pytest.raises(ValueError, match="cv='loo' needs the ridge penalty"):
        EntmaxClassifierCV([1.0], cv="loo", l1_ratios=[0, 0.5]).fit(X, y)
    with pytest.raises(ValueError, match="'cv' parameter"):
        EntmaxClassifierCV(cv="all").fit(X, y)
