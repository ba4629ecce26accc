"""Curves, supports and panels of mappings, as drawings."""

import sys

import matplotlib
import numpy as np
import pytest
from compared import COMPARED
from scipy import stats
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import EntmaxClassifier, LinearClassifier
from skprob.inspection import (
    EntropyDisplay,
    MappingDisplay,
    ProfileDisplay,
    SupportDisplay,
    mapping_table,
)
from skprob.mappings import Entmax, NestedSoftmax, PerturbMax, Softmax, Temperature

matplotlib.use("Agg")
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def flat(scores):
    return np.full(scores.shape, 1 / scores.shape[1])


CURVES = [ProfileDisplay, EntropyDisplay]


@pytest.mark.parametrize("display", CURVES)
def test_every_mapping_has_a_curve(display):
    shown = display.from_mappings(COMPARED)
    labels = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    assert labels == list(COMPARED)
    assert len(shown.lines_) == len(COMPARED)
    # No two look alike.
    looks = {(line.get_color(), line.get_linestyle()) for line in shown.lines_}
    assert len(looks) == len(COMPARED)
    assert shown.ax_.get_xlabel() and shown.ax_.get_ylabel()


def test_names_mappings_and_functions_are_drawn():
    mappings = ["entmax", Entmax(), flat]
    for display in CURVES:
        assert len(display.from_mappings(mappings).lines_) == 3
        assert len(display.from_mapping(flat).lines_) == 1
    for mapping in mappings:
        assert SupportDisplay.from_mapping(mapping, n_points=11).figure_ is not None
    assert len(MappingDisplay.from_mapping(flat).axes_) == 3


def test_the_mapping_of_a_fitted_classifier():
    X, y = np.eye(3), [0, 1, 2]
    model = EntmaxClassifier(alpha=1.3, temperature=0.5)
    pipeline = make_pipeline(StandardScaler(), model)
    expected = MappingDisplay.from_mapping(Temperature(Entmax(alpha=1.3), 0.5))
    for estimator in (pipeline, GridSearchCV(pipeline, {}, cv=[([0, 1, 2], [0])])):
        shown = MappingDisplay.from_estimator(estimator.fit(X, y))
        (mine,), (theirs,) = shown.profile.lines_, expected.profile.lines_
        np.testing.assert_array_equal(mine.get_ydata(), theirs.get_ydata())
        assert list(shown.supports) == ["EntmaxClassifier"]
    axes = plt.figure().subplots(3)
    assert MappingDisplay.from_estimator(pipeline, ax=axes).axes_ == list(axes)
    with pytest.raises(ValueError, match="must have a mapping; LogisticRegression has"):
        MappingDisplay.from_estimator(LogisticRegression().fit(X, y))
    with pytest.raises(NotFittedError):
        MappingDisplay.from_estimator(EntmaxClassifier())


@pytest.mark.parametrize("display", [*CURVES, SupportDisplay])
def test_given_axes_are_drawn_on(display):
    figure, ax = plt.subplots()
    shown = display.from_mapping("sparsemax", ax=ax)
    assert shown.ax_ is ax and shown.figure_ is figure
    other = plt.figure().add_subplot()
    assert shown.plot(other) is shown and shown.ax_ is other
    assert plt.get_fignums() == [1, 2]


def test_the_profile_is_the_logistic_function_of_two_classes():
    shown = ProfileDisplay.from_mapping("softmax", score_range=(-2, 2), n_points=5)
    z = np.array([-2.0, -1, 0, 1, 2])
    np.testing.assert_array_equal(shown.scores, z)
    np.testing.assert_allclose(shown.probabilities["softmax"], 1 / (1 + np.exp(-z)))
    np.testing.assert_array_equal(
        shown.lines_[0].get_xydata().T, [z, shown.probabilities["softmax"]]
    )


def test_the_fixed_scores_are_part_of_the_row():
    shown = ProfileDisplay.from_mapping(
        "softmax", fixed_scores=[0, 1], score_range=(0, 1), n_points=2
    )
    e = np.e
    expected = [1 / (2 + e), e / (1 + 2 * e)]
    np.testing.assert_allclose(shown.probabilities["softmax"], expected)


def test_the_entropy_is_shannons_at_the_temperature():
    shown = EntropyDisplay.from_mappings(
        {"soft": "softmax", "sparse": "sparsemax"},
        scores=[1.0, 0.0],
        temperatures=[1, 2],
    )
    p = np.array([1 / (1 + np.exp(-1)), 1 / (1 + np.exp(-0.5))])
    expected = -p * np.log(p) - (1 - p) * np.log(1 - p)
    np.testing.assert_allclose(shown.entropies["soft"], expected)
    # Half the difference of the scores above one half: 1 and 3/4.
    expected = [0, np.log(4) - 0.75 * np.log(3)]
    np.testing.assert_allclose(shown.entropies["sparse"], expected)


def test_noises_are_compared_at_equal_variance():
    shown = EntropyDisplay.from_mappings(
        {
            "softmax": "softmax",
            "half": PerturbMax("gumbel", scale=0.5),
            "normal": PerturbMax("normal", scale=3.0),
        },
        scores=[1.0, 0.0],
        temperatures=[0.5, 1.0, 4.0],
    )
    np.testing.assert_allclose(
        shown.entropies["half"], shown.entropies["softmax"], atol=1e-9
    )
    # The difference of two noises of variance π²/6 at temperature T.
    deviation = np.sqrt(2 * np.pi**2 / 6) * np.array([0.5, 1.0, 4.0])
    p = stats.norm.cdf(1 / deviation)
    np.testing.assert_allclose(
        shown.entropies["normal"], stats.entropy([p, 1 - p]), atol=1e-9
    )


@pytest.mark.parametrize("noise", ["cauchy", stats.t(2)])
def test_noise_without_a_variance_is_taken_as_it_is(noise):
    shown = EntropyDisplay.from_mappings(
        {"noise": PerturbMax(noise)}, scores=[1.0, 0.0], temperatures=[2.0]
    )
    p = PerturbMax(noise)([[0.5, 0.0]])[0]
    np.testing.assert_allclose(shown.entropies["noise"], stats.entropy(p), rtol=1e-12)


def test_the_support_of_sparsemax_is_all_inside_the_simplex():
    shown = SupportDisplay.from_mapping("sparsemax", reach=2.0, n_points=41)
    assert shown.probabilities.shape == (41, 41, 3)
    # The simplex has the corners (±1/√2, -1/√6) and (0, 2/√6).
    x, y = np.meshgrid(shown.x, shown.y)
    inside = np.minimum(1 / 3 - x / np.sqrt(2) - y / np.sqrt(6),
                        1 / 3 + x / np.sqrt(2) - y / np.sqrt(6))  # fmt: skip
    inside = np.minimum(inside, 1 / 3 + 2 * y / np.sqrt(6))
    clear = np.abs(inside) > 1e-9
    everything = (shown.probabilities > 0).all(axis=2)
    np.testing.assert_array_equal(everything[clear], inside[clear] > 0)
    texts = sorted(text.get_text() for text in shown.ax_.texts)
    assert texts == ["1", "12", "123", "13", "2", "23", "3"]


def test_a_mapping_without_zeros_has_one_region():
    shown = SupportDisplay.from_mapping("softmax", n_points=21)
    assert [text.get_text() for text in shown.ax_.texts] == ["123"]
    assert np.ptp(shown.image_.get_array(), axis=(0, 1)).max() == 0


def test_the_mean_of_the_scores_counts_without_shift_invariance():
    def squares(scores):
        weight = 1 + scores**2
        return weight / weight.sum(axis=1, keepdims=True)

    shown = SupportDisplay.from_mapping(squares, mean_score=5.0, n_points=3)
    # Three units upwards, towards class 3.
    z = 5 + 3 * np.array([-1, -1, 2]) / np.sqrt(6)
    expected = (1 + z**2) / (1 + z**2).sum()
    np.testing.assert_allclose(shown.probabilities[2, 1], expected)


def test_all_panels_together():
    shown = MappingDisplay.from_mappings(["softmax", "sparsemax"])
    assert len(shown.axes_) == 4
    assert [ax.get_title() for ax in shown.axes_] == ["", "", "softmax", "sparsemax"]
    assert all(ax.figure is shown.figure_ for ax in shown.axes_)
    axes = plt.figure().subplots(2, 2)
    assert shown.plot(axes).axes_ == list(axes.ravel())
    with pytest.raises(ValueError, match=r"ax must be 4 axes, .* got 3"):
        shown.plot(axes.ravel()[:3])


def test_all_panels_have_three_classes():
    """So a mapping for three classes can be drawn, also that of a classifier."""
    X, y = np.eye(3), ["car", "bus", "train"]
    nested = NestedSoftmax([["bus", "train"]], scales=0.5)
    model = LinearClassifier(nested, loss="log").fit(X, y)
    for shown in (
        MappingDisplay.from_estimator(model),
        MappingDisplay.from_mapping(NestedSoftmax([0, 1, 0], scales=0.5)),
    ):
        z = shown.profile.scores
        # The other class of the nest has the score zero, as has the third class.
        inner = np.sqrt(np.exp(2 * z) + 1)
        expected = inner / (inner + 1) * np.exp(2 * z) / (np.exp(2 * z) + 1)
        (profile,) = shown.profile.probabilities.values()
        np.testing.assert_allclose(profile, expected)
    with pytest.raises(ValueError, match="each of the 3 classes; got 4"):
        MappingDisplay.from_mapping(NestedSoftmax([0, 1, 0, 1]))


def test_bad_input_is_refused():
    for make, message in [
        (lambda: ProfileDisplay.from_mapping("hardmax"), "mapping must be a Mapping"),
        (lambda: ProfileDisplay.from_mappings("softmax"), "must be a sequence"),
        (lambda: ProfileDisplay.from_mappings(Softmax()), "must be a sequence"),
        (lambda: ProfileDisplay.from_mappings([]), "at least one mapping"),
        (lambda: EntropyDisplay.from_mappings(["softmax"] * 2), "the label 'softmax'"),
        (lambda: ProfileDisplay.from_mapping(flat, n_points=1), "n_points .* got 1"),
        (lambda: ProfileDisplay.from_mapping(flat, n_points=2.5), "n_points .* 2.5"),
        (
            lambda: ProfileDisplay.from_mapping(flat, score_range=(1, 0)),
            r"score_range .* \(1, 0\)",
        ),
        (
            lambda: ProfileDisplay.from_mapping(flat, score_range=(0, np.nan)),
            "score_range must be a row",
        ),
        (
            lambda: ProfileDisplay.from_mapping(flat, fixed_scores=[]),
            "fixed_scores must be a row of one finite number or more",
        ),
        (
            lambda: EntropyDisplay.from_mapping(flat, scores="high"),
            "scores must be real numbers, got 'high'",
        ),
        (
            lambda: EntropyDisplay.from_mapping(flat, temperatures=[1, 0]),
            "temperatures must be positive; got 0",
        ),
        (lambda: SupportDisplay.from_mapping(flat, reach=0), "reach .* got 0"),
        (lambda: SupportDisplay.from_mapping(flat, mean_score=np.inf), "mean_score"),
        (lambda: SupportDisplay.from_mapping(flat, n_points=0), "n_points .* got 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            make()


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    """That an import of the package does not import it is in ``test_import.py``."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert len(mapping_table([1.0, 0.0])) > 2
    for display in (ProfileDisplay, MappingDisplay):
        message = f"^{display.__name__} needs matplotlib: pip install matplotlib.$"
        with pytest.raises(ImportError, match=message):
            display.from_mapping("softmax")
