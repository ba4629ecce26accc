"""Rows of label sets without a label, learnt as a class that is not in the output."""

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold

from skprob import (
    EntmaxClassifier,
    EntmaxClassifierCV,
    LinearClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.decision import ExampleF1, LabelCuts, MetaLabeler
from skprob.mappings import NestedSoftmax
from skprob.metrics import BrierScorer, brier_loss, mean_support_size

from ..estimators import ESTIMATORS
from .assertions import assert_refused
from .data_sets import default_score

CLASS = np.array(["bird", "none", "wind"])


def rows(n_samples=150):
    """Features; of two labels, one or none in each row; and both as a class."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, 4))
    scores = X @ rng.normal(size=(4, 3)) + rng.gumbel(size=(n_samples, 3))
    code = scores.argmax(axis=1)
    return X, np.eye(3, dtype=int)[code][:, [0, 2]], CLASS[code]


X, Y, NAMES = rows()
EMPTY = ~Y.any(axis=1)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, da.from_array])
def test_it_is_a_class_of_a_logistic_regression(container):
    weight = np.random.default_rng(1).uniform(0.5, 2, len(X))
    reference = LogisticRegression(tol=1e-10, max_iter=1000).fit(X, NAMES, weight)
    model = SoftmaxClassifier(tol=1e-9, threshold=0.5)
    if container is da.from_array:
        arrays = (da.from_array(a, chunks=(50, *a.shape[1:])) for a in (X, Y, weight))
        model.fit(*arrays)
    else:
        model.fit(X, container(Y), sample_weight=weight)
    assert model.has_none_class_
    assert_array_equal(model.classes_, [0, 1])
    # The last row is that of no label.
    assert_allclose(model.coef_, reference.coef_[[0, 2, 1]], atol=1e-6)
    p, expected = model.predict_proba(X), reference.predict_proba(X)
    assert_allclose(p, expected[:, [0, 2]], atol=1e-6)
    assert_allclose(model.predict_log_proba(X), np.log(p))
    z = X @ reference.coef_.T + reference.intercept_
    z -= (model.intercept_.mean() - reference.intercept_.mean()) / 3
    assert_allclose(
        np.ptp(model.decision_function(X) - z[:, [0, 2]], axis=0), 0, atol=1e-5
    )
    assert_array_equal(model.predict(X), p > 0.5)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_mapping(name):
    model = clone(ESTIMATORS[name]).set_params(threshold=0.3).fit(X, Y)
    p = model.predict_proba(X)
    assert p.shape == model.predict(X).shape == Y.shape
    assert model.decision_function(X).shape == Y.shape
    assert len(model.coef_) == len(model.intercept_) == 3
    # One minus the sum of a row is the probability of "no label".
    none = 1 - p.sum(axis=1)
    assert none.min() > -1e-6
    assert none[EMPTY].mean() > none[~EMPTY].mean() + 0.05
    assert_array_equal(model.predict(X), p > 0.3)
    assert_array_equal(model.predict_log_proba(X) == -np.inf, p == 0)
    assert clone(model).fit(X[~EMPTY], Y[~EMPTY]).has_none_class_ is False


def test_what_is_predicted_is_empty_about_as_often_as_the_rows_are():
    for model in (SoftmaxClassifier(), EntmaxClassifier(), SparsemaxClassifier()):
        for rule in "auto", "label_cuts", "common_cut", "meta_labeler", "example_f1":
            predicted = model.set_params(threshold=rule).fit(X, Y).predict(X)
            is_empty = ~predicted.any(axis=1)
            assert (is_empty == EMPTY).mean() > 0.7
            # Cuts for micro-F1 name a label rather than none.
            assert 0.1 < is_empty.mean() <= EMPTY.mean()
        # Where none of the training rows is, none.
        model.fit(X[~EMPTY], Y[~EMPTY])
        assert model.predict(X).any(axis=1).all()


def test_the_rule_knows_the_rows_without_a_label():
    out_of_fold, order = np.empty(Y.shape), []
    model = EntmaxClassifier(threshold=LabelCuts()).fit(X, Y)
    # Each fold has the same number of rows without a label.
    folds = StratifiedKFold(3, shuffle=True, random_state=0).split(X, ~EMPTY)
    for train, test in folds:
        fold = EntmaxClassifier(threshold=0, tol=1e-2).fit(X[train], Y[train])
        out_of_fold[test] = fold.predict_proba(X[test])
        order.append(test)
    order = np.concatenate(order)
    rule = LabelCuts().fit(out_of_fold[order], Y[order])
    assert_allclose(model.threshold_.cuts_, rule.cuts_)
    assert model.threshold_.may_be_empty_


def test_the_expected_size_is_that_of_sets_with_a_label():
    rng = np.random.default_rng(0)
    sets = np.where(
        EMPTY[:, None], 0, np.maximum(Y[:, [0, 1, 0]], rng.random((150, 3)) < X[:, :1])
    )
    p = sets * 0.9 / np.maximum(sets.sum(axis=1), 1)[:, None]
    p[EMPTY] = 0.02
    with_labels = MetaLabeler().fit(p[~EMPTY] / 0.9, sets[~EMPTY], X=X[~EMPTY])
    # The folds of the rows differ, and so may the penalty.
    rule = MetaLabeler().fit(p, sets, X=X)
    sizes = rule.expected_size_(X)
    assert_allclose(sizes, with_labels.expected_size_(X), atol=0.1)
    predicted = rule.predict(p, X)
    assert not predicted[EMPTY].any()
    best = ExampleF1().fit(p, sets, X=X).predict(p, X)
    assert not best[EMPTY].any()
    assert best[~EMPTY].any(axis=1).all()


def test_a_search_finds_the_model_of_a_single_fit():
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    cut, tol = 0.3, 1e-7
    for scoring in (None, BrierScorer()):
        search = EntmaxClassifierCV(
            [1.0, 1.5], [0.5], cv=folds, scoring=scoring, threshold=cut, tol=tol
        )
        search.fit(X, Y)
        assert search.coefs_paths_.shape == (3, 2, 1, 3, 4)
        of_alphas = search.scores_[:, :, 0].T
        for alpha, scores in zip(search.alphas_, of_alphas, strict=True):
            model = EntmaxClassifier(alpha, C=0.5, threshold=cut, tol=tol)
            for (train, test), score in zip(folds, scores, strict=True):
                fitted = clone(model).fit(X[train], Y[train])
                scorer = scoring or default_score
                assert score == pytest.approx(
                    scorer(fitted, X[test], Y[test]), abs=1e-3
                )
        single = EntmaxClassifier(search.alpha_, C=0.5, tol=tol).fit(X, Y)
        assert_allclose(search.predict_proba(X), single.predict_proba(X), atol=1e-3)
        assert_array_equal(search.classes_, single.classes_)
    # A new rule is fitted to folds of the chosen model, and not of searches.
    cuts = (
        each.set_threshold("label_cuts", X, Y, cv=3).threshold_.cuts_
        for each in (search, single)
    )
    assert_allclose(*cuts, atol=1e-3)
    # Where a fold's training rows all have a label it is a class of no row.
    folds.append((np.flatnonzero(~EMPTY), np.flatnonzero(EMPTY)))
    search = EntmaxClassifierCV([1.5], [0.5], cv=folds, threshold=0.5).fit(X, Y)
    assert search.coefs_paths_.shape == (4, 1, 1, 3, 4)


def test_with_choice_sets():
    """The class for no label is always available."""
    available = np.ones(Y.shape, dtype=bool)
    available[EMPTY & (X[:, 0] > 0), 0] = False
    model = SoftmaxClassifier(tol=1e-8).fit(X, Y, available=available)
    p = model.predict_proba(X, available=available)
    assert (p[~available] == 0).all()
    z = X @ model.coef_.T + model.intercept_
    z[:, :2][~available] = -np.inf
    weights = np.exp(z - z.max(axis=1, keepdims=True))
    assert_allclose(p, (weights / weights.sum(axis=1, keepdims=True))[:, :2])
    model.set_threshold("auto", X, Y, available=available, cv=3)
    assert (model.predict(X, available=available)[~available] == 0).all()


def test_weights_of_classes():
    weights = {0: 3.0, 1: 0.5}
    model = SoftmaxClassifier(class_weight=weights, threshold=0.5, tol=1e-8).fit(X, Y)
    by_row = np.where(EMPTY, 1.0, Y @ [3.0, 0.5])
    other = SoftmaxClassifier(threshold=0.5, tol=1e-8).fit(X, Y, sample_weight=by_row)
    assert_allclose(model.coef_, other.coef_, atol=1e-6)
    model.set_params(class_weight="balanced").fit(X, Y)
    reference = LogisticRegression(class_weight="balanced", tol=1e-10, max_iter=1000)
    expected = reference.fit(X, NAMES).predict_proba(X)[:, [0, 2]]
    assert_allclose(model.predict_proba(X), expected, atol=1e-6)


def test_sparse_output_names_and_a_warm_start():
    model = SparsemaxClassifier(
        C=10.0, sparse_output=True, class_names=["bird", "wind"], warm_start=True
    ).fit(X, Y)
    p = model.predict_proba(X)
    assert_allclose(p.toarray(), model.set_params(sparse_output=False).predict_proba(X))
    assert (p.sum(axis=1) == 0).any()
    assert_array_equal(model.classes_, ["bird", "wind"])
    coef = model.coef_
    assert model.fit(X, Y).n_iter_ == 0
    assert_array_equal(model.coef_, coef)
    message = r"coef_ has shape \(3, 4\); these data need \(1, 4\)"
    assert_refused(message, model.fit, X[~EMPTY], Y[~EMPTY])


def test_few_rows():
    for n_labelled in (1, 2):
        few = np.concatenate(
            [np.flatnonzero(~EMPTY)[:n_labelled], np.flatnonzero(EMPTY)]
        )
        for rule in "auto", "cv", "meta_labeler":
            model = EntmaxClassifier(threshold=rule)
            with pytest.warns(UserWarning, match="are in no row"):
                model.fit(X[few], np.pad(Y[few], [(0, 0), (0, 1)]))
            assert model.predict(X).shape == (150, 3)
    assert_refused("y must have a label in at least one row", model.fit, X, 0 * Y)
    weight = EMPTY.astype(float)
    message = "y must have a label in at least one row of positive weight"
    assert_refused(message, model.fit, X, Y, weight)
    message = "cv must be .* 1 rows of X with a label; got 2"
    model = EntmaxClassifier().fit(X, Y)
    alone = np.concatenate([np.flatnonzero(~EMPTY)[:1], np.flatnonzero(EMPTY)])
    assert_refused(message, model.set_threshold, "auto", X[alone], Y[alone], cv=2)


def test_marginals_and_other_targets_need_none():
    assert not SigmoidClassifier(threshold=0.5).fit(X, Y).has_none_class_
    assert not SoftmaxClassifier().fit(X, NAMES).has_none_class_
    model = SoftmaxClassifier().fit(X, np.eye(3)[np.arange(150) % 3] * 0.9 + 0.1 / 3)
    assert not model.has_none_class_


def test_a_mapping_with_a_parameter_for_each_class_has_one_for_no_label():
    model = LinearClassifier(NestedSoftmax([0, 0, 1], scales=0.5), threshold=0.5)
    p = model.fit(X, Y).predict_proba(X)
    assert p.shape == (150, 2)
    assert_allclose(model.mapping_(X @ model.coef_.T + model.intercept_)[:, :2], p)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_metrics(container):
    p = np.array([[0.5, 0.2], [0.0, 0.0], [0.4, 0.6], [0.1, 0.1]])
    sets = np.array([[1, 0], [0, 0], [1, 1], [0, 0]])
    # The last column is the probability of "no label".
    whole = np.array([[0.5, 0.2, 0.3], [0, 0, 1], [0.4, 0.6, 0], [0.1, 0.1, 0.8]])
    target = np.array([[1, 0, 0], [0, 0, 1], [0.5, 0.5, 0], [0, 0, 1]])
    expected = np.square(whole - target).sum(axis=1)
    assert brier_loss(sets, container(p)) == pytest.approx(expected.mean())
    weight = [1.0, 2.0, 0.0, 4.0]
    loss = brier_loss(container(sets), container(p), sample_weight=weight)
    assert loss == pytest.approx(np.average(expected, weights=weight))
    assert mean_support_size(container(p)) == 1.5
    with pytest.raises(
        ValueError, match=r"only those of label sets .* Row 1 has sum 0,"
    ):
        brier_loss([0, 1, 1, 0], container(p))
    with pytest.raises(ValueError, match="that sum to at most one; row 1"):
        brier_loss(sets[:2], container([[0.5, 0.5], [0.9, 0.2]]))
    model = SparsemaxClassifier().fit(X, Y)
    whole = np.append(
        model.predict_proba(X), 1 - model.predict_proba(X).sum(axis=1)[:, None], axis=1
    )
    target = np.append(Y, EMPTY[:, None], axis=1)
    expected = -np.square(whole - target).sum(axis=1).mean()
    assert BrierScorer()(model, X, Y) == pytest.approx(expected)
