"""The agreement of label sets against its definition, counted label by label."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import KFold, cross_val_predict, cross_val_score

from skprob import SoftmaxClassifier
from skprob.metrics import harmonic_macro_f1_score

rng = np.random.default_rng(0)
Y_TRUE = rng.integers(0, 2, size=(30, 5))
Y_PRED = np.where(rng.uniform(size=(30, 5)) < 0.3, 1 - Y_TRUE, Y_TRUE)
# The last two labels: never predicted, and never there.
Y_PRED[:, 3], Y_TRUE[:, 4] = 0, 0


def by_counting(y_true, y_pred, weight, zero_division):
    """The definition, in exact arithmetic."""
    precisions, recalls = [], []
    for k in range(len(y_true[0])):
        rows = list(zip(y_true, y_pred, weight, strict=True))
        both = sum(Fraction(int(w)) for t, p, w in rows if t[k] and p[k])
        predicted = sum(Fraction(int(w)) for _, p, w in rows if p[k])
        true = sum(Fraction(int(w)) for t, _, w in rows if t[k])
        precisions.append(both / predicted if predicted else zero_division)
        recalls.append(both / true if true else zero_division)
    precision, recall = sum(precisions), sum(recalls)
    n_labels = len(precisions)
    return float(2 * precision * recall / (precision + recall) / n_labels)


@pytest.mark.parametrize("weight", [None, rng.integers(0, 4, size=30)])
def test_it_is_its_definition(weight):
    for zero_division in (0, 1):
        expected = by_counting(
            Y_TRUE, Y_PRED, np.ones(30) if weight is None else weight, zero_division
        )
        score = harmonic_macro_f1_score(
            Y_TRUE, Y_PRED, sample_weight=weight, zero_division=zero_division
        )
        assert_allclose(score, expected, rtol=1e-14)


def test_containers_and_types():
    expected = harmonic_macro_f1_score(Y_TRUE, Y_PRED)
    for container, dtype in (
        (sparse.csr_array, bool),
        (sparse.csc_matrix, np.uint8),
        (np.asarray, np.float32),
    ):
        score = harmonic_macro_f1_score(
            container(Y_TRUE.astype(dtype)), container(Y_PRED.astype(dtype))
        )
        assert score == expected


def test_it_exceeds_the_mean_f1_of_the_labels():
    mean = f1_score(Y_TRUE, Y_PRED, average="macro", zero_division=0)
    assert mean < harmonic_macro_f1_score(Y_TRUE, Y_PRED)


def test_extremes():
    assert harmonic_macro_f1_score(Y_TRUE[:, :4], Y_TRUE[:, :4]) == 1
    assert harmonic_macro_f1_score(Y_TRUE, 1 - Y_TRUE) == 0
    assert harmonic_macro_f1_score(Y_TRUE, 0 * Y_TRUE) == 0


def test_as_a_scorer_of_cross_validation():
    X = rng.normal(size=(30, 5)) + 2 * Y_PRED
    Y = Y_PRED[:, :3] | ~Y_PRED[:, :3].any(axis=1, keepdims=True)
    model, folds = SoftmaxClassifier(), KFold(3)
    scorer = make_scorer(harmonic_macro_f1_score)
    scores = cross_val_score(model, X, Y, scoring=scorer, cv=folds)
    predicted = cross_val_predict(model, X, Y, cv=folds)
    expected = [
        by_counting(Y[test], predicted[test], np.ones(10), 0)
        for _, test in folds.split(X)
    ]
    assert_allclose(scores, expected, rtol=1e-14)


def test_bad_input_is_refused():
    for arguments, message in (
        ((2 * Y_TRUE, Y_PRED), "y_true must be a 0/1 indicator .* the value 2"),
        ((Y_TRUE, Y_PRED / 3), "y_pred must be a 0/1 indicator .* the value 0.33"),
        ((Y_TRUE.astype(str), Y_PRED), "y_true must be a 0/1 indicator .* dtype <U21"),
        ((Y_TRUE, Y_PRED[1:]), r"same shape; got \(30, 5\) and \(29, 5\)"),
        ((Y_TRUE, Y_PRED[:, 1:]), r"same shape; got \(30, 5\) and \(30, 4\)"),
        ((Y_TRUE[:, 0], Y_PRED), r"y_true must be an indicator of label sets"),
    ):
        with pytest.raises(ValueError, match=message):
            harmonic_macro_f1_score(*arguments)


def test_bad_zero_division_and_weights_are_refused():
    for zero_division in (0.5, -1, np.nan, "warn"):
        with pytest.raises(ValueError, match="zero_division must be 0 or 1; got"):
            harmonic_macro_f1_score(Y_TRUE, Y_PRED, zero_division=zero_division)
    for weight in (np.ones(29), -np.ones(30), np.full(30, np.nan)):
        with pytest.raises(ValueError, match="sample_weight must be finite"):
            harmonic_macro_f1_score(Y_TRUE, Y_PRED, sample_weight=weight)


def test_labels_and_rows_of_different_lengths_are_named():
    labels = Y_TRUE[:, 0]
    for name, given in (("y_true", (labels, Y_PRED)), ("y_pred", (Y_TRUE, labels))):
        with pytest.raises(ValueError, match=f"{name} must be an indicator of label"):
            harmonic_macro_f1_score(*given)
    with pytest.raises(ValueError, match=r"y_pred must .*different lengths"):
        harmonic_macro_f1_score(Y_TRUE, [[1], [0, 1]])
