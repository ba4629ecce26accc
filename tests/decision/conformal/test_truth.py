"""The truth by which sets are calibrated and scored."""

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import SigmoidClassifier, SoftmaxClassifier
from skprob.decision import ConformalSets

from .calibrated import IRIS, multilabel, prefit


def test_classes_are_the_names_of_label_columns():
    X, Y = multilabel(200)
    names = ["calm", "sad", "loud", "glad", "fast", "slow"]
    frame = pd.DataFrame(Y, columns=names)
    model = ConformalSets(SoftmaxClassifier()).fit(X, frame)
    assert_array_equal(model.classes_, names)
    assert_array_equal(
        model.predict(X), ConformalSets(SoftmaxClassifier()).fit(X, Y).predict(X)
    )
    inner = SoftmaxClassifier().fit(X, frame)
    in_order, reversed_order = (
        ConformalSets(inner, cv="prefit").fit(X, target)
        for target in (frame, frame.iloc[:, ::-1])
    )
    assert in_order.quantile_ == reversed_order.quantile_
    with pytest.raises(ValueError, match="y must have the columns"):
        in_order.fit(X, frame.rename(columns={"sad": "happy"}))
    forest = RandomForestClassifier(10, random_state=0)
    assert_array_equal(ConformalSets(forest).fit(X, frame).classes_, names)


def test_candidates_are_not_the_truth():
    """Which of them is true is not known: a set with all of them is no guarantee."""
    X, y = IRIS
    candidates = np.eye(3, dtype=int)[y]
    candidates[::2, 1] = 1
    inner = SoftmaxClassifier(target_type="candidates")
    with pytest.raises(ValueError, match="for an estimator of candidates"):
        ConformalSets(inner).fit(X, candidates)
    inner.fit(X, candidates)
    for model in (inner, make_pipeline(StandardScaler(), clone(inner))):
        fitted = model.fit(X, candidates)
        model = ConformalSets(fitted, cv="prefit", coverage=0.97)
        with pytest.raises(ValueError, match="for an estimator of candidates"):
            model.fit(X, candidates)
        sets = model.fit(X, y).predict_set(X)
        assert sets[np.arange(150), y].mean() >= 0.97


def test_the_accuracy_of_frames_is_by_name():
    X, Y = multilabel(200)
    frame = pd.DataFrame(Y, columns=list("fbadce"))
    model = ConformalSets(SigmoidClassifier()).fit(X, frame)
    expected = (model.predict(X) == Y).all(axis=1).mean()
    assert model.score(X, frame) == expected > 0.1
    assert model.score(X, frame[list("abcdef")]) == expected
    with pytest.raises(ValueError, match="y must have the columns"):
        model.score(X, frame.rename(columns={"a": "z"}))
    with pytest.raises(sklearn.exceptions.NotFittedError):
        clone(model).score(X, frame)


@pytest.mark.parametrize(
    ("y", "weight", "message"),
    [
        (IRIS[1].astype(str), None, r"y must be labels such as \[0, 1, 2\].*got '0'"),
        (IRIS[1][:9], None, "y must have one label for each of the 150 rows; got 9"),
        (np.eye(3)[IRIS[1]], None, "y must be labels such as.*got an indicator"),
        (np.full(150, np.nan), None, "y must be labels.*NaN"),
        (IRIS[1], -np.ones(150), "sample_weight must be.*non-negative"),
        (IRIS[1], np.ones(9), "sample_weight must be.*one for each row"),
    ],
)
def test_what_cannot_be_scored_is_refused(y, weight, message):
    model = prefit(SoftmaxClassifier(), *IRIS)
    with pytest.raises(ValueError, match=message):
        model.score(IRIS[0], y, weight)


def test_labels_that_are_no_classes_are_never_predicted():
    X, y = IRIS
    model = prefit(SoftmaxClassifier(), X, y)
    assert model.score(X, np.where(y == 1, 7, y), sample_weight=y == 1) == 0
    assert model.score(X, y + 0.0) == (model.predict(X) == y).mean()


def test_dask_targets_are_refused():
    array = pytest.importorskip("dask.array", reason="needs dask")
    X, y = IRIS
    with pytest.raises(ValueError, match="y must be in memory here, not a Dask"):
        ConformalSets(SoftmaxClassifier()).fit(X, array.from_array(y))


def test_folds_without_a_class_are_refused():
    X, y = IRIS
    y = np.where(np.arange(150) == 3, 3, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with pytest.raises(ValueError, match=r"none of the 1 row\(s\) of class 3"):
            ConformalSets(SoftmaxClassifier()).fit(X, y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.linspace(0, 1, 150), "Unknown label type"),
        (np.full((150, 3), 1 / 3), "Unknown label type|y must be labels"),
        (np.arange(300).reshape(150, 2) % 5, "y must be labels of shape"),
        (np.where(IRIS[1] == 1, np.nan, IRIS[1]), r"y must be labels.*contains NaN"),
        (np.where(np.eye(3)[IRIS[1]] == 1, np.nan, 0), r"y must be .*contains NaN"),
        (None, "y must be labels of shape"),
        (
            np.array(["a", None, "b"], object)[IRIS[1]],
            "y must be labels.*None, in row 50 and 49 other rows. Leave out the rows",
        ),
        (
            np.array(["a", 1, "b"], object)[IRIS[1]],
            r"y must be labels.*objects of type int, str. Give text, such as \[str\(",
        ),
        (
            np.array([Decimal(k) for k in range(3)])[IRIS[1]],
            "y must be labels.*objects of type Decimal. Give text",
        ),
        (IRIS[1] * (1 + 0j), r"y must be labels.* Complex data not supported$"),
        (np.array([b"a", b"b", b"c"])[IRIS[1]], "y must be labels.*bytes"),
    ],
)
def test_targets_that_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        ConformalSets(SoftmaxClassifier()).fit(IRIS[0], y)
