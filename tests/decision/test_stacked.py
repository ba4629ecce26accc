"""Stacked rules against scikit-learn's ridge regression."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import Ridge

from skprob.decision import (
    CommonCut,
    LabelCuts,
    Sample,
    StackedLabels,
    TopK,
    get_rule,
)

from .related_sets import (
    micro_f1,
    related_sets,
)


def exclusive_labels(seed, n_samples=400):
    """Marginals computed for each label alone, and sets of one label each."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n_samples, 3))
    labels = np.eye(3, dtype=int)[(scores + rng.gumbel(size=scores.shape)).argmax(1)]
    return 1 / (1 + np.exp(-scores)), labels


@pytest.mark.parametrize("polytope", ["simplex", "cube"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_correction_is_that_of_ridge_regression(polytope, weighted):
    p, labels = exclusive_labels(0, n_samples=101)
    weight = np.random.default_rng(1).uniform(0.5, 2, 101) if weighted else np.ones(101)
    rule = StackedLabels(CommonCut()).fit(p, labels, weight, polytope=polytope)
    factor = weight @ labels.sum(1) / (weight @ p.sum(1)) if polytope != "cube" else 1
    error = labels - factor * p
    fold = np.arange(101) % 5

    def regression(rows, penalty):
        w = weight[rows]
        variance = np.cov(p[rows].T, aweights=w, ddof=0)
        alpha = penalty * w.sum() * np.trace(variance) / 3
        return Ridge(alpha).fit(p[rows], error[rows], sample_weight=w)

    squared = {np.inf: weight @ error**2}
    corrected = {np.inf: factor * p}
    for penalty in 10.0 ** np.arange(2, -3, -0.5):
        predicted = np.empty(p.shape)
        for i in range(5):
            model = regression(fold != i, penalty)
            predicted[fold == i] = model.predict(p[fold == i])
        squared[penalty] = weight @ (error - predicted) ** 2
        corrected[penalty] = np.maximum(factor * p + predicted, 1e-3 * factor * p)
    best = min(squared, key=lambda penalty: squared[penalty].sum())
    assert 0 < best < np.inf
    assert rule.penalty_ == pytest.approx(best)
    model = regression(slice(None), best)
    assert_allclose(rule.coef_, factor * np.eye(3) + model.coef_.T, atol=1e-10)
    assert_allclose(rule.intercept_, model.intercept_, atol=1e-10)
    # The cut is of estimates that are out of fold, the sets are of all rows' fit.
    cut = CommonCut().fit(corrected[best], labels, weight, polytope="cube").cut_
    assert rule.rule_.cut_ == pytest.approx(cut)
    q = np.maximum(factor * p + model.predict(p), 1e-3 * factor * p)
    expected = q > cut
    empty = ~expected.any(axis=1)
    expected[empty, q[empty].argmax(axis=1)] = True
    assert_array_equal(rule.predict(p), expected)


def test_stacking_separates_labels_that_exclude_each_other():
    (p, labels), (new, truth) = exclusive_labels(2), exclusive_labels(3)
    alone, stacked = (
        rule.fit(p, labels, polytope="cube").predict(new)
        for rule in (LabelCuts("micro"), StackedLabels(LabelCuts("micro")))
    )
    assert micro_f1(truth, stacked) > micro_f1(truth, alone) + 0.03


@pytest.mark.parametrize("constant", [True, False])
def test_independent_labels_are_not_corrected(constant):
    rng = np.random.default_rng(4)
    p = np.full((60, 20), 0.3) if constant else rng.uniform(size=(60, 20))
    labels = (rng.uniform(size=p.shape) < p).astype(int)
    labels[~labels.any(axis=1), 0] = 1
    stacked = StackedLabels(LabelCuts("micro")).fit(p, labels, polytope="cube")
    alone = LabelCuts("micro").fit(p, labels, polytope="cube")
    assert stacked.penalty_ == np.inf
    assert_array_equal(stacked.predict(p), alone.predict(p))


@pytest.mark.parametrize("n_samples", [1, 2, 3, 7])
def test_few_rows_can_be_stacked(n_samples):
    p, labels = exclusive_labels(5, n_samples=n_samples)
    rule = StackedLabels().fit(p, labels)
    assert np.isfinite(rule.coef_).all()
    assert rule.predict(p).any(axis=1).all()


def test_a_name_stands_for_stacked_cuts():
    _, p, labels = related_sets(0, n_samples=300)
    for name in ("micro", "macro"):
        rule = get_rule(name)
        assert repr(rule) == f"StackedLabels(rule=LabelCuts(average={name!r}))"
        expected = StackedLabels(LabelCuts(name)).fit(p, labels).predict(p)
        assert_array_equal(rule.fit(p, labels).predict(p), expected)


def test_weights_that_are_rounded_to_zero_beside_one():
    """Nothing is learnt from the other rows, and no mean of them is undefined."""
    p, labels = exclusive_labels(0, n_samples=7)
    weight = np.r_[1e300, np.full(6, 1e-300)]
    rule = StackedLabels().fit(p, labels, weight, polytope="cube")
    assert rule.penalty_ == np.inf
    assert_array_equal(rule.coef_, np.eye(3))


@pytest.mark.parametrize("has_unknown", [False, True])
def test_any_cut_into_blocks_gives_the_same_rule(has_unknown):
    """Blocks that begin in the middle of the five folds' turns."""
    p, labels = exclusive_labels(0, n_samples=103)
    known = None
    if has_unknown:
        known = np.random.default_rng(1).random(p.shape) < 0.7
        labels = labels * known
    sample = Sample(
        [p],
        sparse.csr_array(labels),
        weight=np.random.default_rng(2).uniform(1, 2, 103),
        sizes=None,
        polytope="cube",
        may_be_empty=True,
        has_none=False,
        known=known,
    )
    whole = StackedLabels().fit_sample(sample)
    assert whole.penalty_ < np.inf
    blocks = np.split(p, [3, 10, 11, 58])
    parts = StackedLabels().fit_sample(sample._replace(blocks=blocks))
    assert parts.penalty_ == whole.penalty_
    assert_allclose(parts.coef_, whole.coef_, rtol=1e-10)
    assert_allclose(parts.intercept_, whole.intercept_, rtol=1e-10)
    # The cuts are chosen with estimates of the folds.
    assert_allclose(parts.rule_.cuts_, whole.rule_.cuts_, rtol=1e-10)


def test_known_errors_count_for_those_that_are_not_known():
    """With 60 % of a label's entries the correction is about that of all entries."""
    p, labels = exclusive_labels(0, n_samples=20_000)
    whole = StackedLabels().fit(p, labels, polytope="cube")
    part = labels.astype(float)
    part[np.random.default_rng(1).random(len(p)) < 0.4, 1] = np.nan
    rule = StackedLabels().fit(p, part, polytope="cube")
    correction = whole.coef_[:, 1] - np.eye(3)[1]
    assert np.linalg.norm(correction) > 0.2
    difference = np.linalg.norm(rule.coef_[:, 1] - whole.coef_[:, 1])
    assert difference < 0.1 * np.linalg.norm(correction)


def test_estimates_below_zero_keep_the_order_of_the_probabilities():
    p, labels = exclusive_labels(0)
    rule = StackedLabels(TopK(1)).fit(p, labels, polytope="cube")
    rule.coef_, rule.intercept_ = np.zeros((3, 3)), -np.ones(3)
    assert_array_equal(rule.predict(p), TopK(1).predict(p))


def test_numbers_whose_products_overflow_are_refused():
    p, labels = exclusive_labels(0)
    with pytest.raises(ValueError, match="probabilities must not exceed"):
        StackedLabels().fit(p * 1e300, labels)
