"""Scores of label sets of which some entries are not known, NaN.

References compute each row from its known entries, in Python, or each label from the
rows in which it is known, by scikit-learn.
"""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics import precision_score, recall_score
from sklearn.model_selection import GridSearchCV, KFold

from skprob import SigmoidClassifier
from skprob.decision import ConformalSets
from skprob.inspection import SetDisplay
from skprob.metrics import (
    FenchelYoungScorer,
    PrecisionAtKScorer,
    SetCoverageScorer,
    brier_loss,
    fenchel_young_loss,
    harmonic_macro_f1_score,
    label_propensities,
    precision_at_k,
    propensity_scored_precision_at_k,
    set_coverage,
)

mpl.use("agg")
N_ROWS, N_LABELS = 40, 6
NAMES = list("fbdaec")


@pytest.fixture(scope="module")
def rows():
    """Features, sets with unknown labels, and weights; nothing is known of row 3."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 3))
    Y = (X @ rng.normal(size=(3, N_LABELS)) > 0.3).astype(float)
    Y[rng.random(Y.shape) < 0.3] = np.nan
    Y[3], Y[4] = np.nan, [1, 0, 1, 0, np.nan, 1]
    return X, Y, rng.random(N_ROWS) + 0.1


def forms(Y):
    """The same label sets as arrays, lists, CSR matrices and DataFrames."""
    frame = pd.DataFrame(Y, columns=NAMES)
    return Y, Y.tolist(), sparse.csr_array(Y), frame, frame.astype("Int64")


def in_other_order(array):
    return pd.DataFrame(array, columns=NAMES)[sorted(NAMES)]


def known_of(Y):
    """Numbers of the known entries of each row."""
    return [np.flatnonzero(~np.isnan(row)) for row in Y]


def mean_of(values, weight):
    """Weighted mean of the values that are not None."""
    pairs = [(v, w) for v, w in zip(values, weight, strict=True) if v is not None]
    return sum(v * w for v, w in pairs) / sum(w for _, w in pairs)


def share_of_right_sets(Y, sets, weight):
    right = [
        (row[known] == predicted[known]).all() if len(known) else None
        for row, predicted, known in zip(Y, sets, known_of(Y), strict=True)
    ]
    return mean_of(right, weight)


@pytest.mark.parametrize("budget", [None, (0, 5)])
def test_the_accuracy_counts_known_entries_only(rows, budget):
    X, Y, weight = rows
    complete = np.nan_to_num(Y) if budget else Y
    model = SigmoidClassifier(budget=budget).fit(X, complete)
    sets = model.predict(X)
    for sample_weight in (None, weight):
        used_weight = np.ones(N_ROWS) if sample_weight is None else sample_weight
        expected = share_of_right_sets(Y, sets, used_weight)
        for y in forms(Y):
            accuracy = model.score(X, y, sample_weight)
            assert accuracy == pytest.approx(expected, abs=1e-14)
    assert 0.1 < expected < 0.9
    named = SigmoidClassifier().fit(X, pd.DataFrame(Y, columns=NAMES))
    expected = share_of_right_sets(Y, named.predict(X), weight)
    assert named.score(X, in_other_order(Y), weight) == pytest.approx(expected)


@pytest.mark.parametrize("score_function", ["entmax", "threshold"])
def test_the_accuracy_of_calibrated_sets_counts_known_entries_only(
    rows, score_function
):
    X, Y, weight = rows
    inner = SigmoidClassifier().fit(X, Y)
    model = ConformalSets(inner, cv="prefit", score_function=score_function).fit(X, Y)
    expected = share_of_right_sets(Y, model.predict(X), weight)
    for y in forms(Y):
        assert model.score(X, y, weight) == pytest.approx(expected, abs=1e-14)
    assert expected > 0
    model.set_params(sparse_output=True)
    assert model.score(X, Y, weight) == pytest.approx(expected, abs=1e-14)


def test_scores_without_any_known_entry_are_refused(rows):
    X, Y, weight = rows
    inner = SigmoidClassifier().fit(X, Y)
    sets = ConformalSets(inner, cv="prefit").fit(X, Y)
    message = r"y must have a known entry in a row of positive weight; got NaN in all"
    nothing, only_row_3 = np.full_like(Y, np.nan), np.arange(N_ROWS) == 3
    for model in (inner, sets):
        for y, sample_weight in ((nothing, weight), (nothing, None), (Y, only_row_3)):
            with pytest.raises(ValueError, match=message):
                model.score(X, y, sample_weight)
        with pytest.raises(
            ValueError, match=r"y must (have 6 col|be .* \(40, 6\); got)"
        ):
            model.score(X, Y[:, :4])
    with pytest.raises(ValueError, match="y_true must have a known entry"):
        harmonic_macro_f1_score(nothing, inner.predict(X))
    with pytest.raises(ValueError, match="y_true must have a known entry"):
        fenchel_young_loss(nothing, inner.decision_function(X), mapping="sigmoid")
    assert np.isnan(set_coverage(nothing, inner.predict(X)))


def test_the_coverage_is_the_recall_of_known_labels(rows):
    _, Y, weight = rows
    sets = (np.random.default_rng(1).random(Y.shape) < 0.6).astype(int)
    recall = [
        predicted[row == 1].mean() if (row == 1).any() else None
        for row, predicted in zip(Y, sets, strict=True)
    ]
    expected = mean_of(recall, weight)
    for y in forms(Y):
        for predicted in (sets, sparse.csr_array(sets)):
            coverage = set_coverage(y, predicted, sample_weight=weight)
            assert coverage == pytest.approx(expected, abs=1e-14)
    frame = pd.DataFrame(Y, columns=NAMES)
    coverage = set_coverage(frame, in_other_order(sets), sample_weight=weight)
    assert coverage == pytest.approx(expected, abs=1e-14)
    display = SetDisplay.from_predictions(sets, Y)
    for group in display.by_class:
        is_true = Y[:, group.name] == 1
        assert group.n_rows == is_true.sum()
        assert group.coverage == pytest.approx(sets[is_true, group.name].mean())
    assert len(display.by_class) == N_LABELS


@pytest.mark.parametrize("k", [1, 2])
def test_precision_ranks_known_labels_only(rows, k):
    _, Y, weight = rows
    rng = np.random.default_rng(1)
    scores, propensities = rng.random(Y.shape), rng.random(N_LABELS) * 0.9 + 0.1
    weight = np.where([len(known) >= k for known in known_of(Y)], weight, 0)
    precision, gains, best = [], [], []
    for row, s, known in zip(Y, scores, known_of(Y), strict=True):
        chosen = sorted(known, key=lambda j, s=s: -s[j])[:k]
        precision.append(sum(row[j] for j in chosen) / k)
        gains.append(sum(row[j] / propensities[j] for j in chosen))
        worth = sorted((row[j] / propensities[j] for j in known), reverse=True)
        best.append(sum(worth[:k]))
    expected = np.average(precision, weights=weight)
    expected_scored = np.average(gains, weights=weight)
    expected_scored /= np.average(best, weights=weight)
    for y in forms(Y):
        for z in (scores, sparse.csr_array(scores)):
            options = {"k": k, "sample_weight": weight}
            assert precision_at_k(y, z, **options) == pytest.approx(expected)
            scored = propensity_scored_precision_at_k(y, z, propensities, **options)
            assert scored == pytest.approx(expected_scored)
    by_name = precision_at_k(
        pd.DataFrame(Y, columns=NAMES),
        in_other_order(scores),
        k=k,
        sample_weight=weight,
    )
    assert by_name == pytest.approx(expected)
    assert 0.1 < expected < 0.9


def test_precision_needs_k_known_labels(rows):
    _, Y, weight = rows
    message = r"y_true must have k known labels or more .* k=1; got 0 in row 3\. Give"
    with pytest.raises(ValueError, match=message):
        precision_at_k(Y, np.zeros(Y.shape), sample_weight=weight)
    with pytest.raises(ValueError, match="k=6; got 5 in row 0"):
        precision_at_k(Y[4:5], np.zeros((1, N_LABELS)), k=6)
    for k in (0, 7, 1.5):
        with pytest.raises(ValueError, match="k must be an integer from 1 to 6"):
            precision_at_k(Y[4:5], np.zeros((1, N_LABELS)), k=k)


@pytest.mark.parametrize("zero_division", [0, 1])
def test_macro_f1_counts_rows_in_which_a_label_is_known(rows, zero_division):
    _, Y, weight = rows
    Y = Y.copy()
    Y[:, 5] = np.where(np.isnan(Y[:, 5]), np.nan, 0)  # No recall.
    predicted = (np.random.default_rng(1).random(Y.shape) < 0.6).astype(int)
    label_scores = []
    for true_column, predicted_column in zip(Y.T, predicted.T, strict=True):
        known = ~np.isnan(true_column)
        arguments = true_column[known].astype(int), predicted_column[known]
        options = {"sample_weight": weight[known], "zero_division": zero_division}
        label_scores.append(
            [f(*arguments, **options) for f in (precision_score, recall_score)]
        )
    precision, recall = np.mean(label_scores, axis=0)
    expected = 2 * precision * recall / (precision + recall)
    for y in forms(Y):
        for sets in (predicted, sparse.csr_array(predicted), predicted.astype(bool)):
            f1 = harmonic_macro_f1_score(
                y, sets, sample_weight=weight, zero_division=zero_division
            )
            assert f1 == pytest.approx(expected)
    stored = sparse.csr_array(np.nan_to_num(Y) + 1)
    stored.data -= 1
    complete = np.nan_to_num(Y).astype(int)
    assert harmonic_macro_f1_score(stored, stored) == pytest.approx(
        harmonic_macro_f1_score(complete, complete)
    )
    with pytest.raises(ValueError, match=r"y_true must be a 0/1 indicator .* value 2"):
        harmonic_macro_f1_score(2 * Y, predicted)
    with pytest.raises(ValueError, match=r"y_pred must be a 0/1 indicator .* nan"):
        harmonic_macro_f1_score(predicted, Y)


@pytest.mark.parametrize("mapping", ["sigmoid", "sparse"])
def test_the_loss_of_a_row_is_that_of_its_known_labels(rows, mapping):
    """Log loss of the sigmoid; the squared hinge with a linear part for alpha=2."""
    X, Y, weight = rows
    model = SigmoidClassifier(alpha=1.0 if mapping == "sigmoid" else 2.0).fit(X, Y)
    z = model.decision_function(X)
    losses = []
    for row, s, known in zip(Y, z, known_of(Y), strict=True):
        t = s[known] * (2 * row[known] - 1)
        if mapping == "sigmoid":
            label_losses = np.logaddexp(0, -t)
        else:
            label_losses = np.where(t >= 1, 0, np.where(t <= -1, -t, (1 - t) ** 2 / 4))
        losses.append(label_losses.sum() if len(known) else None)
    for sample_weight in (None, weight):
        used_weight = np.ones(N_ROWS) if sample_weight is None else sample_weight
        expected = mean_of(losses, used_weight)
        options = {"sample_weight": sample_weight}
        for y in forms(Y):
            loss = fenchel_young_loss(y, z, mapping=model.mapping_, **options)
            assert_allclose(loss, expected, rtol=1e-12)
            score = FenchelYoungScorer()(model, X, y, **options)
            assert_allclose(-score, expected, rtol=1e-12)
    with pytest.raises(ValueError, match="6 columns and y_true has 5 classes"):
        fenchel_young_loss(Y[:, :5], z, mapping=model.mapping_)


def test_scores_of_shares_and_of_class_labels_refuse_gaps(rows):
    _, Y, _ = rows
    shares = np.full(Y.shape, 1 / N_LABELS)
    for call in (
        lambda: fenchel_young_loss(Y, shares),
        lambda: fenchel_young_loss(Y[:, 0], shares, mapping="sigmoid"),
        lambda: brier_loss(Y, shares),
        lambda: precision_at_k(Y[:, 0], shares),
        lambda: set_coverage(Y[:, :1], shares > 0),
    ):
        with pytest.raises(ValueError, match=r"y_true must be labels .* contains NaN"):
            call()
    with pytest.raises(ValueError, match=r"y must be a 0/1 indicator .* the value nan"):
        label_propensities(Y)


@pytest.mark.parametrize("scoring", [None, SetCoverageScorer(), PrecisionAtKScorer()])
def test_searches_score_what_is_known(rows, scoring):
    """The score of each candidate was NaN, or an error."""
    X, Y, _ = rows
    # Precision needs a known label in each row.
    X, Y = np.delete(X, 3, axis=0), np.delete(Y, 3, axis=0)
    folds, grid = KFold(4, shuffle=True, random_state=0), {"C": [0.01, 1]}
    search = GridSearchCV(SigmoidClassifier(), grid, cv=folds, scoring=scoring)
    search.fit(X, Y)
    assert (search.cv_results_["mean_test_score"] > 0).all()
