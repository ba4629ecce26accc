"""The cut of label sets: each way to ask for it, and changing it after the fit."""

import tracemalloc
from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import softmax
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.preprocessing import scale

from skprob import (
    EntmaxClassifier,
    EntmaxClassifierCV,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.decision import (
    RULES,
    CommonCut,
    ExampleF1,
    LabelCuts,
    StackedLabels,
    best_threshold,
    get_rule,
)
from skprob.linear_model.fit import _in_turn, _run
from skprob.linear_model.predict import _labelled_rows

from ...versions import needs_callbacks
from ..assertions import assert_refused
from ..data_sets import label_sets, labels

X, Y = label_sets()


def cuts_of(model):
    """The cuts of a rule, or the one."""
    rule = getattr(model.threshold_, "rule_", model.threshold_)
    return getattr(rule, "cuts_", rule)


def many_rows(n_samples):
    """Sets of 5 labels that 20 features predict only in part."""
    X, Y = make_multilabel_classification(
        n_samples, n_classes=5, allow_unlabeled=False, random_state=0
    )
    return scale(X), Y


def probabilities(rng, n_classes, kind):
    """Rows on the simplex: of all sizes, with many equal ones or zeros, or uniform."""
    shape = (60, n_classes)
    if kind == "steep":
        return softmax(rng.normal(scale=3, size=shape), axis=1)
    if kind == "ties and zeros":
        return rng.multinomial(20, np.full(n_classes, 1 / n_classes), size=60) / 20
    return np.full(shape, 1 / n_classes)


@pytest.mark.parametrize(("n_classes", "dtype"), [(3, np.float64), (20, np.float32)])
@pytest.mark.parametrize("kind", ["steep", "ties and zeros", "uniform"])
def test_best_threshold_has_the_highest_f1_of_all_cuts(dtype, kind, n_classes):
    rng = np.random.default_rng(0)
    for noise, n_blocks in ((0.02, 1), (0.2, 3), (2.0, 7)):
        p = probabilities(rng, n_classes, kind).astype(dtype)
        labels = (p + rng.normal(scale=noise, size=p.shape) > 0.3).astype(int)
        labels[0, 0] = 1
        weight = rng.integers(1, 4, size=60)
        blocks = np.array_split(p, n_blocks)
        cut = best_threshold(blocks, sparse.csr_array(labels), weight)

        def f1(cut, p=p, labels=labels, weight=weight):
            true, predicted = weight @ labels, weight @ (p > cut)
            return 2 * (weight @ (labels * (p > cut))).sum() / (true + predicted).sum()

        values = np.unique(np.append(p, 0))
        assert_allclose(f1(cut), max(map(f1, values)), rtol=1e-14)
        # Half way: as far from the probability above it as from the one below.
        above, below = values[values > cut].min(), values[values <= cut].max()
        assert_allclose(cut, (float(above) + float(below)) / 2, rtol=1e-6)


@pytest.mark.parametrize("n_blocks", [1, 4])
def test_best_threshold_where_every_true_label_got_zero(n_blocks):
    p = np.tile([0.5, 0.3, 0.2, 0.0], (8, 1))
    labels = sparse.csr_array(np.tile([0, 0, 0, 1], (8, 1)))
    cut = best_threshold(np.split(p, n_blocks), labels, np.ones(8))
    assert cut == 0.4


def test_best_threshold_is_half_way_to_a_probability_of_a_later_block():
    """It is below all candidates that remain after the first block."""
    p = np.array([[0.875, 0.125], [0.375, 0.625], [0.125, 0.75], [0.5, 0.0]])
    labels = sparse.csr_array([[1, 0], [0, 0], [0, 0], [0, 0]])
    for n_blocks in (1, 2, 4):
        assert best_threshold(np.split(p, n_blocks), labels, np.ones(4)) == 0.8125


def test_best_threshold_holds_no_more_than_a_block():
    class Blocks:
        """An iterable that makes each of 250 blocks when it is needed."""

        def __iter__(self):
            rng = np.random.default_rng(0)
            return (rng.dirichlet(np.full(1000, 0.1), size=4) for _ in range(250))

    columns = np.random.default_rng(1).integers(1000, size=1000)
    labels = sparse.csr_array((np.ones(1000), columns, np.arange(1001)))
    tracemalloc.start()
    cut = best_threshold(Blocks(), labels, np.ones(1000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 1000 * 1000 / 4
    # The reference has them all at once.
    p = np.concatenate(list(Blocks()))
    true = p[np.arange(1000), columns]
    cuts = np.array([cut, *true])
    n_true = (true > cuts[:, None]).sum(axis=1)
    n_predicted = p.size - np.searchsorted(np.sort(p, axis=None), cuts, side="right")
    f1 = 2 * n_true / (n_predicted + 1000)
    assert f1[0] >= f1.max()


def test_best_threshold_between_neighbouring_floats():
    # Half way between them rounds to the lower one or to the upper one.
    for low in (np.float32(0.3), np.nextafter(np.float32(0.3), np.float32(1))):
        p = np.array([[np.nextafter(low, np.float32(1)), low]])
        cut = best_threshold([p], sparse.csr_array([[1, 0]]), np.ones(1))
        assert_array_equal(p > cut, [[True, False]])


def test_a_number_is_taken_as_it_is():
    model = SparsemaxClassifier().fit(X, Y)
    p = model.predict_proba(X)
    # The last is a probability itself, which is not above it.
    for threshold in (0, 0.0, 0.2, 0.5, p[p > 0].min()):
        model.set_params(threshold=threshold).fit(X, Y)
        assert model.threshold_ == threshold
        assert_array_equal(model.predict(X), p > threshold)


def test_the_support_is_all_positive_probabilities():
    model = SparsemaxClassifier(threshold="support").fit(X, Y)
    assert (model.predict_proba(X) == 0).any()
    assert_array_equal(model.predict(X), model.predict_proba(X) > 0)


@pytest.mark.parametrize("container", [list, np.array])
def test_one_number_for_each_label(container):
    cuts = [0.0, 0.3, 0.1, 0.9]
    model = SparsemaxClassifier(threshold=container(cuts)).fit(X, Y)
    assert_array_equal(model.threshold_, cuts)
    p = model.predict_proba(X)
    expected = [[int(x > cut) for x, cut in zip(row, cuts, strict=True)] for row in p]
    assert_array_equal(model.predict(X), expected)


def test_cross_validation_is_deterministic_and_leaves_the_fit_alone(sample_classifier):
    threshold = "cv" if sample_classifier.margin else "auto"
    model = sample_classifier.set_params(threshold=threshold).fit(X, Y)
    coef, cuts = model.coef_, cuts_of(model)
    assert_array_equal(cuts_of(model.fit(X, Y)), cuts)
    assert_array_equal(model.set_params(threshold=0.3).fit(X, Y).coef_, coef)


@pytest.mark.parametrize(
    "model", [SoftmaxClassifier(C=100), SparsemaxClassifier(C=0.2, tol=1e-6)]
)
def test_cross_validation_predicts_new_rows_better_than_the_training_rows_do(model):
    """Overfitted probabilities of the training rows put the cut too high."""
    X, Y = many_rows(2080)
    X_train, Y_train, X_test, Y_test = X[:80], Y[:80], X[80:], Y[80:]
    model.set_params(threshold="cv").fit(X_train, Y_train)
    p, new = model.predict_proba(X_train), model.predict_proba(X_test)
    in_sample = best_threshold([p], sparse.csr_array(Y_train), np.ones(80))
    assert model.threshold_ < in_sample
    at_cv, at_in_sample, at_zero = (
        f1_score(Y_test, new > cut, average="micro")
        for cut in (model.threshold_, in_sample, 0)
    )
    assert at_cv > at_in_sample
    assert at_cv > at_zero


@contextmanager
def limits_of_fits():
    """The arguments by name of the solver of each fit, in a list that fills inside."""
    limits = []

    def watched(solver):
        def solve(*args, **options):
            limits.append(options)
            return solver(*args, **options)

        return solve

    watched_solve = patch.object(_run, "solve", watched(_run.solve))
    in_turn = patch.object(_in_turn, "solve_in_turn", watched(_in_turn.solve_in_turn))
    with watched_solve, in_turn:
        yield limits


def test_auto_is_cross_validated_on_few_rows_and_read_off_many():
    X, Y = many_rows(5001)
    model = SoftmaxClassifier()
    for n_rows, n_fits in ((5000, 4), (5001, 1)):
        with limits_of_fits() as limits:
            model.fit(X[:n_rows], Y[:n_rows])
        assert len(limits) == n_fits
    p = model.predict_proba(X)
    f1 = f1_score(Y, model.predict(X), average="micro")
    for cut in np.linspace(0.05, 0.5, 46):
        assert f1 >= f1_score(Y, p > cut, average="micro")


def test_auto_corrects_the_probabilities_of_at_most_so_many_labels():
    X, Y = many_rows(200)
    with patch.object(_labelled_rows, "_MOST_STACKED", 5):
        model = SoftmaxClassifier().fit(X, Y)
        assert isinstance(model.threshold_, StackedLabels)
        more = np.column_stack([Y, Y[:, 0]])
        model.fit(X, more)
    assert repr(model.threshold_) == "LabelCuts(average='micro')"


@pytest.mark.parametrize("hidden", [0.0, 0.3])
def test_many_labels_under_a_strong_penalty(hidden):
    """Probabilities of rows left out one by one show the labels of the row."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    scores = 0.7 * X @ rng.normal(size=(5, 50)) - 1
    Y = (scores + rng.logistic(size=(600, 50)) > 0).astype(float)
    Y_train = np.where(rng.random((200, 50)) < hidden, np.nan, Y[:200])
    stacked, cuts = (
        SigmoidClassifier(C=0.003, threshold=threshold).fit(X[:200], Y_train)
        for threshold in ("auto", LabelCuts("micro"))
    )
    f1_of = partial(f1_score, Y[200:], average="micro")
    assert f1_of(stacked.predict(X[200:])) > f1_of(cuts.predict(X[200:])) + 0.03


@pytest.mark.parametrize(
    ("model", "tol"),
    [
        (SoftmaxClassifier(), 1e-2),
        (SoftmaxClassifier(tol=0.1), 0.1),
        (SoftmaxClassifier(tol=1e-6), 1e-4),
        # Without convexity a small gradient does not bound the distance to the minimum.
        (SoftmaxClassifier(loss="accuracy"), 1e-4),
        (SoftmaxClassifier(similarity="cosine"), 1e-4),
    ],
)
def test_folds_are_fitted_loosely_where_the_objective_is_convex(model, tol):
    with limits_of_fits() as limits:
        model.fit(X, Y)
    tols = [options["tol"] for options in limits]
    # The threshold is chosen after the fit to all rows.
    assert tols == pytest.approx([model.tol, tol, tol, tol])


@pytest.mark.parametrize("threshold", ["auto", "cv"])
def test_few_rows_have_a_threshold(threshold):
    for n_rows in (1, 2, 3):
        rows = [[1, 1], [0, 1], [1, 0]][:n_rows]
        model = SparsemaxClassifier(threshold=threshold).fit(np.eye(3)[:n_rows], rows)
        assert 0 <= np.min(cuts_of(model)) <= np.max(cuts_of(model)) < 1


@pytest.mark.parametrize("threshold", ["auto", "cv", "support"])
def test_where_every_label_is_there(threshold):
    everything = np.ones_like(Y)
    model = SoftmaxClassifier(threshold=threshold).fit(X, everything)
    assert_array_equal(model.predict(X), everything)


def test_rows_of_weight_zero_are_as_if_left_out():
    weight = np.where(np.arange(60) % 4 == 0, 0.0, 1.0)
    reference = EntmaxClassifier(tol=1e-9).fit(X[weight > 0], Y[weight > 0])
    Y_wrong = np.where(weight[:, None] > 0, Y, 1 - Y)
    Y_wrong[~Y_wrong.any(axis=1), 0] = 1
    model = EntmaxClassifier(tol=1e-9).fit(X, Y_wrong, sample_weight=weight)
    assert_allclose(cuts_of(model), cuts_of(reference), rtol=1e-5)
    # A class of weight zero may leave rows, even whole folds, without weight.
    zero = dict.fromkeys([0, 1, 2], 0.0)
    model = EntmaxClassifier(class_weight=zero).fit(X, np.eye(4, dtype=int)[LABEL])
    assert (cuts_of(model) >= 0).all()


LABEL = np.r_[3, 3, np.arange(58) % 3]


@needs_callbacks
def test_the_folds_do_not_report(capsys):
    from sklearn.callback import ScoringMonitor

    model = SoftmaxClassifier(verbose=2).fit(X, Y)
    assert capsys.readouterr().out.count("\n") == model.n_iter_
    monitor = ScoringMonitor(scoring="f1_micro")
    model.set_params(verbose=0).set_callbacks(monitor).fit(X, Y)
    runs = monitor.get_logs(select="all")
    assert len(runs) == 1
    log = [row for row in runs[0].data if row["task_name"] == "iteration"]
    assert len(log) == model.n_iter_
    assert_allclose(log[-1]["f1_micro"], f1_score(Y, model.predict(X), average="micro"))


def test_an_assigned_threshold_is_used():
    model = EntmaxClassifier().fit(X, Y)
    p = model.predict_proba(X)
    model.threshold_ = 0.4
    assert_array_equal(model.predict(X), p > 0.4)
    model.threshold_ = [0.1, 0.2, 0.3, 0.4]
    assert_array_equal(model.predict(X), p > np.array([0.1, 0.2, 0.3, 0.4]))
    for wrong in (1.5, [0.1, 0.2], None):
        model.threshold_ = wrong
        with pytest.raises(ValueError, match="threshold must be"):
            model.predict(X)
    model.threshold_ = CommonCut().fit([[0.5, 0.5]], [[1, 0]])
    with pytest.raises(ValueError, match=r"fitted to 4 labels.* of 2"):
        model.predict(X)


def test_a_warm_start_with_another_threshold_takes_no_step():
    model = SoftmaxClassifier(warm_start=True, threshold=0.1).fit(X, Y)
    coef = model.coef_
    for threshold in (0.4, [0.1, 0.2, 0.3, 0.4], "support"):
        model.set_params(threshold=threshold).fit(X, Y)
        assert model.n_iter_ == 0
        assert_array_equal(model.coef_, coef)


def test_a_search_over_thresholds_scores_each_fit():
    grid = {"C": [0.1, 10], "threshold": ["cv", "support", 0.2, [0.1, 0.2, 0.3, 0.1]]}
    search = GridSearchCV(EntmaxClassifier(), grid, scoring="f1_micro", cv=3)
    search.fit(X, Y)
    assert len(search.cv_results_["params"]) == 8
    for params, score in zip(
        search.cv_results_["params"],
        search.cv_results_["mean_test_score"],
        strict=True,
    ):
        model = EntmaxClassifier(**params)
        expected = cross_val_score(model, X, Y, scoring="f1_micro", cv=3).mean()
        assert_allclose(score, expected)


def test_bad_thresholds_are_refused():
    for threshold, message in [
        ([0.1, 0.2], r"threshold must be .* each of the 4 labels; got \[0.1, 0.2\]"),
        ([[0.1] * 4], r"each of the 4 labels; .* shape \(1, 4\)"),
        ([0.1, 0.2, 0.3, 1.0], r"must be in \[0, 1\).* at label 3"),
        ([0.1, -0.2, 0.3, 0.1], r"must be in \[0, 1\).* at label 1"),
        ([np.nan, 0.2, 0.3, 0.1], r"must be in \[0, 1\).* at label 0"),
        (["a", "b", "c", "d"], r"threshold must be"),
        (np.nan, r"'threshold' .* Got nan"),
        (1.0, r"'threshold' .* Got 1.0"),
        ("half", r"'threshold' .* Got 'half'"),
    ]:
        assert_refused(message, EntmaxClassifier(threshold=threshold).fit, X, Y)


def test_class_labels_have_no_threshold():
    assert not hasattr(EntmaxClassifier().fit(*labels()), "threshold_")


@pytest.mark.parametrize("size", [1e-300, 1.7e308 / 60])
def test_the_cut_does_not_depend_on_the_unit_of_the_weights(size):
    X, Y = label_sets()
    rule = {"threshold": "cv", "C": 1 / size}
    reference = EntmaxClassifier(threshold="cv", C=1.0).fit(X, Y)
    model = EntmaxClassifier(**rule).fit(X, Y, sample_weight=np.full(60, size))
    assert model.threshold_ == pytest.approx(reference.threshold_, abs=1e-6)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_fitted_to_out_of_fold_probabilities(name):
    model = SoftmaxClassifier(threshold=name).fit(X, Y)
    given = get_rule(name)
    assert repr(model.threshold_) == repr(given)
    other = SoftmaxClassifier(threshold=given).fit(X, Y)
    assert not hasattr(given, "n_labels_")
    assert_array_equal(other.predict(X), model.predict(X))
    # It is what the rule makes of out-of-fold probabilities, features and labels.
    folds = KFold(3, shuffle=True, random_state=0)
    p, order = np.empty(Y.shape), []
    for train, test in folds.split(X):
        p[test] = (
            SoftmaxClassifier(threshold=0, tol=1e-2)
            .fit(X[train], Y[train])
            .predict_proba(X[test])
        )
        order.extend(test)
    given.fit(p[order], Y[order], X=X[order])
    if hasattr(given, "cuts_"):
        assert_allclose(model.threshold_.cuts_, given.cuts_)
    expected = model.threshold_.predict(model.predict_proba(X), X)
    assert_array_equal(model.predict(X), expected)
    model.set_params(sparse_output=True)
    assert_array_equal(model.predict(X).toarray(), expected)
    assert_allclose(model.score(X, Y), (expected == Y).all(axis=1).mean())


def test_auto_predicts_no_empty_set_where_no_training_row_is_empty():
    X, Y = many_rows(300)
    rng = np.random.default_rng(0)
    model = SoftmaxClassifier(C=0.01).fit(X, Y)
    new = rng.normal(size=(500, 20)) * 0.1
    assert model.predict(new).any(axis=1).all()
    recipe = StackedLabels(LabelCuts("micro", shrinkage="auto", scale="probability"))
    again = SoftmaxClassifier(C=0.01, threshold=recipe).fit(X, Y)
    assert_array_equal(again.predict(new), model.predict(new))
    Y[:40] = 0
    rule = LabelCuts(shrinkage=0)
    model = SoftmaxClassifier(C=0.01, none_class=False, threshold=rule)
    with pytest.warns(match="no label"):
        model.fit(X, Y)
    assert model.threshold_.may_be_empty_
    model.threshold_.cuts_[:] = 0.99
    assert not model.predict(new).any()


def test_the_rule_gets_the_polytope_of_the_mapping():
    model = SigmoidClassifier(threshold=ExampleF1()).fit(X, Y)
    assert model.threshold_.polytope_ == "cube"
    assert model.threshold_.expected_size_ is None


def test_set_threshold_changes_the_rule_alone():
    X, Y = many_rows(400)
    model = EntmaxClassifier().fit(X[:200], Y[:200])
    coef, new = model.coef_, (X[200:], Y[200:])
    p, p_new = model.predict_proba(X), model.predict_proba(X[200:])
    for threshold, expected in [
        (0.3, p > 0.3),
        ([0.1, 0.2, 0.3, 0.4, 0.5], p > [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("support", p > 0),
        ("auto", get_rule("micro").fit(p_new, new[1]).predict(p)),
        ("macro", get_rule("macro").fit(p_new, new[1]).predict(p)),
        ("example_f1", ExampleF1().fit(p_new, new[1], X=new[0]).predict(p, X)),
        ("cv", p > best_threshold([p_new], sparse.csr_array(new[1]), np.ones(200))),
    ]:
        rows = () if isinstance(threshold, float | list) else new
        assert model.set_threshold(threshold, *rows) is model
        assert_array_equal(model.predict(X), expected)
    # A rule that is fitted already.
    fitted = CommonCut().fit(p_new, new[1])
    model.set_threshold(fitted)
    assert model.threshold_ is fitted
    # The training rows, by folds: as in a fit.
    other = EntmaxClassifier(threshold="label_cuts").fit(X[:200], Y[:200])
    model.set_threshold("label_cuts", X[:200], sparse.csr_array(Y[:200]), cv=3)
    assert_allclose(model.threshold_.cuts_, other.threshold_.cuts_)
    assert model.coef_ is coef
    assert model.threshold == "auto"


def test_bad_calls_of_set_threshold_are_refused():
    model = EntmaxClassifier().fit(X, Y)
    before = model.threshold_
    for args, message in [
        ((1.0,), "'threshold' parameter of set_threshold"),
        (("half",), "'threshold' parameter of set_threshold"),
        (("auto",), "threshold='auto' needs rows: give X and y"),
        ((LabelCuts(),), r"LabelCuts\(\), which is not fitted"),
        ((CommonCut().fit([[0.5, 0.5]], [[1, 0]]),), "fitted to 4 labels.* of 2"),
        (("auto", X), "X and y must be given together"),
        (("auto", X, Y[:, :2]), r"y must be .* \(60, 4\); got shape \(60, 2\)"),
        (("auto", X, 0 * Y), "y must have a label in at least one row"),
    ]:
        assert_refused(message, model.set_threshold, *args)
    for cv in (1, 61):
        message = f"cv must be .* 60 rows of X with a label; got {cv}"
        assert_refused(message, model.set_threshold, "auto", X, Y, cv=cv)
    assert model.threshold_ is before
    model = EntmaxClassifier().fit(*labels())
    assert_refused("fitted to label sets.*'class'", model.set_threshold, 0.3)


def test_rules_in_a_search_with_their_parameters():
    grid = {"threshold__shrinkage": [0, 50, "auto"], "threshold__average": ["macro"]}
    search = GridSearchCV(SoftmaxClassifier(threshold=LabelCuts()), grid, cv=3)
    search.fit(X, Y)
    assert search.best_estimator_.threshold_.average == "macro"


def test_cuts_in_a_series_are_matched_by_name():
    names = [f"label {k}" for k in range(Y.shape[1])]
    frame, cuts = pd.DataFrame(Y, columns=names), np.linspace(0.2, 0.6, len(names))
    series = pd.Series(cuts, index=names)[names[::-1]]
    expected = SigmoidClassifier(threshold=cuts).fit(X, frame).predict(X)
    assert 0 < expected.mean() < 1
    model = SigmoidClassifier(threshold=series).fit(X, frame)
    assert_array_equal(model.threshold_, cuts)
    assert_array_equal(model.predict(X), expected)
    assert_array_equal(model.set_threshold(series).threshold_, cuts)
    model.threshold_ = series
    assert_array_equal(model.predict(X), expected)
    search = EntmaxClassifierCV([1.0], [1.0], cv=2, threshold=series).fit(X, frame)
    assert_array_equal(search.threshold_, cuts)
    # The numbers of rows in an index are no names.
    assert_array_equal(model.set_threshold(pd.Series(cuts)).threshold_, cuts)
    wrong = series.rename({"label 0": "label 9"})
    assert_refused(
        "threshold must have the entries .* missing: ..label 0",
        model.set_threshold,
        wrong,
    )
