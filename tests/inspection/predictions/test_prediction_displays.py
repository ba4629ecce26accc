"""Displays of the predictions for one row and for many."""

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import EntmaxClassifier, SigmoidClassifier, SparsemaxClassifier
from skprob.decision import LeastCost
from skprob.inspection import PredictionDisplay, SetDisplay, SupportSizeDisplay

matplotlib.use("Agg")
from matplotlib import pyplot as plt

X, Y = make_multilabel_classification(
    100, n_classes=6, allow_unlabeled=False, random_state=0
)
P = np.array([0.5, 0.0, 0.375, 0.125, 0.0])


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def bars(display):
    """Kind and width of the bar of each class that has one."""
    return {
        int(display.shown_[round(bar.get_y() + bar.get_height() / 2)]): (
            container.get_label(),
            bar.get_width(),
        )
        for container in display.bars_
        for bar in container
    }


def marks(display):
    """Where the mark of each class that has one stands."""
    return {
        int(display.shown_[int(line)]): share
        for marks in display.ax_.lines
        for share, line in zip(*marks.get_data(), strict=True)
    }


def line_labels(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def test_a_bar_for_each_possible_class_and_a_mark_for_each_true_one():
    shown = PredictionDisplay.from_predictions(
        P, predicted=[1, 0, 1, 0, 0], y_true=[1, 1, 0, 1, 0], class_names=list("abcde")
    )
    assert bars(shown) == {
        0: ("predicted", 0.5),
        2: ("predicted", 0.375),
        3: ("possible", 0.125),
    }
    # That b was ruled out is seen: it has no bar.
    assert marks(shown) == pytest.approx({0: 1 / 3, 1: 1 / 3, 3: 1 / 3})
    assert line_labels(shown) == ["a", "c", "d", "b"]
    top, bottom = shown.ax_.transData.transform([(0, 0), (0, 3)])[:, 1]
    assert top > bottom
    assert shown.ax_.get_title() == "3 of 5 classes possible"


@pytest.mark.parametrize("n_possible", [1, 2, 5, 9])
def test_bars_are_never_blocks(n_possible):
    p = np.zeros(12)
    p[:n_possible] = 1 / n_possible
    shown = PredictionDisplay.from_predictions(p)
    (bottom, top) = shown.ax_.get_ylim()
    assert shown.bars_[0][0].get_height() / (bottom - top) < 0.2


def test_a_small_probability_is_seen():
    """Its bar is narrower than a pixel: an edge and a number show it."""
    shown = PredictionDisplay.from_predictions([0.9998, 0.0002, 0.0])
    assert [text.get_text() for text in shown.ax_.texts] == ["1", "0.0002"]
    small = shown.bars_[0][1]
    assert small.get_width() == 0.0002
    assert small.get_linewidth() > 0.5
    canvas = shown.figure_.canvas
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[..., :3].astype(int)
    box = small.get_window_extent()
    rows = slice(int(len(pixels) - box.y1) + 2, int(len(pixels) - box.y0) - 2)
    # The number is farther to the right, and grey as the axis is.
    near = pixels[rows, int(box.x0) - 1 : int(box.x0) + 2]
    colour = near.max(axis=2) - near.min(axis=2)
    assert (colour.max(axis=1) > 30).all()


def test_marks_cover_no_numbers():
    p = np.array([0.3, 0.84, 0.95, 1.0])
    rows = np.column_stack([p, np.tile((1 - p)[:, None] / 3, 3)])
    true = np.eye(4)[np.zeros(len(p), int)]
    together = PredictionDisplay.from_predictions(rows, y_true=true)
    alone = [
        PredictionDisplay.from_predictions(row, y_true=target)
        for row, target in zip(rows, true, strict=True)
    ]
    for shown in (together, *alone):
        shown.figure_.draw_without_rendering()
        for panel in np.ravel(shown.ax_):
            (marks,) = panel.lines
            at = panel.transData.transform(marks.get_xydata()[0])
            for text in panel.texts:
                assert not text.get_window_extent().contains(*at), text.get_text()


@pytest.mark.parametrize("n_rows", [None, 4])
def test_the_legend_covers_no_axes(n_rows):
    p = P if n_rows is None else np.tile(P, (n_rows, 1))
    predicted = np.zeros_like(p)
    # Only the last row has every kind of mark.
    predicted[..., -5:].reshape(-1)[-5] = 1
    for given in (False, True):
        axes = None
        if given:
            _, axes = plt.subplots(1, n_rows or 1, layout="constrained")
        shown = PredictionDisplay.from_predictions(
            p, predicted=predicted, y_true=p, ax=axes
        )
        shown.figure_.draw_without_rendering()
        panels = np.ravel(shown.ax_)
        legends = [*shown.figure_.legends, *(ax.get_legend() for ax in panels)]
        (legend,) = [legend for legend in legends if legend is not None]
        box = legend.get_window_extent()
        for panel in panels:
            assert not box.overlaps(panel.get_window_extent())
        labels = {text.get_text() for text in legend.get_texts()}
        assert labels == {"predicted", "possible", "true"}
        inside = shown.figure_.bbox
        assert inside.y0 <= box.y0
        assert box.y1 <= inside.y1


def test_the_mark_of_a_distribution_stands_at_its_share():
    truth = [0.25, 0.0, 0.75, 0.0, 0.0]
    shown = PredictionDisplay.from_predictions(P, y_true=truth)
    assert marks(shown) == {0: 0.25, 2: 0.75}
    assert {kind for kind, _ in bars(shown).values()} == {"possible"}
    assert line_labels(shown) == ["0", "2", "3"]


def test_no_more_classes_are_drawn_than_asked_for():
    shown = PredictionDisplay.from_predictions(P, y_true=[0, 1, 0, 0, 0], max_classes=2)
    assert line_labels(shown) == ["0", "2"]
    assert shown.ax_.get_title() == "3 of 5 classes possible, 2 not shown"
    assert line_labels(shown.plot(max_classes=4)) == ["0", "2", "3", "1"]


def scaled(model):
    return make_pipeline(StandardScaler(), model)


@pytest.mark.parametrize(
    "model",
    [
        EntmaxClassifier(),
        scaled(SparsemaxClassifier(threshold="support")),
        GridSearchCV(EntmaxClassifier(), {"threshold": [0.1, 0.3]}, scoring="f1_micro"),
        OneVsRestClassifier(LogisticRegression()),
    ],
    ids=["estimator", "pipeline", "search", "scikit-learn's"],
)
def test_from_an_estimator_of_label_sets(model):
    model.fit(X, Y)
    p, predicted = model.predict_proba(X), model.predict(X)
    for container in (np.asarray, sparse.csr_array):
        shown = PredictionDisplay.from_estimator(model, X[[7]], container(Y[[7]]))
        for k, (kind, width) in bars(shown).items():
            assert width == pytest.approx(p[7, k])
            assert kind == ("predicted" if predicted[7, k] else "possible")
        assert set(bars(shown)) == set(np.flatnonzero(p[7]))
        # Its chances do not sum to one, and so the truth has no shares.
        is_marginal = isinstance(model, OneVsRestClassifier)
        share = 1 if is_marginal else 1 / Y[7].sum()
        assert marks(shown) == pytest.approx(dict.fromkeys(np.flatnonzero(Y[7]), share))
        shown = SupportSizeDisplay.from_estimator(model, X, container(Y))
        assert list(shown.sizes) == ["possible", "predicted", "true"]
        np.testing.assert_array_equal(shown.sizes["possible"], np.sum(p > 0, axis=1))
        np.testing.assert_array_equal(shown.sizes["predicted"], predicted.sum(axis=1))
        np.testing.assert_array_equal(shown.sizes["true"], Y.sum(axis=1))
        covered = ((p > 0) >= Y).all(axis=1).mean()
        assert shown.coverage == pytest.approx(covered)


def test_from_an_estimator_of_labels():
    iris = load_iris()
    names = iris.target_names[iris.target]
    model = SparsemaxClassifier().fit(iris.data, names)
    shown = PredictionDisplay.from_estimator(model, iris.data[[70]], names[[70]])
    p = model.predict_proba(iris.data[[70]])[0]
    assert bars(shown) == {
        1: ("possible", pytest.approx(p[1])),
        2: ("predicted", pytest.approx(p[2])),
    }
    assert marks(shown) == {1: 1.0}
    assert line_labels(shown) == ["virginica", "versicolor"]
    shown = PredictionDisplay.from_estimator(
        model, iris.data[[70]], class_names=list("ABC")
    )
    assert line_labels(shown) == ["C", "B"]
    # One class in each row is nothing to draw.
    assert list(SupportSizeDisplay.from_estimator(model, iris.data).sizes) == [
        "possible"
    ]


def test_from_an_estimator_of_distributions():
    D = Y / Y.sum(axis=1, keepdims=True)
    model = EntmaxClassifier(target_type="distribution").fit(X, D)
    shown = PredictionDisplay.from_estimator(model, X[[7]], D[[7]])
    best = model.predict(X[[7]])[0]
    kinds = {k: kind for k, (kind, _) in bars(shown).items()}
    assert [k for k, kind in kinds.items() if kind == "predicted"] == [best]
    assert marks(shown) == pytest.approx({k: D[7, k] for k in np.flatnonzero(Y[7])})
    sizes = SupportSizeDisplay.from_estimator(model, X, D).sizes
    np.testing.assert_array_equal(sizes["true"], Y.sum(axis=1))


@pytest.mark.parametrize("names", [np.arange(3), np.array(["a", "b", "c"])])
def test_rows_in_which_a_rule_abstains(names):
    """No class is predicted there; the display raised an error."""
    data, y = load_iris(return_X_y=True)
    rule = LeastCost(1 - np.eye(3), abstain=0.1)
    model = EntmaxClassifier(alpha=1, threshold=rule).fit(data, names[y])
    predicted = model.predict(data)
    rows = [0, int(np.argmax(model.predict_proba(data).max(axis=1) < 0.9))]
    assert predicted[rows[1]] not in names.tolist()
    shown = PredictionDisplay.from_estimator(model, data[rows], names[y][rows])
    assert shown.predicted.tolist() == [[True, False, False], [False] * 3]
    sizes = SupportSizeDisplay.from_estimator(model, data, names[y]).sizes
    assert len(sizes["right"]) == (predicted == names[y]).sum()


def test_columns_of_frames_are_matched_by_name():
    """Bars of a frame with another order of the columns had the names of others."""
    frame = pd.DataFrame([[0.25, 0.75, 0.0]], columns=["c", "a", "b"])
    draw = PredictionDisplay.from_predictions
    assert line_labels(draw(frame.iloc[0].to_numpy())) == ["1", "0"]
    for names, expected in (
        (None, ["a", "c"]),
        (["a", "b", "c"], ["a", "c"]),
        # Names to show are in the order of the columns.
        (["sea", "air", "bay"], ["air", "sea"]),
    ):
        for data in (frame, pl.from_pandas(frame)):
            shown = draw(data, y_true=frame[["b", "c", "a"]] > 0.5, class_names=names)
            panel = shown.ax_[0]
            assert [t.get_text() for t in panel.get_yticklabels()] == expected
            assert shown.target.max() == shown.target[shown.probabilities == 0.75] == 1
    y_true, columns = ["a", "b"], ["b", "c", "a"]
    p = pd.DataFrame([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]], columns=columns)
    for classes in (None, ["a", "b", "c"]):
        sizes = SupportSizeDisplay.from_predictions(p, y_true=y_true, classes=classes)
        assert sizes.coverage == 0.5


def test_label_sets_of_a_classifier_with_a_matrix_for_each_label():
    model = RandomForestClassifier(10, random_state=0).fit(X, Y)
    shown = PredictionDisplay.from_estimator(model, X[:2], Y[:2])
    expected = np.stack([p[:, 1] for p in model.predict_proba(X[:2])], axis=1)
    np.testing.assert_array_equal(shown.probabilities, expected)
    assert shown.polytope == "cube"
    sizes = SupportSizeDisplay.from_estimator(model, X, Y).sizes["possible"]
    np.testing.assert_array_equal(sizes[:2], (expected > 0).sum(axis=1))


def test_several_rows_side_by_side():
    model = EntmaxClassifier(threshold=0.2).fit(X, Y)
    shown = PredictionDisplay.from_estimator(model, X[:5], Y[:5])
    assert len(shown.ax_) == len(shown.shown_) == len(shown.bars_) == 5
    assert {ax.figure for ax in shown.ax_} == {shown.figure_}
    for row, ax in enumerate(shown.ax_):
        alone = PredictionDisplay.from_estimator(model, X[[row]], Y[[row]])
        np.testing.assert_array_equal(shown.shown_[row], alone.shown_)
        assert ax.get_title() == f"row {row}: {alone.ax_.get_title()}"
        for mine, other in zip(shown.bars_[row], alone.bars_, strict=True):
            widths = [[bar.get_width() for bar in bars] for bars in (mine, other)]
            np.testing.assert_allclose(*widths)
        mine, other = ax.lines[0].get_data(), alone.ax_.lines[0].get_data()
        np.testing.assert_allclose(mine, other)
    figure = plt.figure()
    axes = figure.subplots(5)
    assert shown.plot(axes, max_classes=1).figure_ is figure
    assert list(shown.ax_) == list(axes)
    assert [len(classes) for classes in shown.shown_] == [1] * 5
    # Labels, two rows of two classes.
    labels = SparsemaxClassifier().fit(X, np.array(["no", "yes"])[Y[:, 0]])
    shown = PredictionDisplay.from_estimator(labels, X[:2], ["no", "yes"])
    predicted = labels.predict(X[:2])
    assert [labels.classes_[p] for p in shown.predicted.argmax(axis=1)] == list(
        predicted
    )
    np.testing.assert_array_equal(shown.target, np.eye(2))


def test_no_label_and_marginals():
    empty = Y.copy()
    empty[:30] = 0
    model = EntmaxClassifier(class_names=list("abcdef")).fit(X, empty)
    p = model.predict_proba(X[[0]])[0]
    assert p.sum() < 0.99
    shown = PredictionDisplay.from_estimator(model, X[[0]], empty[[0]])
    assert f", no label {1 - p.sum():.2f}" in shown.ax_.get_title()
    assert not marks(shown)
    sizes = SupportSizeDisplay.from_estimator(model, X, empty).sizes
    np.testing.assert_array_equal(sizes["true"], empty.sum(axis=1))
    marginals = SigmoidClassifier(alpha=2.0).fit(X, empty)
    shown = PredictionDisplay.from_estimator(marginals, X[[40]], empty[[40]])
    assert marks(shown) == dict.fromkeys(np.flatnonzero(empty[40]), 1.0)
    assert "no label" not in shown.ax_.get_title()
    widths = {k: width for k, (_, width) in bars(shown).items()}
    p = marginals.predict_proba(X[[40]])[0]
    assert widths == pytest.approx({k: p[k] for k in np.flatnonzero(p)})
    # Probabilities of class labels sum to one.
    one_vs_rest = SigmoidClassifier().fit(X, empty.argmax(axis=1))
    shown = PredictionDisplay.from_estimator(one_vs_rest, X[[40]])
    assert shown.polytope == "simplex"


@pytest.mark.parametrize("polytope", ["simplex", "cube"])
def test_sparse_probabilities_are_drawn(polytope):
    rows = sparse.csr_array(np.stack([P, P[::-1]]))
    shown = PredictionDisplay.from_predictions(rows, polytope=polytope)
    assert_array_equal(shown.probabilities, [P, P[::-1]])


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_the_sizes_of_labels(container):
    iris = load_iris()
    names = iris.target_names[iris.target]
    model = SparsemaxClassifier().fit(iris.data, names)
    p, predicted = model.predict_proba(iris.data), model.predict(iris.data)
    model.set_params(sparse_output=container is not np.asarray)
    shown = SupportSizeDisplay.from_estimator(model, iris.data, names)
    size, right = np.sum(p > 0, axis=1), predicted == names
    np.testing.assert_array_equal(shown.sizes["possible"], size)
    np.testing.assert_array_equal(shown.sizes["right"], size[right])
    np.testing.assert_array_equal(shown.sizes["wrong"], size[~right])
    _, *steps = (step.get_data().values for step in shown.steps_)
    np.testing.assert_allclose(sum(steps), shown.steps_[0].get_data().values)
    covered = p[np.arange(150), iris.target] > 0
    assert shown.coverage == pytest.approx(covered.mean())
    title = f"all true classes possible in {100 * covered.mean():.0f} % of the rows"
    assert shown.ax_.get_title() == title
    again = SupportSizeDisplay.from_predictions(container(p), y_true=iris.target)
    np.testing.assert_array_equal(again.sizes["wrong"], size[~right])
    # All of them right.
    sure = SupportSizeDisplay.from_predictions(np.eye(3), y_true=[0, 1, 2])
    assert len(sure.sizes["wrong"]) == 0 and sure.coverage == 1


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_the_steps_are_shares_of_rows(container):
    p = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    shown = SupportSizeDisplay.from_predictions(
        container(p), predicted=container(np.array([[1, 0, 0]] * 3 + [[0, 0, 0]]))
    )
    possible, predicted = (step.get_data() for step in shown.steps_)
    np.testing.assert_array_equal(possible.values, [0, 0.5, 0.25, 0.25])
    np.testing.assert_array_equal(predicted.values, [0.25, 0.75, 0, 0])
    np.testing.assert_array_equal(possible.edges, [-0.5, 0.5, 1.5, 2.5, 3.5])
    labels = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    assert labels == ["possible, 1.8 on average", "predicted, 0.8 on average"]


@pytest.mark.parametrize(
    "draw",
    [
        lambda ax: PredictionDisplay.from_predictions(P, ax=ax),
        lambda ax: SupportSizeDisplay.from_predictions([P], ax=ax),
    ],
)
def test_given_axes_are_drawn_on(draw):
    figure, ax = plt.subplots()
    shown = draw(ax)
    assert shown.ax_ is ax and shown.figure_ is figure
    other = plt.figure().add_subplot()
    assert shown.plot(other) is shown and shown.ax_ is other
    assert plt.get_fignums() == [1, 2]


MODEL = EntmaxClassifier(threshold=0.2).fit(X, Y)
LABELS = EntmaxClassifier().fit(X, Y.argmax(axis=1))
ROW, SIZES = PredictionDisplay.from_predictions, SupportSizeDisplay.from_predictions


def test_bad_input_is_refused():
    for make, message in [
        (lambda: ROW(P * 2), "probabilities must be .* sum to at most one"),
        (lambda: ROW(P * 3, polytope="cube"), "must be marginals, numbers from 0 to 1"),
        (lambda: ROW(P, polytope="ball"), "must be 'simplex' or 'cube'; got 'ball'"),
        (lambda: ROW([P] * 31), "probabilities must be 1 to 30 rows; got 31"),
        (lambda: ROW([P] * 2, ax=plt.figure().subplots(3)), "ax must be 2 axes.*got 3"),
        (lambda: ROW(P, class_names=["a"]), r"one for each of the 5 .* shape \(1,\)"),
        (lambda: ROW(P, predicted=[1, 0]), r"predicted must be .* each of the 5"),
        (lambda: ROW(P, predicted=list("abcde")), "predicted must be real numbers"),
        (
            lambda: ROW(P, y_true=[1, -1, 0, 0, 0]),
            "y_true must be finite, non-negative",
        ),
        (lambda: ROW(P, y_true=[1, np.nan, 0, 0, 0]), "y_true must be finite"),
        (lambda: ROW(P, max_classes=0), "max_classes must be .* 1 or more; got 0"),
        (
            lambda: PredictionDisplay.from_estimator(MODEL, X[:1], Y[0]),
            r"y must have a row for each of the 1 .* y\[\[0\]\] .*; got shape \(6,\)",
        ),
        (
            lambda: PredictionDisplay.from_estimator(LABELS, X[:1], [7]),
            "y must be one of the classes .*; got .*7",
        ),
        (lambda: SIZES([P], y_true=[P[:2]]), r"y_true must be numbers of shape \(1, 5"),
        (lambda: SIZES([P], predicted=[list("abcde")]), "predicted must be real num"),
        (lambda: SIZES([-P]), "probabilities must be finite and not negative; got -"),
        (lambda: ROW([[1.0], P]), "of real numbers; got rows of different lengths"),
        (lambda: SIZES([[1.0], P]), "probabilities must be an array of real numbers"),
        (lambda: SIZES([P] * 2, y_true=[["a"], ["b", "c"]]), "y_true .*got a list"),
        (lambda: SIZES([P] * 2, predicted=[[1], [0, 1]]), "predicted must be an array"),
        (
            lambda: SIZES([P], y_true=[0, 1]),
            r"y_true must be a label for each of the 1",
        ),
        (
            lambda: SIZES([P], y_true=["a"]),
            r"one of the classes \[0, 1, 2, 3, 4\]; got",
        ),
        (lambda: SIZES([P], y_true=["a"], classes=["a"]), "classes must be 5 labels"),
        (
            lambda: SupportSizeDisplay.from_estimator(MODEL, X, Y[:, 0]),
            r"y_true must be numbers of shape \(100, 6\); got shape \(100,\)",
        ),
        (
            lambda: SIZES(np.zeros((0, 3))),
            r"probabilities must have one row or more; got shape \(0, 3\)",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            make()


def test_choice_sets_of_the_rows_reach_the_model():
    rng = np.random.default_rng(0)
    X, available = rng.normal(size=(90, 2)), rng.random((90, 3)) < 0.6
    y = rng.integers(3, size=90)
    available[np.arange(90), y] = True
    model = make_pipeline(EntmaxClassifier())
    model.fit(X, y, entmaxclassifier__available=available)
    p = model[0].predict_proba(X, available=available)
    rows = {"available": available[:9]}
    display = PredictionDisplay.from_estimator(model, X[:9], y[:9], **rows)
    assert_array_equal(display.probabilities, p[:9])
    assert not display.predicted[~available[:9]].any()
    display = SupportSizeDisplay.from_estimator(model, X, y, available=available)
    right = p.argmax(axis=1) == y
    assert_array_equal(np.sort(display.sizes["right"]), np.sort((p > 0).sum(1)[right]))


@pytest.mark.parametrize("display", [PredictionDisplay, SupportSizeDisplay, SetDisplay])
def test_an_estimator_that_is_not_fitted(display):
    with pytest.raises(NotFittedError, match="EntmaxClassifier instance is not fitted"):
        display.from_estimator(EntmaxClassifier(), X, Y)
