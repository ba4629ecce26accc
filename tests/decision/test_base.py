"""Properties of all registered decision rules."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import cross_val_predict
from sklearn.multiclass import OneVsRestClassifier

from skprob.decision import (
    RULES,
    CommonCut,
    ExampleF1,
    LabelCuts,
    MetaLabeler,
    StackedLabels,
    get_rule,
)
from skprob.decision import _blocks as blocks_module

from .related_sets import (
    fewer,
    polytopes,
    related_sets,
    rules,
    seeds,
    with_zeros_stored,
)


@fewer
@given(rules, seeds, polytopes, st.booleans(), st.integers(1, 7))
def test_any_rule_gives_sets_that_are_empty_only_where_training_rows_are(
    name, seed, polytope, empty, n_labels
):
    X, p, labels = related_sets(seed, n_labels=n_labels, polytope=polytope, empty=empty)
    labels[0, 0] = 1
    rule = get_rule(name).fit(p, labels, X=X, polytope=polytope)
    sets = rule.predict(p, X)
    assert sets.shape == labels.shape
    assert sets.dtype == np.int64
    assert set(np.unique(sets)) <= {0, 1}
    assert rule.may_be_empty_ == (~labels.any(axis=1)).any()
    if not rule.may_be_empty_:
        assert sets.any(axis=1).all()
        # Also where nothing is likely.
        assert rule.predict(np.full_like(p, 1e-9), X).any(axis=1).all()


@fewer
@given(rules, seeds, polytopes)
def test_sparse_probabilities_blocks_and_weights_make_no_difference(
    name, seed, polytope
):
    X, p, labels = related_sets(seed, polytope=polytope)
    p = np.where(p < 0.05, 0, p)
    rule = get_rule(name).fit(p, labels, X=X, polytope=polytope)
    expected = rule.predict(p, X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks_module, "_BLOCK", 35)
        in_blocks = clone(rule).fit(
            sparse.csr_array(p),
            sparse.csc_matrix(with_zeros_stored(labels)),
            # Their sum overflows.
            sample_weight=np.full(80, 1e308),
            X=sparse.csr_array(X) if name in ("common_cut", "label_cuts") else X,
            polytope=polytope,
        )
        sets = in_blocks.predict(sparse.csr_array(p), X)
    assert isinstance(sets, sparse.csr_array)
    assert_array_equal(sets.toarray(), expected)
    assert_array_equal(rule.predict(p.tolist(), X.tolist()), expected)
    if not rule.uses_features:
        for no_rows in (p[:0], sparse.csr_array(p[:0])):
            assert rule.predict(no_rows).shape == (0, 5)


@fewer
@given(rules, seeds)
def test_rows_of_weight_zero_are_left_out(name, seed):
    X, p, labels = related_sets(seed)
    weight = np.tile([1.0, 0.0], 40)
    wrong = np.where(weight[:, None] > 0, labels, 0)
    half = get_rule(name).fit(p[::2], labels[::2], X=X[::2])
    rule = get_rule(name).fit(p, wrong, sample_weight=weight, X=X)
    assert_array_equal(rule.predict(p, X), half.predict(p, X))


@fewer
@given(rules, seeds, polytopes)
def test_copies_predict_the_same(name, seed, polytope):
    X, p, labels = related_sets(seed, polytope=polytope)
    rule = get_rule(name).fit(p, labels, X=X, polytope=polytope)
    loaded = pickle.loads(pickle.dumps(rule))
    assert_array_equal(loaded.predict(p, X), rule.predict(p, X))
    fresh = clone(rule)
    assert repr(fresh.get_params()) == repr(rule.get_params())
    assert not hasattr(fresh, "n_labels_")
    # A second fit keeps nothing of the first.
    fresh.fit(1 - p, labels, X=X, polytope="cube")
    fresh.fit(p, labels, X=X, polytope=polytope)
    assert_array_equal(fresh.predict(p, X), rule.predict(p, X))


def test_rules_take_probabilities_of_other_classifiers():
    X, _, labels = related_sets(5, n_samples=300)
    model = OneVsRestClassifier(LogisticRegression())
    p = cross_val_predict(model, X, labels, method="predict_proba")
    for rule in RULES.values():
        sets = rule().fit(p, labels, polytope="cube").predict(p)
        assert f1_score(labels, sets, average="micro") > 0.7


def test_labels_of_the_caller_are_not_changed():
    _, p, labels = related_sets(0)
    stored = with_zeros_stored(labels)
    CommonCut().fit(p, stored)
    assert stored.nnz == labels.size


@pytest.mark.parametrize("name", RULES)
def test_errors_name_the_argument(name):
    X, p, labels = related_sets(0)
    rule = get_rule(name)
    for predict in rule.predict, lambda p, rule=rule: rule.predict_blocks([p]):
        with pytest.raises(NotFittedError):
            predict(p)
    # The text "0" is no number.
    texts = labels.astype(str)
    for args, message in [
        ((p, texts), "labels must be real numbers"),
        (([0.1, 0.2], [[1, 0]]), "probabilities must have shape"),
        ((-p, labels), "probabilities must be finite and not negative; got values"),
        ((np.where(p > 0.9, np.nan, p), labels), "probabilities must be finite"),
        ((p, labels[:, :3]), r"labels must be .* shape \(80, 5\); got shape \(80, 3\)"),
        ((p, labels[:, 0]), r"labels must be a 0/1 indicator .* \(80,\)"),
        ((p, 2 * labels), "labels must be 0 or 1; got 2"),
        ((p, 0 * labels), "labels must have a label in at least one row"),
        ((p, labels, -np.ones(80)), "sample_weight must be"),
        ((p, labels, None, X[:5]), "X must have a row for each of the 80 rows.*got 5"),
    ]:
        with pytest.raises(ValueError, match=f"(?s){message}"):
            rule.fit(*args)
    with pytest.raises(ValueError, match=r"polytope must be one of .*; got 'ball'"):
        rule.fit(p, labels, polytope="ball")
    rule.fit(p, labels, X=X)
    with pytest.raises(ValueError, match=r"probabilities must have 5 columns.*got 3"):
        rule.predict(p[:, :3], X)
    if rule.uses_features:
        with pytest.raises(ValueError, match="X must be given"):
            rule.predict(p)
        with pytest.raises(ValueError, match=r"X must have 3 features.*got 2"):
            rule.predict(p, X[:, :2])


@pytest.mark.parametrize(
    "rule",
    [ExampleF1(), MetaLabeler(), CommonCut("marginal"), LabelCuts(scale="marginal")],
)
def test_rules_of_marginals_need_features(rule):
    _, p, labels = related_sets(0)
    with pytest.raises(ValueError, match="X must be given"):
        rule.fit(p, labels)


def test_bad_parameters_are_refused():
    _, p, labels = related_sets(0)
    for rule, name in [
        (LabelCuts("samples"), "average"),
        (LabelCuts(shrinkage=-1), "shrinkage"),
        (CommonCut("share"), "scale"),
        (StackedLabels("label_cuts"), "rule"),
        (StackedLabels(LabelCuts("samples")), "average"),
    ]:
        with pytest.raises(ValueError, match=f"'{name}' parameter"):
            rule.fit(p, labels)
    with pytest.raises(ValueError, match=r"'skprob.decision.DecisionRule'"):
        StackedLabels("label_cuts").fit(p, labels)
    with pytest.raises(ValueError, match=r"rule must be .* one of the names .*'best'"):
        get_rule("best")
