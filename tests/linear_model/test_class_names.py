"""The names of the columns of y are the classes."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

from skprob import (
    EntmaxClassifier,
    EntmaxClassifierCV,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.inspection import PredictionDisplay
from skprob.metrics import BrierScorer

from .assertions import assert_refused
from .data_sets import distributions, label_sets, labels

NAMES = np.array(["sad", "happy", "calm", "angry"])


@pytest.fixture(params=["pandas", "polars"])
def frame(request):
    """Return ``frame(array)``, a DataFrame with names."""
    module = pytest.importorskip(request.param)

    def make(array):
        # pandas 2 takes NumPy's strings for something else than names.
        names = NAMES[: array.shape[1]].tolist()
        return module.DataFrame(dict(zip(names, np.asarray(array).T, strict=True)))

    return make


@pytest.mark.parametrize("threshold", ["auto", 0.2])
def test_sets(frame, threshold):
    X, Y = label_sets()
    names = NAMES[: Y.shape[1]]
    weights = {"sad": 2.0, "calm": 0.5}
    model = EntmaxClassifier(class_weight=weights, threshold=threshold)
    model.fit(X, frame(Y))
    assert_array_equal(model.classes_, names)
    by_number = EntmaxClassifier(class_weight={0: 2.0, 2: 0.5}, threshold=threshold)
    by_number.fit(X, Y)
    assert_array_equal(model.coef_, by_number.coef_)
    assert_array_equal(model.predict(X), by_number.predict(X))
    assert model.score(X, frame(Y)) == by_number.score(X, Y)
    with pytest.raises(ValueError, match=r"\['glad'\], which are not in y.*'sad'"):
        EntmaxClassifier(class_weight={"glad": 1.0}).fit(X, frame(Y))


def test_distributions(frame):
    X, D = distributions()
    model = SoftmaxClassifier().fit(X, frame(D))
    by_number = SoftmaxClassifier().fit(X, D)
    assert_array_equal(model.predict(X), NAMES[by_number.predict(X)])
    assert model.score(X, frame(D)) == by_number.score(X, D)
    assert BrierScorer()(model, X, frame(D)) == BrierScorer()(by_number, X, D)


def test_a_search(frame):
    X, Y = label_sets()
    model = EntmaxClassifierCV([1, 2], [1.0], cv=2).fit(X, frame(Y))
    assert_array_equal(model.classes_, NAMES[: Y.shape[1]])


def test_a_display_shows_them(frame):
    pytest.importorskip("matplotlib")
    X, Y = label_sets()
    model = EntmaxClassifier(threshold=0.2).fit(X, frame(Y))
    display = PredictionDisplay.from_estimator(model, X[:1])
    ticks = [text.get_text() for text in display.ax_.get_yticklabels()]
    ticks += [text.get_text() for text in display.ax_.get_xticklabels()]
    assert set(NAMES[: Y.shape[1]]) & set(ticks)


def test_names_for_what_has_none_of_its_own():
    X, Y = label_sets()
    reference = SoftmaxClassifier(threshold=0.2).fit(X, Y)
    model = clone(reference).set_params(class_names=NAMES, class_weight={"sad": 1.0})
    for y in (Y, sparse.csr_array(Y), pd.DataFrame(Y)):
        model.fit(X, y)
        assert_array_equal(model.classes_, NAMES)
        assert_array_equal(model.predict(X), reference.predict(X))
        assert model.score(X, y) == reference.score(X, Y)
    X, D = distributions()
    model = SparsemaxClassifier(class_names=list(NAMES[:3])).fit(X, D)
    assert set(model.predict(X)) <= set(NAMES[:3])
    search = EntmaxClassifierCV([1], [1.0], cv=2, class_names=NAMES[:3]).fit(X, D)
    assert_array_equal(search.classes_, NAMES[:3])
    # On the workers of Dask, too.
    whole = da.from_array(X, chunks=(20, 4)), da.from_array(D, chunks=(20, 3))
    assert_array_equal(model.fit(*whole).classes_, NAMES[:3])
    table = pd.DataFrame(D, columns=["x", "y", "z"])
    frames = dd.from_pandas(pd.DataFrame(X), 3), dd.from_pandas(table, 3)
    assert_refused(r"missing: \['sad'.* unexpected: \['x'", model.fit, *frames)
    assert_array_equal(
        model.set_params(class_names=None).fit(*frames).classes_, ["x", "y", "z"]
    )


def test_bad_names_are_refused():
    X, Y = label_sets()
    for names, message in (
        (["a", "b"], r"must be 4 distinct names, .*; got \['a', 'b'\]"),
        (["a", "b", "c", "a"], "must be 4 distinct names"),
        ([["a", "b", "c", "d"]], "must be 4 distinct names"),
        ("abcd", "'class_names' parameter"),
    ):
        assert_refused(message, SoftmaxClassifier(class_names=names).fit, X, Y)
    model = SoftmaxClassifier(class_names=["a", "b"])
    assert_refused("labels have names already", model.fit, X, Y[:, 0])


def test_the_name_of_a_column_of_labels_is_no_class(frame):
    X, y = labels()
    y = np.array(["calm", "sad", "happy"])[y]
    with pytest.warns(DataConversionWarning) as record:
        model = SoftmaxClassifier().fit(X, frame(y[:, None]))
    # There is one warning, as in scikit-learn.
    assert len(record) == 1
    assert_array_equal(model.classes_, ["calm", "happy", "sad"])
    assert_array_equal(model.predict(X), SoftmaxClassifier().fit(X, y).predict(X))


SETS = [["a", "b"], ["c"], []]


@pytest.mark.parametrize(
    "y",
    [
        SETS,
        [{"a"}, {"b"}, {"a", "b"}],
        [("a", "b")] * 3,
        [[1, 2], [3], [1, 3]],
        pd.Series(SETS),
        pl.Series(SETS),
        [np.array(["a", "b"]), np.array(["b", "c"]), np.array(["a", "c"])],
        np.array([["a", "b"], ["c", "d"], ["a", "c"]]),
    ],
)
def test_lists_of_labels_are_refused(y):
    for model in (EntmaxClassifier(), EntmaxClassifierCV(cv=2), SigmoidClassifier()):
        assert_refused("MultiLabelBinarizer", model.fit, np.zeros((3, 2)), y)


def test_counts_of_votes_are_refused():
    for votes in ([[3, 1], [2, 2], [0, 4]], [[3.5, 1], [2, 2], [0, 4]]):
        for y in (np.array(votes), pd.DataFrame(votes), sparse.csr_array(votes)):
            assert_refused("sums? of|row sums", EntmaxClassifier().fit, np.eye(3), y)
    model = EntmaxClassifier(target_type="label_set")
    assert_refused(
        "row sums.*MultiLabelBinarizer", model.fit, np.eye(3), np.array(votes)
    )
