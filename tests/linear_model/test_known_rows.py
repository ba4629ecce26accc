"""Rows that many models are asked about give what they give each model alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from skprob import EntmaxClassifier
from skprob.linear_model import _known_rows
from skprob.linear_model._known_rows import tell_of_rows

from .toys import KINDS, labels


def fitted(X, y, **params):
    return [EntmaxClassifier(1.5, C=C, **params).fit(X, y) for C in (0.1, 1, 10)]


def answers(model, X):
    predictions = [model.predict_proba(X), model.predict(X), model.decision_function(X)]
    return [getattr(p, "toarray", lambda p=p: p)() for p in predictions]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("container", [np.asarray, csr_array])
@pytest.mark.parametrize("few", [_known_rows._FEW, 0])
def test_known_rows_get_the_same_answers(kind, container, few, monkeypatch):
    monkeypatch.setattr(_known_rows, "_FEW", few)
    X, y = KINDS[kind]()
    X = container(X)
    models = fitted(X, y, sparse_output=kind == "label_set")
    expected = [answers(model, X) for model in models]
    tell_of_rows(X, models)
    for model, (proba, *others) in zip(models, expected, strict=True):
        found_proba, *found = answers(model, X)
        assert_allclose(found_proba, proba, rtol=1e-12, atol=1e-14)
        for one, other in zip(found, others, strict=True):
            assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_two_classes_have_one_row_of_coefficients(dtype):
    X, y = labels(2)
    X = X.astype(dtype)
    models = fitted(X, y)
    expected = [model.predict_proba(X) for model in models]
    tell_of_rows(X, models)
    for model, proba in zip(models, expected, strict=True):
        assert model.predict_proba(X).dtype == dtype
        assert_allclose(model.predict_proba(X), proba, rtol=1e-5, atol=1e-6)


def test_other_rows_are_checked_and_predicted_as_ever():
    X, y = labels()
    models = fitted(X, y)
    other = X[::2] + 0.1
    expected = models[0].predict_proba(other)
    tell_of_rows(X, models)
    assert_array_equal(models[0].predict_proba(other), expected)
    with pytest.raises(ValueError, match="NaN"):
        models[0].predict_proba(np.full_like(X, np.nan))


def test_scores_that_overflow_name_the_row():
    X, y = labels()
    models = fitted(X, y)
    X = X.copy()
    X[3] = 1.7e308 * np.sign(models[2].coef_[0])
    tell_of_rows(X, models)
    for rows in (X, X.copy()):
        with pytest.raises(ValueError, match="in row 3 they overflow"):
            models[2].predict_proba(rows)
