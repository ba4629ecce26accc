"""The names of the columns of y are the classes."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skprob import EntmaxClassifier, EntmaxClassifierCV, SoftmaxClassifier
from skprob.inspection import PredictionDisplay
from skprob.metrics import BrierScorer

from .toys import distributions, label_sets

NAMES = np.array(["sad", "happy", "calm", "angry"])


@pytest.fixture(params=["pandas", "polars"])
def frame(request):
    """Return ``frame(array)``, a DataFrame with names."""
    module = pytest.importorskip(request.param)

    def make(array):
        names = NAMES[: array.shape[1]]
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


@pytest.mark.parametrize(
    "y", [[["a", "b"], ["c"], []], [{"a"}, {"b"}, {"a", "b"}], [("a", "b")] * 3]
)
def test_lists_of_labels_are_refused(y):
    with pytest.raises(ValueError, match="MultiLabelBinarizer makes an indicator"):
        EntmaxClassifier().fit(np.zeros((3, 2)), y)


def test_counts_of_votes_are_refused():
    for votes in ([[3, 1], [2, 2], [0, 4]], [[3.5, 1], [2, 2], [0, 4]]):
        with pytest.raises(ValueError, match="votes"):
            EntmaxClassifier().fit(np.zeros((3, 2)), np.array(votes))
