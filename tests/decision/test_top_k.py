"""The most probable labels against scikit-learn, and as a threshold."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.metrics import top_k_accuracy_score

from skprob import (
    EntmaxClassifierCV,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.decision import TopK


@pytest.mark.parametrize("k", [1, 2, 5, 10, 20])
def test_sets_have_the_top_k_accuracy_of_scikit_learn(k):
    X, y = load_digits(return_X_y=True)
    p = SoftmaxClassifier().fit(X[:300], y[:300]).predict_proba(X)
    sets = TopK(k).predict(p)
    assert (sets.sum(axis=1) == min(k, 10)).all()
    hit = sets[np.arange(len(y)), y].mean()
    if k < 10:
        assert hit == top_k_accuracy_score(y, p, k=k)
    assert_array_equal(TopK(k).predict(sparse.csr_array(p)).toarray(), sets)


def test_ties_are_broken_by_the_order_of_the_columns():
    p = [[0.2, 0.2, 0.2, 0.4], [0.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.5, 0.0]]
    expected = [[1, 1, 0, 1], [1, 1, 1, 0], [1, 1, 1, 0]]
    assert_array_equal(TopK(3).predict(p), expected)


def test_a_fit_keeps_the_columns():
    p = pd.DataFrame([[0.5, 0.1, 0.4], [0.3, 0.1, 0.6]], columns=["a", "b", "c"])
    rule = TopK(2).fit(p, p > 0.2)
    assert_array_equal(rule.predict(p[["c", "a", "b"]]), [[1, 0, 1], [1, 0, 1]])
    with pytest.raises(ValueError, match="must have 3 columns"):
        rule.predict([[0.5, 0.5]])
    with pytest.raises(ValueError, match="'k' parameter"):
        TopK(0).predict(p)


def test_it_is_the_threshold_of_a_classifier():
    X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    model = SparsemaxClassifier(threshold=TopK(2)).fit(X, Y)
    assert (model.predict(X).sum(axis=1) == 2).all()
    assert_array_equal(model.predict(X), TopK(2).predict(model.predict_proba(X)))


def test_class_labels_have_no_such_threshold():
    """It had no effect: one class was predicted without a word."""
    X, y = load_digits(return_X_y=True)
    message = r"got TopK\(k=2\), which is for label sets.* result of predict_proba"
    with pytest.raises(ValueError, match=message):
        SoftmaxClassifier(threshold=TopK(2)).fit(X[:100], y[:100])
    search = EntmaxClassifierCV([1], [1], cv=2, threshold=TopK(2))
    with pytest.raises(ValueError, match=message):
        search.fit(X[:100], y[:100])


def test_a_fit_needs_no_folds_for_it():
    """It was fitted to predictions of three more models, one for each fold."""
    X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    fitted = TopK(2).fit(Y[:, :4], Y[:, :4])
    for rule in (TopK(2), fitted):
        model = SparsemaxClassifier(threshold=rule).fit(X, Y)
        assert model.threshold_.n_labels_ == 6
        assert not hasattr(model.threshold_, "polytope_")
        assert_array_equal(model.predict(X), TopK(2).predict(model.predict_proba(X)))
    search = EntmaxClassifierCV([1.5], [1.0], cv=2, threshold=TopK(2)).fit(X, Y)
    assert (search.predict(X).sum(axis=1) == 2).all()


def test_it_is_set_without_rows():
    """No fit is needed, but the unfitted rule was refused."""
    X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    names = list("fedcba")
    for target in (Y, pd.DataFrame(Y, columns=names)):
        for model in (SparsemaxClassifier(), SigmoidClassifier(sparse_output=True)):
            rule = TopK(2)
            p = model.fit(X, target).predict_proba(X)
            sets, expected = model.set_threshold(rule).predict(X), rule.predict(p)
            assert sparse.csr_array(sets).sum() == 200
            assert abs(sparse.csr_array(sets) - sparse.csr_array(expected)).sum() == 0
            assert not hasattr(rule, "n_labels_")
    with pytest.raises(ValueError, match="'k' parameter"):
        model.set_threshold(TopK(0))


@pytest.mark.parametrize("model", [SparsemaxClassifier(), SigmoidClassifier()])
def test_labels_that_are_not_available_are_in_no_set(model):
    """With fewer available labels than k, other labels were taken, too."""
    X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    available = np.zeros(Y.shape, dtype=bool)
    available[:50, :2] = available[50:] = True
    model.fit(X, Y).set_threshold(TopK(3))
    for rows, shown in ((X, available), (X.tolist(), pd.DataFrame(available))):
        sets = model.predict(rows, available=shown)
        assert not sets[~available].any()
        assert (sets[50:].sum(axis=1) == 3).all()
        assert (sets[:50].sum(axis=1) == 2).all()


def test_fewer_labels_than_k():
    assert_array_equal(TopK(5).predict([[0.5, 0.0, 0.4]]), [[1, 1, 1]])
