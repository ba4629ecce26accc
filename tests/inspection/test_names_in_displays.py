"""Names of classes and features that matplotlib would read as something else."""

import io
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest

from skprob.inspection import PathDisplay, PredictionDisplay, SetDisplay

matplotlib.use("Agg")
from matplotlib import pyplot as plt

# A formula, one that cannot be read, and a label that legends leave out.
NAMES = ["$1 to $5", r"$\frac$", "_id"]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def texts(figure):
    """What a reader sees: the texts of the figure as SVG."""
    file = io.BytesIO()
    with plt.rc_context({"svg.fonttype": "none"}):
        figure.savefig(file, format="svg")
    root = ElementTree.fromstring(file.getvalue())
    return ["".join(each.itertext()).strip() for each in root.iter() if each.text]


def test_names_of_features_in_a_path():
    coefs = np.arange(1.0, 13).reshape(2, 2, 3)
    display = PathDisplay.from_path(
        [1, 2], coefs, feature_names=NAMES, classes=["$a$", "b"], target="$a$"
    )
    shown = texts(display.figure_)
    assert {*NAMES, "coefficient for $a$"} <= set(shown)
    display = PathDisplay.from_path([1, 2], coefs[:, :1], classes=["b", "$a$"])
    assert "coefficient for $a$" in texts(display.figure_)


def test_names_of_classes():
    P = np.array([[0.5, 0.25, 0.25]])
    display = PredictionDisplay.from_predictions(P, class_names=NAMES)
    assert set(NAMES) <= set(texts(display.figure_))
    display = SetDisplay.from_predictions(np.eye(3), np.array(NAMES), classes=NAMES)
    assert set(NAMES) <= set(texts(display.figure_))
