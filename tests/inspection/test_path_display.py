"""Coefficients along a path over C, as a drawing."""

from functools import cache

import matplotlib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import EntmaxClassifierCV, PerturbMaxClassifierCV, SoftmaxClassifier
from skprob.inspection import PathDisplay

matplotlib.use("Agg")
from matplotlib import pyplot as plt

X, Y = load_iris(return_X_y=True, as_frame=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
SHOWN = PathDisplay.from_estimator


@cache
def searched():
    """A search that no test changes."""
    search = EntmaxClassifierCV(
        [1.5, 2], [1.0, np.inf, 0.03, 0.01], l1_ratios=[0.9, 0.2], cv=3
    )
    return search.fit(X, NAMES)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def chosen_coefs(search):
    """Coefficients of the chosen alpha and l1_ratio: (n_folds, n_Cs, M, n_features)."""
    i = search.alphas_.tolist().index(search.alpha_)
    r = search.l1_ratios_.tolist().index(search.l1_ratio_)
    return search.coefs_paths_[:, i, r]


def test_norms_of_the_medians_over_the_folds():
    display = SHOWN(searched())
    coefs = np.median(chosen_coefs(searched()), axis=0)[[3, 2, 0]]
    sizes = np.sqrt((coefs**2).sum(axis=1))
    for name, line in display.lines_.items():
        assert_array_equal(line.get_xdata(), [0.01, 0.03, 1.0])
        assert_allclose(line.get_ydata(), sizes[:, list(X).index(name)])
    is_drawn = [name in display.lines_ for name in X]
    assert_array_equal(is_drawn, (sizes > 0).any(axis=0))
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.get_xlabel() == "C"
    assert display.ax_.get_ylabel() == "norm of the coefficients"


def test_the_features_that_enter_first_are_named():
    coefs = np.zeros((4, 1, 5))
    coefs[1:, 0, 3] = coefs[2:, 0, 1] = 0.1
    coefs[2:, 0, 4], coefs[3:, 0, 0] = -0.5, 2.0
    about = {"feature_names": list("abcde"), "C": 2.0}
    display = PathDisplay.from_path([1, 2, 3, 4], coefs, n_named=3, **about)
    assert display.named_ == ["d", "e", "b"]
    assert list(display.lines_) == ["d", "e", "b", "a"]  # "c" never enters.
    assert legend(display) == ["d", "e", "b", "chosen C = 2"]
    assert_array_equal(display.C_line_.get_xdata(), [2, 2])
    assert display.ax_.get_ylabel() == "coefficient for 1"
    colors = [line.get_color() for line in display.lines_.values()]
    assert len(set(colors[:3])) == 3 and colors[3] not in colors[:3]
    fig, ax = plt.subplots()
    again = display.plot(ax, n_named=0, target=0)
    assert again.ax_ is ax and again.figure_ is fig
    assert again.named_ == [] and legend(again) == ["chosen C = 2"]
    assert_array_equal(again.lines_["e"].get_ydata(), [0, 0, 0.5, 0.5])


def test_the_legend_covers_nothing():
    names = [f"a rather long name of a feature, {j}" for j in range(4)]
    display = PathDisplay.from_path([0.1, 1], np.ones((2, 3, 4)), feature_names=names)
    display.figure_.draw_without_rendering()
    box = display.ax_.get_legend().get_window_extent()
    assert box.y1 < display.ax_.get_window_extent().y0
    assert box.x0 >= 0 and box.x1 <= display.figure_.bbox.x1


def test_a_target_shows_its_own_coefficients():
    display = SHOWN(searched(), target="virginica", color="red")
    coefs = np.median(chosen_coefs(searched()), axis=0)[[3, 2, 0], 2]
    for name, line in display.lines_.items():
        assert_allclose(line.get_ydata(), coefs[:, list(X).index(name)])
        assert line.get_color() == "red"
    assert display.ax_.get_ylabel() == "coefficient for virginica"


def test_two_classes_a_pipeline_and_names():
    two = NAMES != "setosa"
    search = EntmaxClassifierCV([1], [0.05, 0.2, 1.0], cv=2)
    model = make_pipeline(StandardScaler(), search).fit(X[two], NAMES[two])
    second, first = SHOWN(model), SHOWN(model, target="versicolor")
    assert second.ax_.get_ylabel() == "coefficient for virginica"
    coef = np.median(model[-1].coefs_paths_[:, 0], axis=0)
    for number, name in enumerate(X):
        assert_allclose(second.lines_[name].get_ydata(), coef[:, 0, number])
        assert_allclose(first.lines_[name].get_ydata(), -coef[:, 0, number])
    assert second.C == model[-1].C_
    plain = SHOWN(search.fit(X[two].to_numpy(), NAMES[two]), n_named=2)
    assert set(plain.lines_) == {"x0", "x1", "x2", "x3"}
    named = SHOWN(search, feature_names=pd.Index(list("abcd")))
    assert set(named.lines_) == set("abcd")


def test_noises_and_one_C():
    noises = [stats.norm(scale=2), "gumbel"]
    search = PerturbMaxClassifierCV(noises, [0.1], l1_ratios=[1], cv=2).fit(X, Y)
    display = SHOWN(search)
    number = [noise is search.noise_ for noise in noises].index(True)
    coef = np.median(search.coefs_paths_[:, number, 0, 0], axis=0)
    for name, line in display.lines_.items():
        size = np.linalg.norm(coef[:, list(X).index(name)])
        assert_allclose(line.get_ydata(), [size])
        assert line.get_marker() == "."


def test_bad_input_is_refused():
    for call, message in [
        (lambda: SHOWN(SoftmaxClassifier().fit(X, Y)), "estimator must be a fitted"),
        (lambda: SHOWN(EntmaxClassifierCV()), "has no path"),
        (
            lambda: SHOWN(searched(), target="virginia"),
            "classes .* Did you mean 'virgin",
        ),
        (lambda: SHOWN(searched(), n_named=-1), "n_named must be an integer"),
        (
            lambda: SHOWN(searched(), feature_names=["a"]),
            "feature_names must be 4 differ",
        ),
        (
            lambda: SHOWN(searched(), feature_names=list("abca")),
            "feature_names must be 4",
        ),
        (lambda: PathDisplay.from_path([0.0], np.ones((1, 1, 1))), "Cs must be a list"),
        (lambda: PathDisplay.from_path([np.inf], np.ones((1, 1, 1))), "are infinite"),
        (lambda: PathDisplay.from_path([1.0], np.ones((1, 2))), "coefs must have the"),
        (lambda: PathDisplay.from_path(["a"], np.ones((1, 1, 1))), "Cs must be real"),
        (lambda: PathDisplay.from_path([1, 2], [[[1]], [[1, 2]]]), "coefs must be an"),
        (
            lambda: SHOWN(searched(), feature_names=3),
            "feature_names must be 4 .* got 3",
        ),
        (lambda: PathDisplay.from_path([1, 2], np.ones((1, 1, 2))), "with n_Cs=2"),
        (
            lambda: PathDisplay.from_path([1], np.ones((1, 3, 2)), classes=["a", "b"]),
            r"classes must be 3 labels for coefs with M=3; got \['a', 'b'\]",
        ),
        (
            lambda: PathDisplay.from_path([1], np.full((1, 1, 2), np.nan)),
            "coefs must be finite; got NaN",
        ),
        (
            lambda: PathDisplay.from_path([1], np.ones((1, 1, 2)), classes=["a"]),
            "classes must be 2 labels for coefs with M=1",
        ),
        (
            lambda: PathDisplay.from_path([1], np.ones((1, 1, 2)), C="auto"),
            "C must be a positive number or None; got 'auto'",
        ),
    ]:
        with pytest.raises(ValueError, match=f"(?s){message}"):
            call()
