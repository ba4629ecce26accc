"""Precision at k against plain loops and scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import top_k_accuracy_score

from skprob import SoftmaxClassifier
from skprob.decision import TopK
from skprob.metrics import (
    PrecisionAtKScorer,
    PropensityScoredPrecisionAtKScorer,
    label_propensities,
    precision_at_k,
    propensity_scored_precision_at_k,
)

RNG = np.random.default_rng(0)
TRUE = (RNG.random((50, 8)) < 0.3).astype(int)
SCORES = RNG.normal(size=(50, 8)).round(1)
WEIGHT = RNG.random(50)
PROPENSITIES = RNG.uniform(0.1, 1, size=8)


def best_columns(row, k):
    """The k largest, the first ones of ties."""
    return sorted(range(len(row)), key=lambda i: (-row[i], i))[:k]


@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_precision_is_that_of_loops_over_rows(k, weight):
    gains = [
        sum(true[i] for i in best_columns(row, k)) / k
        for true, row in zip(TRUE, SCORES, strict=True)
    ]
    expected = np.average(gains, weights=weight)
    for true in (TRUE, sparse.csr_matrix(TRUE)):
        for scores in (SCORES, sparse.csr_array(SCORES)):
            precision = precision_at_k(true, scores, k=k, sample_weight=weight)
            assert precision == pytest.approx(expected, abs=1e-14)
    w = np.ones(50) if weight is None else weight
    total = best = 0
    for true, row, of_row in zip(TRUE, SCORES, w, strict=True):
        worth = true / PROPENSITIES
        total += of_row * sum(worth[i] for i in best_columns(row, k))
        best += of_row * np.sort(worth)[-k:].sum()
    precision = propensity_scored_precision_at_k(
        sparse.csr_array(TRUE), SCORES, PROPENSITIES, k=k, sample_weight=weight
    )
    assert precision == pytest.approx(total / best, abs=1e-14)


def test_rows_are_ranked_in_blocks(monkeypatch):
    monkeypatch.setattr("skprob.metrics._ranked._BLOCK_SIZE", 60)
    rows = zip(TRUE, SCORES, strict=True)
    expected = np.mean([true[best_columns(row, 3)].mean() for true, row in rows])
    assert precision_at_k(TRUE, SCORES, k=3) == pytest.approx(expected, abs=1e-14)


def test_classes_have_the_top_k_accuracy():
    X, y = load_digits(return_X_y=True)
    model = SoftmaxClassifier().fit(X[:300], y[:300])
    p = model.predict_proba(X)
    for k in (1, 2, 4):
        expected = top_k_accuracy_score(y, p, k=k)
        assert k * PrecisionAtKScorer(k)(model, X, y) == pytest.approx(expected)
        assert TopK(k).predict(p)[np.arange(len(y)), y].mean() == expected
    forest = RandomForestClassifier(9, random_state=0).fit(X, np.c_[y > 4, y < 2])
    p = np.stack([of_label[:, 1] for of_label in forest.predict_proba(X)], axis=1)
    assert PrecisionAtKScorer(1)(forest, X, np.c_[y > 4, y < 2]) == precision_at_k(
        np.c_[y > 4, y < 2], p
    )
    ridge = RidgeClassifier().fit(X, y > 4)
    score = PrecisionAtKScorer(1)(ridge, X, y > 4)
    assert score == pytest.approx(ridge.score(X, y > 4))


def test_scorers_take_rows_that_lack_a_class():
    X, y = load_iris(return_X_y=True)
    X, y = X + 3 * RNG.normal(size=X.shape), np.array(["c", "a", "b"])[y]
    model = SoftmaxClassifier().fit(X, y)
    for lacking in model.classes_:
        rows = y != lacking
        p, column = model.predict_proba(X[rows]), np.searchsorted(list("abc"), y[rows])
        hit = [k in best_columns(q, 2) for q, k in zip(p, column, strict=True)]
        assert 0.5 < np.mean(hit) < 1
        score = PrecisionAtKScorer(2)(model, X[rows], y[rows])
        assert score == pytest.approx(np.mean(hit) / 2)
        # The best that is possible is to find the label of each row.
        worth = 1 / np.array([0.2, 0.5, 1.0])[column]
        expected = np.average(hit, weights=worth)
        scorer = PropensityScoredPrecisionAtKScorer([0.2, 0.5, 1.0], k=2)
        assert scorer(model, X[rows], y[rows]) == pytest.approx(expected)


def test_the_truth_is_not_changed():
    # Two stored zeros, and one entry in two parts.
    parts = [1.0, 0.0, 0.5, 0.5, 0.0], [0, 1, 2, 2, 0], [0, 2, 5]
    y = sparse.csr_array(parts, shape=(2, 3))
    assert precision_at_k(y, [[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]]) == 0.5
    assert y.data.tolist() == parts[0]
    assert y.indices.tolist() == parts[1]


def test_propensities_by_their_formula():
    Y = sparse.csr_array(TRUE)
    counts = TRUE.sum(axis=0)
    for a, b in ((0.55, 1.5), (0.6, 2.6)):
        c = (np.log(50) - 1) * (b + 1) ** a
        expected = 1 / (1 + c * np.exp(-a * np.log(counts + b)))
        np.testing.assert_allclose(label_propensities(Y, a=a, b=b), expected)
    assert (np.diff(expected[np.argsort(counts)]) >= 0).all()


def test_scorer_of_label_sets():
    X, Y = make_multilabel_classification(random_state=0)
    model = SoftmaxClassifier().fit(X, Y)
    propensities = label_propensities(Y)
    scorer = PropensityScoredPrecisionAtKScorer(propensities, k=2)
    assert scorer(model, X, Y) == propensity_scored_precision_at_k(
        Y, model.predict_proba(X), propensities, k=2
    )


def test_bad_input_is_refused():
    for k in (0, 9, 1.5, None):
        with pytest.raises(ValueError, match="k must be an integer from 1 to 8"):
            precision_at_k(TRUE, SCORES, k=k)
    for wrong in (PROPENSITIES[:3], PROPENSITIES * 0, PROPENSITIES * 9):
        with pytest.raises(ValueError, match="propensities must be 8 numbers"):
            propensity_scored_precision_at_k(TRUE, SCORES, wrong)
    with pytest.raises(ValueError, match="y_true must be labels, or a 0/1 indicator"):
        precision_at_k(TRUE * 2, SCORES)
    with pytest.raises(ValueError, match="scores must be numbers of shape"):
        precision_at_k(TRUE, SCORES * np.nan)
    for wrong in (TRUE[:2], TRUE * 3):
        with pytest.raises(ValueError, match="y must be a 0/1 indicator"):
            label_propensities(wrong)
    with pytest.raises(ValueError, match=r"y must be a 0/1 indicator .*the value nan"):
        label_propensities(TRUE * np.nan)
    for wrong in (None, TRUE.astype(str)):
        with pytest.raises(ValueError, match="y must be real numbers"):
            label_propensities(wrong)
    for wrong in (-1, np.nan, np.inf, "1", None):
        for name in "ab":
            with pytest.raises(
                ValueError, match=f"finite and not negative; got {name}="
            ):
                label_propensities(TRUE, **{name: wrong})
    with pytest.raises(ValueError, match=r"b must be positive.*label 2 has no row"):
        label_propensities(TRUE * (np.arange(8) != 2), b=0)
    with pytest.raises(ValueError, match="propensities must be 8 numbers, larger"):
        propensity_scored_precision_at_k(TRUE, SCORES, np.full(8, 1e-320))
    nothing = np.zeros_like(TRUE)
    assert np.isnan(propensity_scored_precision_at_k(nothing, SCORES, PROPENSITIES))


def test_propensities_in_a_series_are_matched_by_name():
    names = list("abcdefgh")
    series = pd.Series(PROPENSITIES, index=names)[names[::-1]]
    expected = propensity_scored_precision_at_k(TRUE, SCORES, PROPENSITIES, k=2)
    true = pd.DataFrame(TRUE, columns=names)
    scores = pd.DataFrame(SCORES, columns=names)[names[3:] + names[:3]]
    for given in ((true, scores), (true, SCORES), (TRUE, scores[names])):
        assert propensity_scored_precision_at_k(*given, series, k=2) == expected
    labels = np.array(names)[SCORES.argsort(axis=1)[:, 4]]
    expected = propensity_scored_precision_at_k(
        labels, SCORES, PROPENSITIES, k=5, classes=names
    )
    assert 0 < expected < 1
    assert expected == propensity_scored_precision_at_k(
        labels, scores, series, k=5, classes=names
    )
    with pytest.raises(ValueError, match=r"propensities must .* missing: \['a'\]"):
        propensity_scored_precision_at_k(true, SCORES, series.rename({"a": "z"}))
    # Where nothing else has names, a series is in the order of the columns.
    expected = propensity_scored_precision_at_k(TRUE, SCORES, PROPENSITIES)
    for given in (pd.Series(PROPENSITIES), series[names].rename({"a": "z"})):
        assert propensity_scored_precision_at_k(TRUE, SCORES, given) == expected
