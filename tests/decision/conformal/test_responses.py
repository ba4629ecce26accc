"""Responses of classifiers of all kinds."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from skprob import EntmaxClassifier, SigmoidClassifier, SoftmaxClassifier
from skprob.decision import ConformalSets

from .calibrated import IRIS, SCORE_FUNCTIONS, prefit
from .given_responses import (
    GivenMatrices,
    GivenProbabilities,
    GivenScores,
    softmax_rows,
)


@pytest.mark.parametrize(
    ("estimator", "by", "score_functions"),
    [
        (SoftmaxClassifier(), None, "entmax threshold"),
        (EntmaxClassifier(), "class", "adaptive"),
        (SigmoidClassifier(), None, "entmax adaptive"),
        (LogisticRegression(max_iter=1000), "class", "threshold"),
        (LinearSVC(), None, "entmax adaptive"),
        (SVC(), "class", "entmax threshold"),
        (GaussianNB(), "class", "entmax adaptive"),
        (KNeighborsClassifier(), None, "threshold"),
        (DecisionTreeClassifier(max_depth=2, random_state=0), "class", "adaptive"),
        (RandomForestClassifier(8, random_state=0), None, "entmax"),
    ],
    ids=lambda value: "" if value is None else str(value).partition("(")[0],
)
def test_sets_of_any_classifier_cover(estimator, by, score_functions):
    assert set(score_functions.split()) <= set(SCORE_FUNCTIONS)
    for score_function in score_functions.split():
        assert_cover(estimator, by, score_function)


def assert_cover(estimator, by, score_function):
    X, y = IRIS
    for labels in (np.array(["a", "b", "c"])[y], y > 0):
        model = ConformalSets(estimator, score_function=score_function, by=by)
        sets, p = model.fit(X, labels).predict_set(X), model.predict_proba(X)
        assert_array_equal(p > 0, sets)
        assert_allclose(p.sum(axis=1), 1)
        assert_array_equal(model.classes_, np.unique(labels))
        assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
        assert sets.dtype == np.int64
        rows, truth = np.arange(150), np.searchsorted(model.classes_, labels)
        assert sets[rows, truth].mean() >= 0.9
        assert model.score(X, labels) > 0.9


def test_sparse_probabilities_give_the_same_sets():
    _z, p, _y = softmax_rows(200, 4)
    Y = (p > 0.3).astype(int)

    class Sparse(GivenProbabilities):
        def predict_proba(self, X):
            return sparse.csr_array(X)

    dense, stored = (
        ConformalSets(kind().fit(p, Y), cv="prefit", score_function="threshold")
        for kind in (GivenProbabilities, Sparse)
    )
    assert stored.fit(p, Y).quantile_ == pytest.approx(dense.fit(p, Y).quantile_)
    assert_array_equal(stored.predict_set(p), dense.predict_set(p))


def test_matrices_for_each_label_give_the_same_sets():
    rng = np.random.default_rng(0)
    p = rng.random((60, 3))
    Y = (rng.random((60, 3)) < p).astype(int)
    Y[:, 2] = 1
    parameters = {"score_function": "threshold", "coverage": 0.8}
    plain = prefit(GivenProbabilities(), np.c_[p[:, :2], np.ones(60)], Y, **parameters)
    listed = prefit(GivenMatrices(), p, Y, **parameters)
    assert_array_equal(
        plain.predict_set(np.c_[p[:, :2], np.ones(60)]), 1 * (listed.predict_set(p))
    )


class Returning(GivenProbabilities):
    """The probabilities are a function of X."""

    def __init__(self, function=None):
        self.function = function

    def predict_proba(self, X):
        return self.function(X)


@pytest.mark.parametrize("score_function", SCORE_FUNCTIONS)
@pytest.mark.parametrize(
    "function",
    [np.ndarray.tolist, pd.DataFrame, np.float32],
    ids=["lists", "a frame", "float32"],
)
def test_containers_of_probabilities_make_no_difference(function, score_function):
    _z, p, y = softmax_rows(60, 3)
    parameters = {"score_function": score_function}
    plain = prefit(GivenProbabilities(), p, y, **parameters)
    model = prefit(Returning(function), p, y, **parameters)
    assert model.quantile_ == pytest.approx(plain.quantile_, rel=1e-5)
    assert_array_equal(model.predict_set(p), plain.predict_set(p))


@pytest.mark.parametrize("score_function", SCORE_FUNCTIONS)
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda p: p[1:],
            r"must return a row for each of the 60 .* got shape \(59, 3\)",
        ),
        (
            lambda p: p[:, 0],
            r"must .* for each of the 3 classes; got shape \(60,\)",
        ),
        (lambda p: None, r"must return a row for each of the 60 rows.* got shape \(\)"),
        (lambda p: p - 0.5, r"must return numbers from 0 to 1; row 0 is \[.*-0\."),
        (lambda p: 2 * p, r"must return numbers from 0 to 1; row .* is \[.*1\."),
        (lambda p: p.astype(str), "must be real numbers, got dtype <U"),
        (lambda p: p * np.nan, r"must return finite numbers; row 0 is \[nan"),
    ],
    ids=["a row less", "vector", "None", "negative", "above 1", "text", "NaN"],
)
def test_probabilities_that_are_refused(function, message, score_function):
    _z, p, y = softmax_rows(60, 3)
    with pytest.raises(ValueError, match=f"predict_proba of the estimator {message}"):
        prefit(Returning(function), p, y, score_function=score_function)


def test_responses_that_are_refused():
    z, _, y = softmax_rows(40, 3)
    model = ConformalSets(GivenScores().fit(z, y), cv="prefit").fit(z, y)
    bad = z.copy()
    bad[4, 1] = np.nan
    with pytest.raises(ValueError, match=r"decision_function .* finite .*row 4"):
        model.predict_set(bad)
    with pytest.raises(ValueError, match="a column for each of the 3 classes"):
        model.predict_set(z[:, :2])
    # Scores of three pairs of three classes.
    inner = make_pipeline(StandardScaler(), SVC(decision_function_shape="ovo"))
    with pytest.raises(ValueError, match="decision_function_shape='ovr'"):
        ConformalSets(inner).fit(*IRIS)
