"""The sets of MAPIE, where it is installed, and the snippet of the page."""

import re
import textwrap
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skprob import SoftmaxClassifier
from skprob.decision import ConformalSets

from .given_responses import softmax_rows

mapie = pytest.importorskip("mapie.classification", reason="needs the package mapie")
PAGE = Path(__file__).parents[3] / "docs" / "user_guide" / "sets_with_a_guarantee.rst"
Z, _, Y = softmax_rows(500, 4, spread=1.0)


@pytest.mark.parametrize(
    ("score", "parameters"),
    [
        ("lac", {"score_function": "threshold"}),
        ("aps", {"score_function": "adaptive", "random_state": 0}),
    ],
)
def test_the_same_sets(score, parameters):
    model = SoftmaxClassifier().fit(Z[:100], Y[:100])
    theirs = mapie.SplitConformalClassifier(
        model, confidence_level=0.8, conformity_score=score, random_state=0
    ).conformalize(Z[100:300], Y[100:300])
    given = {"include_last_label": "randomized"} if score == "aps" else {}
    _, expected = theirs.predict_set(Z[300:], conformity_score_params=given)
    ours = ConformalSets(
        model, cv="prefit", coverage=0.8, never_empty=False, **parameters
    ).fit(Z[100:300], Y[100:300])
    if score == "aps":
        # MAPIE draws the same numbers for calibration and prediction.
        ours._seed = 0
    assert_array_equal(ours.predict_set(Z[300:]), expected[:, :, 0])


def test_the_snippet_of_the_page():
    snippet = re.search(r"code-block:: python\n\n((?:   .*\n|\n)+)", PAGE.read_text())[
        1
    ]
    names = {"SoftmaxClassifier": SoftmaxClassifier, "X": Z, "y": Y, "X_new": Z[:9]}
    exec(textwrap.dedent(snippet), names)
    assert names["sets"].shape == (9, 4, 1)
    assert np.mean(names["predicted"] == Y[:9]) > 0.3
