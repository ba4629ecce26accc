"""The decision rules, by independent references and over the registry."""

import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.metrics import f1_score
from sklearn.model_selection import cross_val_predict
from sklearn.multiclass import OneVsRestClassifier

from skprob.decision import (
    RULES,
    CommonCut,
    ExampleF1,
    ExpectedSize,
    LabelCuts,
    MetaLabeler,
    StackedLabels,
    get_rule,
)
from skprob.decision import _blocks as blocks_module


def related_sets(seed, *, n_samples=80, n_labels=5, polytope="simplex", empty=False):
    """Features, probabilities that are related to sets, and the sets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 3))
    scores = 2 * X @ rng.normal(size=(3, n_labels)) - 0.5
    labels = (scores + rng.logistic(size=scores.shape) > 0).astype(int)
    if not empty:
        labels[~labels.any(axis=1), 0] = 1
    p = softmax(scores, axis=1) if polytope == "simplex" else 1 / (1 + np.exp(-scores))
    return X, p, labels


def with_zeros_stored(array):
    n_rows, n_columns = array.shape
    indices, indptr = (
        np.tile(np.arange(n_columns), n_rows),
        n_columns * np.arange(n_rows + 1),
    )
    return sparse.csr_array((array.ravel(), indices, indptr), shape=array.shape)


def micro_f1(labels, sets, weight=None):
    weight = np.ones(len(sets)) if weight is None else weight
    hits, total = weight @ (labels * sets), weight @ (labels + sets)
    return 2 * hits.sum() / total.sum()


# Each example fits a rule or more, and a rule has few routes.
fewer = settings(max_examples=settings().max_examples // 3)
seeds = st.integers(0, 10**6)
polytopes = st.sampled_from(["simplex", "cube"])
rules = st.sampled_from(sorted(RULES))


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
    gaps = container(np.where(known, labels, np.nan))
    cut = CommonCut().fit(p, gaps, polytope="cube").cut_

    def f1_of(cut, known):
        return f1_score(labels[known], (p > cut)[known])

    best = max(f1_of(c, known) for c in np.unique(p))
    assert f1_of(cut, known) == best
    as_absent = CommonCut().fit(p, labels * known, polytope="cube")
    assert f1_of(as_absent.cut_, known) < best
    for rule in LabelCuts(), StackedLabels(), ExampleF1():
        sets = clone(rule).fit(p, gaps, polytope="cube").predict(p)
        assert f1_score(labels, sets, average="micro") > best - 0.1
    with pytest.raises(ValueError, match="labels must be 0 or 1 for shares"):
        CommonCut().fit(p, gaps)


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


def test_a_name_stands_for_stacked_cuts():
    _, p, labels = related_sets(0, n_samples=300)
    for name in ("micro", "macro"):
        rule = get_rule(name)
        assert repr(rule) == f"StackedLabels(rule=LabelCuts(average={name!r}))"
        expected = StackedLabels(LabelCuts(name)).fit(p, labels).predict(p)
        assert_array_equal(rule.fit(p, labels).predict(p), expected)


def test_an_empty_row_gets_the_label_that_is_nearest_to_its_cut():
    _, p, labels = related_sets(1, n_samples=300)
    rule = LabelCuts(shrinkage=20).fit(p, labels)
    rule.cuts_ = np.array([0.5, 0.1, 0.9, 0.9, 0.9])
    assert_array_equal(rule.predict([[0.3, 0.09, 0.2, 0.2, 0.2]]), [[0, 1, 0, 0, 0]])


@fewer
@given(seeds, st.integers(1, 6), polytopes, st.booleans())
def test_example_f1_is_the_best_of_all_sets(seed, n_labels, polytope, empty):
    X, p, labels = related_sets(
        seed, n_samples=20, n_labels=n_labels, polytope=polytope, empty=empty
    )
    labels[0] = 1
    rule = ExampleF1().fit(p, labels, X=X, polytope=polytope)
    m = p.sum(axis=1) if polytope == "cube" else rule.expected_size_(X)
    sets = [c for k in range(n_labels + 1) for c in combinations(range(n_labels), k)]
    for row, size, chosen in zip(p, m, rule.predict(p, X), strict=True):
        q = row if polytope == "cube" else row * size

        def value(labels, q=q, size=size):
            if not labels:
                return np.prod(np.maximum(1 - q, 0)) if rule.may_be_empty_ else -1
            return 2 * sum(q[k] for k in labels) / (size + len(labels))

        value_of_set = value(tuple(np.flatnonzero(chosen)))
        assert_allclose(value_of_set, max(map(value, sets)), rtol=1e-12)


def test_shares_may_leave_room_for_no_label():
    X, p, labels = related_sets(2, n_labels=4, empty=True)
    p *= np.random.default_rng(2).uniform(0.1, 1, size=(80, 1))
    rule = ExampleF1().fit(p, labels, X=X)
    assert rule.has_none_ and rule.may_be_empty_
    sets, sizes = rule.predict(p, X), rule.expected_size_(X)
    subsets = [c for k in range(1, 5) for c in combinations(range(4), k)]
    for row, size, chosen in zip(p, sizes, sets, strict=True):
        # Rows with a label have `size` labels on average.
        q = row * size
        f1 = {s: 2 * sum(q[k] for k in s) / (sum(q) + len(s)) for s in subsets}
        f1[()] = 1 - row.sum()
        assert f1[tuple(np.flatnonzero(chosen))] == pytest.approx(max(f1.values()))
    assert 0.1 < sets.any(axis=1).mean() < 0.9
    # Corrected marginals have no probability of no label.
    assert not StackedLabels(ExampleF1()).fit(p, labels, X=X).rule_.has_none_


def test_meta_labeler_takes_as_many_as_are_expected():
    X, p, labels = related_sets(3)
    rule = MetaLabeler().fit(p, labels, X=X)
    number = np.maximum(np.rint(rule.expected_size_(X)), 1)
    sets = rule.predict(p, X)
    assert_array_equal(sets.sum(axis=1), number)
    least = np.where(sets, p, 2).min(axis=1)
    assert (least >= np.where(sets, -1, p).max(axis=1)).all()


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


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_expected_sizes_are_those_of_ridge_regression(container, dtype):
    rng = np.random.default_rng(0)
    # Columns of a sparse matrix are not scaled.
    units = 10.0 ** np.arange(-2, 2, 0.5) if container is np.asarray else 1.0
    X = (units * rng.normal(size=(300, 8))).astype(dtype)
    scale = X.std(axis=0) if container is np.asarray else 1
    sizes = 3 + X @ (rng.normal(size=8) / X.std(axis=0)) + rng.normal(size=300)
    model = ExpectedSize(container(X), sizes, np.ones(300))
    Z = X.astype(float) / scale
    Z -= Z.mean(axis=0)
    unit = (Z**2).sum() / 8
    candidates = [
        RidgeCV([10.0**k * unit]).fit(Z, sizes).predict(Z) for k in range(-3, 3)
    ]
    predicted = model(container(X))
    clipped = np.clip(candidates, sizes.min(), sizes.max())
    tolerance = 1e-6 if dtype is np.float64 else 1e-4
    assert np.abs(clipped - predicted).max(axis=1).min() < tolerance
    assert np.corrcoef(model.out_of_fold, sizes)[0, 1] > 0.8


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_features", [8, 100])
def test_expected_sizes_of_features_far_from_zero(n_features, dtype, container):
    """Features whose mean is 100,000 times their deviation."""
    rng = np.random.default_rng(0)
    # Multiples of 1/64, so that the shifted features are exact in single precision.
    X = np.rint(64 * rng.normal(size=(600, n_features))) / 64
    signal = 2 * X @ rng.normal(size=n_features) / np.sqrt(n_features)
    sizes = np.rint(np.clip(4 + signal, 1, 9))
    near = ExpectedSize(container(X), sizes, np.ones(600))
    shifted = (X + 1e5).astype(dtype)
    assert (np.abs(shifted - 1e5 - X) == 0).all()
    far = ExpectedSize(container(shifted), sizes, np.ones(600))
    assert_allclose(far.out_of_fold, near.out_of_fold, atol=1e-3)
    assert_allclose(far(container(shifted)), near(container(X)), atol=1e-3)
    assert ((far.out_of_fold - sizes) ** 2).mean() < 0.1 * sizes.var()


def test_the_last_feature_may_have_no_entries():
    rng = np.random.default_rng(0)
    X = sparse.random_array((90, 5), density=0.5, rng=rng, dtype=np.float32)
    X = sparse.csr_array(sparse.hstack([X, sparse.csr_array((90, 1))]), dtype="f4")
    sizes = X.sum(axis=1) + rng.random(90)
    in_double = X.astype(float)
    expected = ExpectedSize(in_double, sizes, np.ones(90))(in_double)
    assert_allclose(ExpectedSize(X, sizes, np.ones(90))(X), expected, rtol=1e-6)


def test_useless_features_give_about_the_mean_size():
    rng = np.random.default_rng(0)
    for X in (np.ones((50, 2)), rng.normal(size=(50, 40))):
        sizes = rng.integers(1, 5, 50)
        model = ExpectedSize(X, sizes, np.ones(50))
        error = ((model.out_of_fold - sizes) ** 2).mean()
        assert error <= sizes.var() * 1.3
    assert_array_equal(ExpectedSize(X, np.full(50, 2), np.ones(50))(X), np.full(50, 2))


def test_rules_take_probabilities_of_other_classifiers():
    X, _, labels = related_sets(5, n_samples=300)
    model = OneVsRestClassifier(LogisticRegression())
    p = cross_val_predict(model, X, labels, method="predict_proba")
    for rule in RULES.values():
        sets = rule().fit(p, labels, polytope="cube").predict(p)
        assert f1_score(labels, sets, average="micro") > 0.7


def test_of_equal_marginals_the_first_are_chosen():
    """More labels than a sort that is not stable keeps in order by chance."""
    _, p, labels = related_sets(0, n_labels=60, polytope="cube")
    tied = np.random.default_rng(1).integers(1, 4, size=(20, 60)) / 10
    for rule in ExampleF1(), MetaLabeler():
        sets = rule.fit(p, labels, polytope="cube").predict(tied)
        for row, chosen in zip(tied, sets, strict=True):
            order = sorted(range(60), key=lambda k, row=row: (-row[k], k))
            first = order[: chosen.sum()]
            assert 1 < len(first) < 60
            assert set(np.flatnonzero(chosen)) == set(first)


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
