"""Calibrated entmax, converted to ONNX, is a temperature."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from skprob import (
    EntmaxClassifier,
    EntmaxClassifierCV,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.decision import ConformalSets

from .running import assert_same, run

X, Y = load_digits(return_X_y=True)
X, Y = X[:600] / 16, Y[:600]
SINGLE = X.astype(np.float32)


@pytest.mark.parametrize("alpha", [1.01, 1.5, 3.0])
def test_supports_are_the_sets_of_labels(alpha):
    model = ConformalSets(EntmaxClassifier(), coverage=0.98, alpha=alpha).fit(X, Y)
    assert_same(model, SINGLE)
    _, p = run(model, SINGLE)
    # Single precision has no number for some probabilities at an alpha close to 1.
    assert p.dtype == np.float32
    np.testing.assert_array_equal(p > 0, model.predict_set(SINGLE))
    assert 1 < (p > 0).sum(axis=1).mean() < 2


def test_a_quantile_of_zero_is_converted():
    model = ConformalSets(SoftmaxClassifier(), coverage=0.5).fit(X, Y)
    assert_same(model, SINGLE)


def test_two_classes_in_a_pipeline_and_a_search_inside():
    for inner in (SigmoidClassifier(), EntmaxClassifierCV([1.5], [1.0], cv=2)):
        model = make_pipeline(StandardScaler(), ConformalSets(inner))
        assert_same(model.fit(X, Y > 4), SINGLE)


def test_a_search_and_a_frozen_classifier_inside():
    search = GridSearchCV(SoftmaxClassifier(), {"C": [0.1, 1.0]}, cv=2)
    assert_same(ConformalSets(search, cv=2).fit(X, Y), SINGLE)
    frozen = FrozenEstimator(SparsemaxClassifier().fit(X[::2], Y[::2]))
    assert_same(ConformalSets(frozen, cv="prefit").fit(X[1::2], Y[1::2]), SINGLE)


def label_sets(allow_unlabeled):
    rows, sets = make_multilabel_classification(
        200, n_classes=6, allow_unlabeled=allow_unlabeled, random_state=0
    )
    return scale(rows), sets


def test_sets_of_labels_without_none_are_converted():
    rows, sets = label_sets(allow_unlabeled=False)
    model = ConformalSets(SparsemaxClassifier()).fit(rows, sets)
    assert_same(model, rows.astype(np.float32))
    model.fit(*label_sets(allow_unlabeled=True))
    with pytest.raises(NotImplementedError, match="the class 'no label'"):
        run(model, rows.astype(np.float32))


def test_parameters_are_those_of_the_fit():
    """After another was set, a calibrated model had no converter, or a wrong error."""
    model = ConformalSets(SoftmaxClassifier()).fit(X, Y)
    model.set_params(score_function="threshold", by="class", alpha=1.1)
    assert_same(model, SINGLE)
    model.fit(X, Y).set_params(score_function="entmax")
    with pytest.raises(NotImplementedError, match="temperature; got 'threshold'"):
        run(model, SINGLE)
    model.fit(X, Y).set_params(score_function="threshold", by=None)
    with pytest.raises(NotImplementedError, match="got by='class'"):
        run(model, SINGLE)


def test_sets_that_are_not_fitted_are_not_converted():
    with pytest.raises(NotFittedError):
        run(ConformalSets(SoftmaxClassifier()), SINGLE)


@pytest.mark.parametrize(
    ("estimator", "parameters", "message"),
    [
        (SoftmaxClassifier(), {"by": "class"}, "by=None .* got by='class'"),
        (
            SoftmaxClassifier(),
            {"score_function": "threshold"},
            "score_function='entmax' have .* got 'threshold'",
        ),
        (
            SoftmaxClassifier(),
            {"score_function": "adaptive"},
            "score_function='entmax' have .* got 'adaptive'",
        ),
        (KNeighborsClassifier(), {}, "linear classifier of skprob .* of KNeighborsCl"),
        (
            make_pipeline(StandardScaler(), SoftmaxClassifier()),
            {},
            "got sets of Pipeline.* its last step",
        ),
    ],
)
def test_other_sets_have_no_converter(estimator, parameters, message):
    """The error was skl2onnx's own, which says to raise an issue there."""
    model = ConformalSets(estimator, cv=2, **parameters).fit(X[:500], Y[:500])
    for each in (model, make_pipeline(StandardScaler(), model)):
        with pytest.raises(NotImplementedError, match=message):
            run(each, SINGLE)
