"""Cuts of probabilities against trying all of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import f1_score

from skprob.decision import (
    CommonCut,
    ExampleF1,
    LabelCuts,
    StackedLabels,
)

from .related_sets import (
    fewer,
    micro_f1,
    polytopes,
    related_sets,
    seeds,
)


@fewer
@given(seeds, polytopes, st.booleans())
def test_the_common_cut_is_the_best_of_all(seed, polytope, weighted):
    _, p, labels = related_sets(seed, polytope=polytope)
    weight = np.random.default_rng(seed).integers(1, 4, 80) if weighted else np.ones(80)
    rule = CommonCut().fit(p, labels, sample_weight=weight, polytope=polytope)
    best = max(micro_f1(labels, p > cut, weight) for cut in [0, *p.ravel()])
    assert_allclose(micro_f1(labels, p > rule.cut_, weight), best)


@settings(max_examples=settings().max_examples // 8)  # 4,225 pairs of cuts each
@given(seeds, polytopes)
def test_cuts_are_the_best_of_their_grid(seed, polytope):
    """Micro-F1 by trying all pairs of cuts of two labels, macro-F1 label by label."""
    _, p, labels = related_sets(seed, n_labels=2, polytope=polytope)
    common = CommonCut().fit(p, labels, polytope=polytope).cut_
    grid = common * 2.0 ** (np.arange(-32, 33) / 8)
    cuts = {
        average: LabelCuts(average, shrinkage=0).fit(p, labels, polytope=polytope).cuts_
        for average in ("micro", "macro", "both")
    }
    best = max(micro_f1(labels, p > [a, b]) for a in grid for b in grid)
    assert_allclose(micro_f1(labels, p > cuts["micro"]), best, rtol=1e-7)
    for k in range(2):
        y, values = labels[:, [k]], p[:, [k]]
        best = max(micro_f1(y, values > cut) if y.any() else 0 for cut in grid)
        score = micro_f1(y, values > cuts["macro"][k]) if y.any() else 0
        assert_allclose(score, best, rtol=1e-7)
    upper = np.maximum(cuts["macro"], common)
    assert_allclose(cuts["both"], np.minimum(cuts["micro"], upper))


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_labels_that_are_not_known_are_left_out(container):
    """The cut has the highest micro-F1 of the entries that are known."""
    rng = np.random.default_rng(0)
    p = np.round(rng.random((60, 4)), 2)
    labels = (rng.random(p.shape) < p).astype(float)
    # With zeros for the others the cut is another.
    known = rng.random(p.shape) < np.where(p > 0.6, 0.3, 0.9)
    partial = container(np.where(known, labels, np.nan))
    cut = CommonCut().fit(p, partial, polytope="cube").cut_

    def f1_of(cut, known):
        return f1_score(labels[known], (p > cut)[known])

    best = max(f1_of(c, known) for c in np.unique(p))
    assert f1_of(cut, known) == best
    as_absent = CommonCut().fit(p, labels * known, polytope="cube")
    assert f1_of(as_absent.cut_, known) < best
    for rule in LabelCuts(), StackedLabels(), ExampleF1():
        sets = clone(rule).fit(p, partial, polytope="cube").predict(p)
        assert f1_score(labels, sets, average="micro") > best - 0.1
    with pytest.raises(ValueError, match="labels must be 0 or 1 for shares"):
        CommonCut().fit(p, partial)


def test_cuts_are_shrunk_by_the_number_of_positives():
    _, p, labels = related_sets(0, n_samples=400)
    unshrunk = LabelCuts("macro", shrinkage=0).fit(p, labels)
    n, common = labels.sum(axis=0), unshrunk.common_cut_
    for shrinkage in (50, 300.0):
        rule = LabelCuts("macro", shrinkage=shrinkage).fit(p, labels)
        expected = common * (unshrunk.cuts_ / common) ** (n / (n + shrinkage))
        assert_allclose(rule.cuts_, expected)
    rule = LabelCuts(shrinkage=np.inf).fit(p, labels)
    assert_array_equal(rule.cuts_, np.full(5, common))


def test_the_shrinkage_is_chosen_by_folds():
    rng = np.random.default_rng(0)
    # The same cut is right for all labels, so that cuts of their own only over-fit.
    p = rng.random((300, 30))
    labels = (rng.random(p.shape) < p**2).astype(int)
    assert LabelCuts("micro").fit(p, labels, polytope="cube").shrinkage_ == np.inf
    # Probabilities of each label that are too large by a factor of its own.
    scaled = p * rng.uniform(0.2, 1, 30)
    rule = LabelCuts("micro").fit(scaled, labels, polytope="cube")
    common = CommonCut().fit(scaled, labels, polytope="cube")
    assert rule.shrinkage_ <= 50
    new = rng.random((2000, 30))
    labels = (rng.random(new.shape) < new**2).astype(int)
    new *= (scaled / p)[0]
    assert (
        micro_f1(labels, rule.predict(new))
        > micro_f1(labels, common.predict(new)) + 0.02
    )


def test_the_shrinkage_of_macro_is_chosen_by_macro_f1():
    """Rare labels whose right cuts raise macro-F1 and lower micro-F1."""
    rng = np.random.default_rng(0)

    def rows(n_samples):
        p = rng.random((n_samples, 8)) * np.r_[1, 1, 1, np.full(5, 0.2)]
        return p, (rng.random(p.shape) < p).astype(int)

    (p, labels), (new, true) = rows(1000), rows(4000)
    rule = LabelCuts("macro").fit(p, labels, polytope="cube")
    common = CommonCut().fit(p, labels, polytope="cube")
    f1, f1_of_common_cut = (
        f1_score(true, each.predict(new), average="macro") for each in (rule, common)
    )
    assert f1 > f1_of_common_cut + 0.1
    assert micro_f1(true, rule.predict(new)) < micro_f1(true, common.predict(new))
    # Labels for which the common cut is right have this cut.
    p = rng.random((300, 30))
    labels = (rng.random(p.shape) < p**2).astype(int)
    assert LabelCuts("macro").fit(p, labels, polytope="cube").shrinkage_ == np.inf


def test_an_empty_row_gets_the_label_that_is_nearest_to_its_cut():
    _, p, labels = related_sets(1, n_samples=300)
    rule = LabelCuts(shrinkage=20).fit(p, labels)
    rule.cuts_ = np.array([0.5, 0.1, 0.9, 0.9, 0.9])
    assert_array_equal(rule.predict([[0.3, 0.09, 0.2, 0.2, 0.2]]), [[0, 1, 0, 0, 0]])


def test_marginals_find_labels_of_large_sets():
    """Half of the rows have one label of three, the others four labels of eight."""
    rng = np.random.default_rng(0)
    large = np.arange(1000) % 2 == 0
    X = large[:, None] + 0.1 * rng.normal(size=(1000, 1))
    p = np.where(large[:, None], np.repeat([0.2, 0.05], 4), [0.5, 0.3, 0.2, *[0] * 5])
    one = np.eye(8, dtype=int)[rng.choice(3, 1000, p=[0.5, 0.3, 0.2])]
    four = np.repeat([1, 0], 4)
    labels = np.where(large[:, None], four, one)
    share, marginal = (CommonCut(scale) for scale in ("probability", "marginal"))
    auto = CommonCut("auto").fit(p, labels, X=X)
    f1_of_share, f1_of_marginal = (
        micro_f1(labels, rule.fit(p, labels, X=X).predict(p, X))
        for rule in (share, marginal)
    )
    assert f1_of_marginal > f1_of_share + 0.02
    assert (share.scale_, auto.scale_) == ("probability", "marginal")
    assert_array_equal(auto.predict(p, X), marginal.predict(p, X))
    # Without features there are no expected sizes.
    assert CommonCut("auto").fit(p, labels).cut_ == share.cut_
    # Probabilities that are marginals already do not change.
    cube = CommonCut("marginal").fit(p, labels, X=X, polytope="cube")
    assert cube.cut_ == share.cut_
    assert cube.expected_size_ is None
