"""C="loo" compared with leave-one-out by one fit for each row."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import scale

from skprob import (
    EntmaxClassifier,
    LinearClassifier,
    PerturbMaxClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
    TaylorSoftmaxClassifier,
)
from skprob.linear_model.fit import _automatic_C, _chosen_C

from ..data_sets import distributions, label_sets, labels


@pytest.fixture(autouse=True)
def values_of_C_do_not_depend_on_X(monkeypatch):
    """Tests name values by their numbers."""
    monkeypatch.setattr(_automatic_C, "_ENOUGH_VARIANCE", 0.0)


def iris():
    X, y = load_iris(return_X_y=True)
    return scale(X)[::5], y[::5]


def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X)[::5], y[::5]


def losses(p, target, has_zeros):
    """Brier scores, or log losses, of rows; of marginals the mean over the labels."""
    if has_zeros:
        return ((p - target) ** 2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return -np.where(target > 0, target * np.log(p), 0).sum(axis=1)


def true_score(model, C, X, y, target, weight=None, offset=None):
    """Score of the probabilities of each row by a model that is fitted without it."""
    model = clone(model).set_params(C=C, tol=1e-4, max_iter=10**4)
    p = np.empty(target.shape)
    for i in range(len(X)):
        others = np.arange(len(X)) != i
        weights = None if weight is None else weight[others]
        given = [{}, {}]
        if offset is not None:
            given = [{"offset": offset[others]}, {"offset": offset[[i]]}]
        model.fit(X[others], y[others], weights, **given[0])
        p[i] = model.predict_proba(X[[i]], **given[1])[0]
    return p, np.average(
        losses(p, target, model.mapping_.traits.has_zeros), weights=weight
    )


@pytest.mark.parametrize(("data", "alpha"), [(labels, 1.0), (wine, 1.5)])
def test_labels(data, alpha):
    """The same C or a neighbour of it; equal scores where the penalty is not weak."""
    X, y = data()
    X, y = X[:30], y[:30]
    model = EntmaxClassifier(alpha, C="loo").fit(X, y)
    number = int(np.nanargmax(model.loo_scores_))
    assert model.C_ == model.Cs_[number]
    assert_allclose(model.Cs_, 3 ** (1 - alpha) * np.logspace(-4, 4, 10))
    near = model.Cs_[number - 2 : number + 3]
    expected = [-true_score(model, C, X, y, np.eye(3)[y])[1] for C in near]
    assert abs(np.argmax(expected) - 2) <= 1
    first = max(np.flatnonzero(np.isfinite(model.loo_scores_))[0], number - 2)
    known = model.loo_scores_[first:number]
    assert len(known)
    assert_allclose(known, expected[2 - len(known) : 2], rtol=0.1)


@pytest.mark.parametrize(
    ("case", "alpha"),
    [
        ("weights", 1.0),
        ("weights", 2.0),
        ("shares", 2.0),
        ("label sets", 1.0),
        ("offsets", 2.0),
        ("two", 1.0),
    ],
)
def test_targets_weights_and_offsets(case, alpha, monkeypatch):
    # The first score of labels is that of the fourth value, too.
    monkeypatch.setattr(_chosen_C, "_FIRST_OF_LABELS", 3)
    rng, weight, offset = np.random.default_rng(0), None, None
    model = EntmaxClassifier(alpha, C="loo", none_class=False)
    if case == "shares":
        X, y = distributions()
    elif case == "label sets":
        X, y = label_sets()
        model.set_params(threshold="support")
    else:
        X, y = labels(2 if case == "two" else 3)
    X, y = X[:25], y[:25]
    target = np.eye(y.max() + 1)[y] if y.ndim == 1 else y / y.sum(axis=1, keepdims=True)
    if case == "weights":
        weight = rng.uniform(0.2, 3, len(X))
        weight[7] = 0
    if case == "offsets":
        offset = rng.normal(size=target.shape)
    given = {} if offset is None else {"offset": offset}
    model.fit(X, y, weight, **given)
    expected = true_score(model, model.Cs_[3], X, y, target, weight, offset)[1]
    assert_allclose(model.loo_scores_[3], -expected, rtol=0.02)


def test_marginals():
    """The mean over labels of their log losses, or of their squared errors."""
    X, Y = label_sets()
    X, Y = X[:25], Y[:25]
    model = SigmoidClassifier(C="loo", threshold=0.5).fit(X, Y)
    p, _ = true_score(model, model.Cs_[3], X, Y, Y)
    expected = -np.where(Y == 1, np.log(p), np.log1p(-p)).mean()
    assert_allclose(-model.loo_scores_[3], expected, rtol=0.01)
    with_zeros = SigmoidClassifier(1.5, C="loo", threshold=0.5).fit(X, Y)
    _, brier = true_score(with_zeros, with_zeros.Cs_[3], X, Y, Y)
    assert_allclose(-with_zeros.loo_scores_[3], brier / 4, rtol=0.01)


@pytest.mark.parametrize("alpha", [1.0, 2.0])
def test_one_against_the_rest(alpha):
    """The losses of shares; those of marginals differ by 0.7 % or more."""
    X, y = labels()
    X, y = X[:25], y[:25]
    model = SigmoidClassifier(alpha, C="loo").fit(X, y)
    expected = true_score(model, model.Cs_[4], X, y, np.eye(3)[y])[1]
    assert_allclose(-model.loo_scores_[4], expected, rtol=0.003)


def test_the_model_is_that_of_the_number():
    X, y = iris()
    for model in (EntmaxClassifier(C="loo", tol=1e-6), SoftmaxClassifier(C="loo")):
        model.fit(X, y)
        same = clone(model).set_params(C=model.C_).fit(X, y)
        assert_allclose(model.coef_, same.coef_, rtol=1e-2, atol=1e-3)
        assert not hasattr(same, "loo_scores_")
        assert not hasattr(same, "Cs_")


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_the_fit_is_more_accurate_than_the_path(load):
    """At the path's tolerance objectives are up to 4e-5 above their minimum."""
    X, y = load(return_X_y=True)
    for alpha in (1.0, 1.5, 2.0):
        model = EntmaxClassifier(alpha, C="loo").fit(scale(X), y)
        exact = EntmaxClassifier(alpha, C=model.C_, tol=1e-9).fit(scale(X), y)
        assert_allclose(model.objective_, exact.objective_, rtol=1e-6)


@pytest.mark.parametrize("alpha", [1.0, 1.5])
def test_kinds_of_X(alpha, tmp_path):
    X, y = iris()
    model = EntmaxClassifier(alpha, C="loo")
    scores = clone(model).fit(X, y).loo_scores_
    np.save(tmp_path / "X.npy", X)
    for other in (sparse.csr_array(X), np.load(tmp_path / "X.npy", mmap_mode="r")):
        assert_allclose(model.fit(other, y).loo_scores_, scores, rtol=1e-4)
    single = model.fit(X.astype(np.float32), y)
    assert single.coef_.dtype == np.float32
    assert_allclose(single.loo_scores_[4:7], scores[4:7], rtol=1e-2)


@pytest.mark.parametrize("kind", ["class", "label sets", "wide"])
def test_many_parameters_by_folds(kind, monkeypatch):
    """The scores are those of models that are fitted without a fold."""
    from skprob.objective.left_out import _leave_one_out

    monkeypatch.setattr(_leave_one_out, "_LARGEST_COST", 0)
    monkeypatch.setattr(_chosen_C, "_TOL_OF_FOLDS", 1e-9)
    X, y = load_wine(return_X_y=True)
    X, model = scale(X), EntmaxClassifier(1.5, C="loo")
    if kind == "label sets":
        X, y = label_sets()
        model = SigmoidClassifier(1.5, C="loo", threshold=0.5)
    if kind == "wide":
        X, y = np.hstack([X, X**2, X**3])[::6], y[::6]
    weight, folds = np.linspace(0.5, 2, len(X)), []

    def watched(raw, mapping, rows, some):
        folds.append(some)
        return left_out_score(raw, mapping, rows, some)

    left_out_score = _chosen_C.left_out_score
    monkeypatch.setattr(_chosen_C, "left_out_score", watched)
    model.fit(X, y, weight)
    assert_array_equal(np.sort(folds[0]), np.arange(len(X)))
    target = np.eye(3)[y] if y.ndim == 1 else y
    p, at_C = np.empty(target.shape), clone(model).set_params(C=model.C_, tol=1e-9)
    for fold in np.array_split(folds[0], _fold_ends(len(X))):
        others = np.delete(np.arange(len(X)), fold)
        at_C.fit(X[others], y[others], weight[others])
        p[fold] = at_C.predict_proba(X[fold])
    losses = ((p - target) ** 2).sum(axis=1) / (1 if y.ndim == 1 else 4)
    expected = -np.average(losses, weights=weight)
    assert_allclose(np.nanmax(model.loo_scores_), expected, rtol=1e-4)


def _fold_ends(n_rows):
    """Ends of the first four folds, whose rows follow one another."""
    return np.cumsum([len(range(k, n_rows, 5)) for k in range(4)])


def test_one_fold_of_many_rows(monkeypatch):
    """Only folds with as many rows as are left out one by one."""
    from skprob.objective.left_out import _leave_one_out

    monkeypatch.setattr(_leave_one_out, "_LARGEST_COST", 0)
    monkeypatch.setattr(_chosen_C, "_ROWS", 20)
    numbers = []

    def watched(raw, mapping, rows, some):
        numbers.append(some)
        return -1.0

    monkeypatch.setattr(_chosen_C, "left_out_score", watched)
    SoftmaxClassifier(C="loo").fit(*load_iris(return_X_y=True))
    assert len(numbers[0]) == 30
    assert all((some == numbers[0]).all() for some in numbers)


def test_label_smoothing_margins_and_class_weights_are_of_the_fit_alone():
    """The target of the score is the user's; the weights are those of the fit."""
    X, y = labels()
    X, y = X[:30], y[:30]
    model = EntmaxClassifier(
        2.0, C="loo", label_smoothing=0.1, margin=0.3, class_weight="balanced"
    ).fit(X, y)
    # Without a row "balanced" weights are other ones: those of all rows are kept.
    weight = (10 / np.bincount(y))[y]
    plain = clone(model).set_params(class_weight=None)
    expected = true_score(plain, model.Cs_[4], X, y, np.eye(3)[y], weight)[1]
    assert_allclose(-model.loo_scores_[4], expected, rtol=0.02)


def test_thresholds_and_warm_starts():
    X, Y = label_sets()
    model = EntmaxClassifier(C="loo", threshold="micro").fit(X, Y)
    same = clone(model).set_params(C=model.C_).fit(X, Y)
    assert_array_equal(model.predict(X), same.predict(X))
    chosen = model.C_
    assert model.set_threshold("micro", X, Y, cv=3).C_ == chosen
    warm = model.set_params(warm_start=True, threshold=0.2).fit(X, Y)
    assert warm.C_ == chosen
    assert warm.n_iter_ <= 2


def test_many_rows_are_scored_by_some_of_them(monkeypatch):
    """As many as count for enough: rows of little weight count for little."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 5))
    y = (X[:, :3] + rng.gumbel(size=(1000, 3))).argmax(axis=1)
    model, numbers = SparsemaxClassifier(C="loo"), []
    left_out_score = _chosen_C.left_out_score

    def watched(raw, mapping, rows, some):
        numbers.append(some)
        return left_out_score(raw, mapping, rows, some)

    monkeypatch.setattr(_chosen_C, "left_out_score", watched)
    whole = model.fit(X, y).loo_scores_
    assert_array_equal(numbers[0], np.arange(1000))
    numbers.clear()
    monkeypatch.setattr(_chosen_C, "_ROWS", 250)
    # Sorted rows: those that are drawn are no other than of any order.
    order = np.argsort(y)
    scores = model.fit(X[order], y[order]).loo_scores_
    assert all(len(some) == 250 for some in numbers)
    assert all((some == numbers[0]).all() for some in numbers)
    counts = np.bincount(y[order][numbers[0]]) / 250
    assert_allclose(counts, np.bincount(y) / 1000, atol=0.08)
    is_known = np.isfinite(scores) & np.isfinite(whole)
    assert is_known.sum() >= 2
    assert_allclose(scores[is_known], whole[is_known], rtol=0.1)
    # A quarter of the rows has nearly all weight.
    numbers.clear()
    model.fit(X, y, np.repeat([1.0, 1e-3], [250, 750]))
    assert len(numbers[0]) > 990


def test_weights_whose_squares_underflow_or_overflow():
    """The penalty of tiny weights leaves intercepts only: frequencies of the others."""
    X, y = load_iris(return_X_y=True)
    tiny = SoftmaxClassifier(C="loo").fit(X, y, np.full(150, 1e-200))
    assert_allclose(tiny.loo_scores_[4], np.log(49 / 149), rtol=1e-3)
    large = SoftmaxClassifier(C="loo").fit(X, y, np.full(150, 1e200))
    assert large.score(X, y) > 0.9
    assert np.isfinite(large.loo_scores_).sum() >= 2


@pytest.mark.parametrize(
    ("scores", "best"),
    [
        # Less than 0.1 % is left after the last rise, or another rise like that.
        ([-1.0, -0.5, -0.45, -0.446, 0.0], 7),
        ([-1.0, -0.5, -0.45, -0.44, -0.439, 0.0], 8),
        ([-1.0, -0.5, -0.51, 0.0], 5),
        ([-1.0, -1.1, -0.9, -0.85, -0.849, 0.0], 1),
    ],
)
def test_the_search_ends_where_no_rise_is_left(scores, best, monkeypatch):
    remaining = iter(scores)
    monkeypatch.setattr(_chosen_C, "left_out_score", lambda *_: next(remaining))
    model = SoftmaxClassifier(C="loo").fit(*iris())
    assert model.C_ == model.Cs_[best]
    assert list(remaining) == [0.0]


def test_penalty_factors():
    """A feature that is left out has no influence; a free one is not shrunk."""
    X, y = iris()
    out = SparsemaxClassifier(C="loo", penalty_factors=[1, 1, 1, np.inf]).fit(X, y)
    without = SparsemaxClassifier(C="loo").fit(X[:, :3], y)
    assert_allclose(out.loo_scores_, without.loo_scores_, rtol=1e-6)
    assert_array_equal(out.coef_[:, 3], 0)
    free = SparsemaxClassifier(C="loo", penalty_factors=[1, 1, 1, 0]).fit(X, y)
    best = int(np.nanargmax(free.loo_scores_))
    expected = true_score(free, free.Cs_[4], X, y, np.eye(3)[y])[1]
    assert_allclose(free.loo_scores_[4], -expected, rtol=0.05)
    assert free.C_ == free.Cs_[best]
    with pytest.raises(ValueError, match="all penalty_factors are 0"):
        SparsemaxClassifier(C="loo", penalty_factors=[0, 0, 0, 0]).fit(X, y)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (EntmaxClassifier(C="loo", l1_ratio=0.5), "l1_ratio=0; got l1_ratio=0.5"),
        (LinearClassifier(similarity="cosine", C="loo"), "similarity is 'cosine'"),
        (EntmaxClassifier(2.5, C="loo"), "alpha <= 2"),
        (TaylorSoftmaxClassifier(C="loo"), "convex loss with second derivatives"),
        (LinearClassifier("sparsemax", loss="accuracy", C="loo"), "convex loss"),
        (
            PerturbMaxClassifier("student_t", learn_noise=True, C="loo"),
            "learn_noise is True",
        ),
        (EntmaxClassifier(C="loo", target_type="candidates"), "'candidates' is not"),
    ],
    ids=lambda case: case if isinstance(case, str) else type(case).__name__,
)
def test_what_is_not_allowed(model, message):
    X, y = labels()
    if getattr(model, "target_type", None) == "candidates":
        y = np.eye(3)[y]
    with pytest.raises(ValueError, match=f"C='loo' needs .*{message}"):
        model.fit(X, y)
    assert not hasattr(model, "C_")


def test_dask_and_too_few_rows():
    with pytest.raises(ValueError, match="two or more rows"):
        X, y = labels()
        SoftmaxClassifier(C="loo").fit(X, y, (np.arange(60) == 3).astype(float))
    array = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="X and y in memory; got Dask collections"):
        SoftmaxClassifier(C="loo").fit(array.from_array(X), array.from_array(y))


def test_log_losses_of_marginals_that_are_rounded_to_zero_or_one():
    """A marginal of one is one less its spacing, and one of zero the smallest float."""
    p = np.array([[1.0, 1.0, 0.0, 0.0, 0.25, 0.5]])
    target = np.array([[0.0, 1.0, 1.0, 0.0, 1.0, 0.0]])
    losses = _chosen_C._log_losses_of_marginals(p, target)
    expected = [53 * np.log(2), 0, 1022 * np.log(2), 0, np.log(4), np.log(2)]
    assert_allclose(losses, [expected], rtol=1e-12, atol=1e-15)
