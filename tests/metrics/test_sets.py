"""Coverage and size of sets."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import SoftmaxClassifier
from skprob.decision import ConformalSets
from skprob.metrics import (
    SetCoverageScorer,
    SetSizeScorer,
    brier_loss,
    chebyshev_distance,
    harmonic_macro_f1_score,
    label_propensities,
    mean_set_size,
    precision_at_k,
    propensity_scored_precision_at_k,
    set_coverage,
)

RNG = np.random.default_rng(0)
SETS = RNG.integers(0, 2, size=(40, 5))
TRUE = RNG.integers(0, 2, size=(40, 5))
TRUE[:, 0] |= 1
WEIGHT = RNG.random(40)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_coverage_of_label_sets_is_the_recall(weight):
    expected = recall_score(TRUE, SETS, average="samples", sample_weight=weight)
    for true in (TRUE, sparse.csr_matrix(TRUE), pd.DataFrame(TRUE)):
        for sets in (SETS, sparse.csr_array(SETS)):
            coverage = set_coverage(true, sets, sample_weight=weight)
            assert coverage == pytest.approx(expected, abs=1e-14)
    sizes = SETS.sum(axis=1)
    expected = np.average(sizes, weights=weight)
    assert mean_set_size(sparse.csr_array(SETS), sample_weight=weight) == (
        pytest.approx(expected)
    )


def test_rows_without_a_label_are_left_out():
    true = np.vstack([TRUE, np.zeros((3, 5), int)])
    sets = np.vstack([SETS, np.ones((3, 5), int)])
    assert set_coverage(true, sets) == set_coverage(TRUE, SETS)
    assert np.isnan(set_coverage(true[-3:], sets[-3:]))


def test_coverage_of_labels():
    y = RNG.integers(0, 4, size=40)
    hit = SETS[np.arange(40), y].mean()
    assert set_coverage(y, SETS, classes=range(5)) == pytest.approx(hit)
    names = np.array(list("abcde"))
    assert set_coverage(names[y], SETS, classes=names) == pytest.approx(hit)
    assert set_coverage(names[y], SETS[:, ::-1], classes=names[::-1]) == (
        pytest.approx(hit)
    )
    with pytest.raises(ValueError, match="classes must be the labels of the 5"):
        set_coverage(y, SETS)
    frame = pd.DataFrame(SETS[:, ::-1], columns=names[::-1])
    assert set_coverage(names[y], frame, classes=names) == pytest.approx(hit)


@pytest.mark.parametrize(
    ("y", "classes", "message"),
    [
        (["a", "b"], ["a", "b", "a"], r"classes must be .* distinct; got \['a', 'b'"),
        (["a", "b"], None, "the labels in y_true are"),
        (["a", "d"], list("abc"), r"y_true must have labels among .* got 'd'"),
        (np.array(["a", 3], object), [1, 2, 3], "y_true must have labels .* got 'a'"),
        ([[1, 0, 0], [1, 2, 0]], None, "and the value 2"),
        (np.array([list("abc")] * 2), None, "y_true must be"),
    ],
)
def test_truth_that_is_refused(y, classes, message):
    with pytest.raises(ValueError, match=message):
        set_coverage(y, SETS[:2, :3], classes=classes)


def test_names_are_no_indicator():
    message = r"sets must be numbers .* different lengths\. Give an indicator"
    names = [["a"], ["a", "b"]]
    with pytest.raises(ValueError, match=message):
        set_coverage(["a", "b"], names)
    with pytest.raises(ValueError, match=message):
        mean_set_size(names)


@pytest.mark.parametrize("sets", [SETS * 0.5, SETS + 1, SETS.astype(str), SETS[0]])
def test_sets_that_are_refused(sets):
    with pytest.raises(ValueError, match="sets must be"):
        mean_set_size(sets)
    with pytest.raises(ValueError, match="sets must be"):
        set_coverage(TRUE, sets)
    if sets.ndim == 2 and sets.dtype.kind != "U":
        value = f"got the value {sets[(sets != 0) & (sets != 1)][0]:g}"
        with pytest.raises(ValueError, match=value):
            mean_set_size(sparse.csr_array(sets))


def test_entries_that_are_stored_twice_are_added():
    """Two ones for the same class counted as two classes."""
    twice = sparse.csr_array(([1, 1, 1], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    for call in (
        lambda: mean_set_size(twice),
        lambda: set_coverage([0, 1], twice),
        lambda: harmonic_macro_f1_score(np.eye(2), twice),
        lambda: label_propensities(sparse.vstack([twice, twice])),
    ):
        with pytest.raises(ValueError, match=r"0/1 indicator .* the value 2"):
            call()
    halves = twice * 0.5
    halves.data[-1] = 1
    assert mean_set_size(halves) == 1


def test_scorers_are_the_scores_of_predicted_sets():
    X, y = load_iris(return_X_y=True)
    y = np.array(["a", "b", "c"])[y]
    scorers = {"coverage": SetCoverageScorer(), "size": SetSizeScorer()}
    model = ConformalSets(SoftmaxClassifier()).fit(X, y)
    sets = model.predict_set(X)
    assert (
        scorers["coverage"](model, X, y)
        == sets[np.arange(150), np.searchsorted(["a", "b", "c"], y)].mean()
    )
    assert scorers["size"](model, X) == sets.sum(axis=1).mean()
    piped = make_pipeline(StandardScaler(), ConformalSets(SoftmaxClassifier()))
    search = GridSearchCV(piped, {"conformalsets__coverage": [0.8, 0.95]}, cv=3)
    size = scorers["size"](search.fit(X, y), X)
    scaled = search.best_estimator_[0].transform(X)
    assert size == search.best_estimator_[1].predict_set(scaled).sum(axis=1).mean()
    assert cross_validate(piped, X, y, scoring=scorers)["test_coverage"].min() > 0.7
    X, Y = make_multilabel_classification(random_state=0, allow_unlabeled=False)
    model = SoftmaxClassifier().fit(X, Y)
    assert scorers["coverage"](model, X, Y) == set_coverage(Y, model.predict(X))
    with pytest.raises(ValueError, match="must have predict_set"):
        scorers["size"](
            LogisticRegression(max_iter=5000).fit(*load_iris(return_X_y=True)),
            load_iris().data,
        )


def test_nullable_frames_are_taken_and_masked_arrays_refused():
    for dtype in ("boolean", "Int8", "Float32"):
        frame = pd.DataFrame(SETS).astype(dtype)
        assert set_coverage(TRUE, frame) == set_coverage(TRUE, SETS)
        assert mean_set_size(frame) == mean_set_size(SETS)
        assert precision_at_k(TRUE, frame, k=2) == precision_at_k(TRUE, SETS, k=2)
    masked = np.ma.masked_array(SETS, SETS > 0)
    for call in (
        lambda: set_coverage(TRUE, masked),
        lambda: set_coverage(masked, SETS),
        lambda: set_coverage(TRUE, SETS, sample_weight=masked[:, 0]),
        lambda: mean_set_size(masked),
        lambda: harmonic_macro_f1_score(masked, TRUE),
    ):
        with pytest.raises(ValueError, match="Masked entries were found"):
            call()


def test_means_do_not_depend_on_the_unit_of_the_weights():
    p = TRUE / TRUE.sum(axis=1, keepdims=True)
    shares = np.random.default_rng(1).dirichlet(np.ones(5), size=40)
    for score in (
        lambda weight: set_coverage(TRUE, SETS, sample_weight=weight),
        lambda weight: mean_set_size(SETS, sample_weight=weight),
        lambda weight: precision_at_k(TRUE, SETS, k=2, sample_weight=weight),
        lambda weight: propensity_scored_precision_at_k(
            TRUE, SETS, np.linspace(0.2, 1, 5), k=2, sample_weight=weight
        ),
        lambda weight: harmonic_macro_f1_score(TRUE, SETS, sample_weight=weight),
        lambda weight: brier_loss(TRUE, p[::-1], sample_weight=weight),
        lambda weight: chebyshev_distance(shares, p, sample_weight=weight),
    ):
        expected = score(WEIGHT)
        # The sums of the first overflow, and entries of the second are subnormal.
        assert score(WEIGHT * 1e308) == pytest.approx(expected)
        assert score(np.round(WEIGHT * 1000) * 5e-324) == pytest.approx(expected, 1e-2)
