"""Coverage and sizes of predicted sets, as a drawing."""

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse, stats
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import SigmoidClassifier, SoftmaxClassifier
from skprob.decision import ConformalSets
from skprob.inspection import SetDisplay

matplotlib.use("Agg")
from matplotlib import pyplot as plt

RNG = np.random.default_rng(0)
SETS = RNG.integers(0, 2, size=(60, 4))
Y = RNG.integers(0, 3, size=60)
HIT = SETS[np.arange(60), Y] == 1
SIZES = SETS.sum(axis=1)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def test_frames_are_matched_with_the_classes_by_name():
    """Sets in a frame with another order of the columns had the coverage of others."""
    names = np.array(list("abcd"))
    expected = SetDisplay.from_predictions(SETS, names[Y], classes=names).by_class
    assert expected[0].name == "a"
    columns = list("dbac")
    for frame in (
        pd.DataFrame(SETS, columns=names)[columns],
        pl.DataFrame(SETS, schema=list(names))[columns],
    ):
        display = SetDisplay.from_predictions(frame, names[Y], classes=names)
        assert display.by_class == expected
        display = SetDisplay.from_predictions(frame, names[Y])
        assert sorted(display.by_class) == expected
        true = pd.DataFrame(np.eye(4, dtype=int)[Y], columns=names)
        display = SetDisplay.from_predictions(frame, true, classes=names)
        assert [g[:4] for g in display.by_class] == [g[:4] for g in expected]
        with pytest.raises(ValueError, match="sets must have the columns"):
            SetDisplay.from_predictions(frame, names[Y], classes=list("abce"))


@pytest.mark.parametrize("as_sets", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_groups_of_labels(as_sets):
    display = SetDisplay.from_predictions(as_sets(SETS), Y, coverage=0.9)
    # The last class has no row.
    assert [group.name for group in display.by_class] == [0, 1, 2]
    assert [group.name for group in display.by_size] == np.unique(SIZES).tolist()
    for groups, of_row in ((display.by_class, Y), (display.by_size, SIZES)):
        for group in groups:
            rows = of_row == group.name
            assert group.n_rows == rows.sum()
            assert group.coverage == pytest.approx(HIT[rows].mean())
            assert group.size == pytest.approx(SIZES[rows].mean())
            # The interval of Clopper and Pearson.
            k, n = HIT[rows].sum(), rows.sum()
            low = stats.beta.ppf(0.025, k, n - k + 1) if k else 0
            high = stats.beta.ppf(0.975, k + 1, n - k) if k < n else 1
            assert (group.low, group.high) == pytest.approx((low, high), abs=1e-8)


def test_label_sets_of_a_classifier_with_classes_for_each_label():
    X, Y = make_multilabel_classification(random_state=0)
    model = RandomForestClassifier(5, random_state=0).fit(X, Y)
    display = SetDisplay.from_estimator(model, X, Y)
    assert [group.name for group in display.by_class] == [0, 1, 2, 3, 4]
    recall = model.predict(X)[Y[:, 0] == 1, 0].mean()
    assert display.by_class[0].coverage == pytest.approx(recall)


def test_points_bars_and_lines_are_drawn():
    display = SetDisplay.from_predictions(
        SETS, np.array(list("abc"))[Y], classes=list("abcd"), coverage=0.9
    )
    left, right = display.ax_
    points = left.containers[0][0].get_data()
    np.testing.assert_allclose(points[1], [g.coverage for g in display.by_class])
    assert [text.get_text() for text in left.texts] == ["a", "b", "c"]
    legend = right.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [
        "share of rows",
        "coverage",
    ]
    display.figure_.draw_without_rendering()
    assert not legend.get_window_extent().overlaps(right.get_window_extent())
    heights = [bar.get_height() for bar in right.containers[0]]
    assert sum(heights) == pytest.approx(1)
    for panel in display.ax_:
        assert [0.9, 0.9] in [list(line.get_ydata()) for line in panel.lines]
        assert panel.get_xlabel()
    display.plot(max_names=2)
    assert not display.ax_[0].texts
    _, axes = plt.subplots(1, 2)
    assert display.plot(axes).ax_ == list(axes)
    with pytest.raises(ValueError, match="ax must be two axes"):
        display.plot(axes[:1])
    with pytest.raises(ValueError, match="ax must be a matplotlib Axes"):
        display.plot([1, 2])


def test_groups_of_label_sets():
    true = RNG.integers(0, 2, size=(60, 4))
    display = SetDisplay.from_predictions(SETS, true)
    for k, group in enumerate(display.by_class):
        assert group.coverage == pytest.approx(SETS[true[:, k] == 1, k].mean())
    n_true = true.sum(axis=1)
    for group in display.by_size:
        rows = (SIZES == group.name) & (n_true > 0)
        recall = (SETS * true)[rows].sum(axis=1) / n_true[rows]
        assert group.coverage == pytest.approx(recall.mean())
        assert np.isnan(group.low)
    assert sum(group.n_rows for group in display.by_size) == (n_true > 0).sum()


def test_sets_of_estimators_are_grouped():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), ConformalSets(SoftmaxClassifier()))
    display = SetDisplay.from_estimator(model.fit(X, y), X, y)
    assert display.coverage == 0.9
    sets = model[-1].predict_set(model[:-1].transform(X))
    for k, group in enumerate(display.by_class):
        assert group.coverage == sets[y == k, k].mean()
    model[-1].set_params(coverage=0.5)
    assert SetDisplay.from_estimator(model, X, y).coverage == 0.9
    X, true = make_multilabel_classification(random_state=0)
    frame = pd.DataFrame(true, columns=list("abcde"))
    model = SoftmaxClassifier().fit(X, frame)
    shuffled = SetDisplay.from_estimator(model, X, frame[list("edcba")])
    expected = SetDisplay.from_estimator(model, X, frame)
    assert shuffled.by_class == expected.by_class
    assert [group.name for group in expected.by_class] == list("abcde")
    assert expected.coverage is None
    with pytest.raises(ValueError, match="must have predict_set"):
        iris = load_iris(return_X_y=True)
        SetDisplay.from_estimator(SoftmaxClassifier().fit(*iris), *iris)


def test_choice_sets_and_offsets_of_the_rows():
    rng = np.random.default_rng(0)
    X, offset = rng.normal(size=(200, 2)), 3 * rng.normal(size=(200, 3))
    available = rng.random((200, 3)) < 0.6
    available[np.arange(200), rng.integers(3, size=200)] = True
    y = np.where(available, offset + rng.gumbel(size=(200, 3)), -np.inf).argmax(axis=1)
    rows = {"available": available, "offset": offset}
    model = ConformalSets(SoftmaxClassifier()).fit(X, y, **rows)
    sets = model.predict_set(X, **rows)
    expected = SetDisplay.from_predictions(sets, y, coverage=0.9)
    for estimator in (model, make_pipeline(model)):
        display = SetDisplay.from_estimator(estimator, X, y, **rows)
        assert display.by_class == expected.by_class
        assert display.by_size == expected.by_size
    with pytest.raises(ValueError, match="need the arguments"):
        SetDisplay.from_estimator(model, X, y)
    # A label set, by predict.
    Y = (available & (rng.random((200, 3)) < 0.5)) * 1
    model = SigmoidClassifier().fit(X, Y, available=available)
    display = SetDisplay.from_estimator(model, X, Y, available=available)
    sets = model.predict(X, available=available)
    assert display.by_class == SetDisplay.from_predictions(sets, Y).by_class


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sets": SETS * 2}, "sets must be a 0/1 indicator"),
        ({"sets": SETS[:0]}, "sets must be a 0/1 indicator"),
        ({"y_true": SETS[:5]}, "y_true must have a row for each of the 60"),
        ({"y_true": SETS * 0}, "y_true must have a row with a label"),
        ({"y_true": Y + 5}, r"y_true must be one of the classes .*got 6"),
        ({"classes": [1, 2]}, "classes must be 4 names"),
        ({"classes": [0, 1, 2, 2]}, "classes must be distinct labels"),
        ({"sets": [["a"], ["b", "c"]]}, "sets must be an array of real numbers"),
        ({"y_true": [["a"], ["b", "c"]]}, "y_true must be .* got a list of the labels"),
        ({"coverage": 90}, "coverage must be between 0 and 1"),
        ({"max_names": -1}, "max_names must be an integer"),
    ],
)
def test_bad_input_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        SetDisplay.from_predictions(**{"sets": SETS, "y_true": Y, **changes})
