"""Labels that are dates or durations, as LogisticRegression takes them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from skprob import EntmaxClassifierCV, SoftmaxClassifier, SparsemaxClassifier
from skprob.attention import AttentionClassifier
from skprob.decision import ConformalSets
from skprob.inspection import coefficient_table

X, y = load_iris(return_X_y=True)
y[::7] = (y[::7] + 1) % 3  # Not separable.
KINDS = ["datetime64[D]", "datetime64[ns]", "timedelta64[s]"]


def names_of(kind):
    return np.array([30, 10, 20], dtype=np.int64).astype(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_the_model_is_that_of_other_labels(kind):
    names = names_of(kind)
    labels = names[y]
    model = SoftmaxClassifier(tol=1e-8).fit(X, labels)
    expected = LogisticRegression(tol=1e-8, max_iter=10_000).fit(X, labels)
    assert model.classes_.dtype == labels.dtype
    assert_array_equal(model.classes_, np.sort(names))
    assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-5)
    predicted = model.predict(X)
    assert predicted.dtype == labels.dtype
    assert_array_equal(predicted, expected.predict(X))
    assert model.score(X, labels) == np.mean(predicted == labels)
    start = model.set_params(warm_start=True).fit(X, labels)
    assert start.n_iter_ == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "model",
    [
        EntmaxClassifierCV(alphas=[1.5], Cs=[1.0], cv=2),
        ConformalSets(SparsemaxClassifier(), cv=2),
        AttentionClassifier(),
    ],
    ids=repr,
)
def test_other_classifiers(model, kind):
    labels = names_of(kind)[y]
    predicted = model.fit(X, labels).predict(X)
    assert predicted.dtype == labels.dtype
    assert np.mean(predicted == labels) > 0.8


@pytest.mark.parametrize("kind", KINDS)
def test_names_of_classes_are_dates(kind):
    names = names_of(kind)
    model = SoftmaxClassifier(C=np.inf, class_weight={names[0]: 3.0}, tol=1e-6)
    weight = np.where(y == 0, 3.0, 1.0)
    expected = SoftmaxClassifier(C=np.inf, tol=1e-6).fit(X, names[y], weight)
    assert_allclose(model.fit(X, names[y]).coef_, expected.coef_, rtol=1e-4)
    rows = coefficient_table(model, X, names[y], reference=names[0])
    assert {row.class_name for row in rows} == {names[1], names[2]}


def test_series_of_pandas():
    labels = pd.Series(pd.to_datetime(["2024-01-31", "2024-02-29", "2024-03-31"]))
    model = SoftmaxClassifier().fit(X, labels[y].reset_index(drop=True))
    assert_array_equal(model.classes_, labels.to_numpy())


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_date_is_refused(kind):
    labels = names_of(kind)[y]
    labels[5] = "NaT"
    with pytest.raises(ValueError, match=r"labels, .* dates .*NaT in row 5"):
        SoftmaxClassifier().fit(X, labels)
