"""Warnings point to the line of the user's code, whoever calls skprob for it."""

import inspect
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import skprob
from skprob import EntmaxClassifierCV, SoftmaxClassifier
from skprob.metrics import brier_loss

X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
y = np.array([0, 0, 1, 0, 1, 1])
ONE_UNLABELLED = np.array([[0, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]])


def one_step():
    return SoftmaxClassifier(max_iter=0)


def without_a_label():
    return SoftmaxClassifier(none_class=False, threshold=0.5)


@pytest.mark.parametrize(
    ("category", "call"),
    [
        (ConvergenceWarning, lambda: one_step().fit(X, y)),
        (UserWarning, lambda: without_a_label().fit(X, ONE_UNLABELLED)),
        (UserWarning, lambda: brier_loss(ONE_UNLABELLED, np.full((6, 2), 0.5))),
        (ConvergenceWarning, lambda: EntmaxClassifierCV(max_iter=0, cv=2).fit(X, y)),
        (
            ConvergenceWarning,
            lambda: GridSearchCV(one_step(), {"C": [1.0]}, cv=2).fit(X, y),
        ),
    ],
)
def test_a_warning_points_to_the_call(category, call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    lines, first = inspect.getsourcelines(call)
    assert any(warning.category is category for warning in caught)
    for warning in caught:
        assert warning.filename == __file__
        assert first <= warning.lineno < first + len(lines)


def test_no_file_counts_frames_by_hand():
    root = Path(skprob.__file__).parent
    by_hand = [
        path.name
        for path in root.rglob("*.py")
        if "stacklevel=" in path.read_text() and path.parent.name != "_utils"
    ]
    assert by_hand == []
