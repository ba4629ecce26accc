"""EntmaxClassifierCV finds what scikit-learn's search over EntmaxClassifier finds."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    get_scorer,
    make_scorer,
    mean_squared_error,
)
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from skprob import EntmaxClassifier, EntmaxClassifierCV
from skprob.decision import LabelCuts
from skprob.mappings import Entmax
from skprob.metrics import BrierScorer, DistributionScorer

from ...versions import needs_callbacks, since_1_9
from ..assertions import assert_refused
from ..data_sets import KINDS, cut_for, default_score, label_sets, labels
from ..fit.recorder import Recorder

ALPHAS, STRENGTHS = [1, 1.5, 2], [0.01, 1, 10]
GRID = {"alpha": ALPHAS, "C": STRENGTHS}
FOLDS = KFold(3, shuffle=True, random_state=0)


def grid_scores(search):
    """Scores of a GridSearchCV over GRID, of shape (n_folds, n_alphas, n_Cs)."""
    splits = [search.cv_results_[f"split{i}_test_score"] for i in range(3)]
    # It goes through the parameters in alphabetical order, and "C" comes first.
    shape = 3, len(STRENGTHS), len(ALPHAS)
    return np.array(splits).reshape(shape).transpose(0, 2, 1)


def searched(X, y, **params):
    """Both searches, fitted to the same folds."""
    scoring = params.pop("scoring", BrierScorer())
    ours = EntmaxClassifierCV(
        ALPHAS, STRENGTHS, cv=FOLDS, scoring=scoring, tol=1e-8, **params
    )
    theirs = GridSearchCV(
        EntmaxClassifier(tol=1e-8, **params), GRID, cv=FOLDS, scoring=scoring
    )
    return ours.fit(X, y), theirs.fit(X, y)


@pytest.mark.parametrize(
    ("kind", "container"),
    [("class", csr_array), ("label_set", np.asarray), ("distribution", np.asarray)],
)
def test_the_same_answer_as_a_grid_search(kind, container):
    X, y = KINDS[kind]()
    X = container(X)
    ours, theirs = searched(X, y, threshold=cut_for(kind, 0.2))
    assert_allclose(ours.scores_, grid_scores(theirs), atol=1e-6)
    assert {"alpha": ours.alpha_, "C": ours.C_} == theirs.best_params_
    assert_allclose(ours.best_score_, theirs.best_score_, atol=1e-6)
    best = theirs.best_estimator_
    assert_allclose(ours.coef_, best.coef_)
    assert_allclose(ours.predict_proba(X), best.predict_proba(X))
    assert_array_equal(ours.predict(X), best.predict(X))
    assert ours.target_type_ == kind
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y))


@pytest.mark.parametrize(
    "params",
    [
        {"class_weight": "balanced", "fit_intercept": False},
        {"margin": 0.5, "temperature": 2.0, "solver": "newton-cg"},
        {"label_smoothing": 0.1, "solver": "lbfgs"},
    ],
    ids=str,
)
def test_other_parameters_reach_every_fit(params):
    ours, theirs = searched(*labels(), **params)
    assert_allclose(ours.scores_, grid_scores(theirs), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_fits_with_the_whole_hessian_and_by_its_products_agree(kind, plan_with):
    X, y = KINDS[kind]()
    whole = EntmaxClassifierCV(ALPHAS, STRENGTHS, cv=FOLDS, tol=1e-8, refit=False)
    whole.set_params(threshold=cut_for(kind, 0.2)).fit(X, y)
    plan_with(largest_hessian_cost=0)
    by_products = clone(whole).fit(X, y)
    assert_allclose(by_products.scores_, whole.scores_, atol=1e-6)
    assert_allclose(by_products.coefs_paths_, whole.coefs_paths_, atol=1e-5)
    # The last digits tell that they were not fitted in the same way.
    assert np.abs(by_products.coefs_paths_ - whole.coefs_paths_).max() > 0


def test_thresholds_of_label_sets_are_those_of_single_fits():
    X, y = label_sets()
    ours, theirs = searched(X, y, threshold="support", scoring="f1_micro")
    assert_allclose(ours.scores_, grid_scores(theirs), atol=1e-6)
    assert_allclose(ours.threshold_, theirs.best_estimator_.threshold_, atol=1e-6)


def test_the_paths_are_the_fits_of_the_folds():
    """Two classes have one row of coefficients."""
    X, y = labels(2)
    model = EntmaxClassifierCV(ALPHAS, STRENGTHS, cv=FOLDS, tol=1e-9).fit(X, y)
    assert model.scores_.shape == (3, 3, 3)
    assert model.coefs_paths_.shape == (3, 3, 3, 1, 4)
    assert model.intercepts_paths_.shape == (3, 3, 3, 1)
    for fold, (train, test) in enumerate(FOLDS.split(X)):
        for i, alpha in enumerate(ALPHAS):
            for j, C in enumerate(STRENGTHS):
                one = EntmaxClassifier(alpha, C=C, tol=1e-9).fit(X[train], y[train])
                coef = model.coefs_paths_[fold, i, j]
                assert_allclose(coef, one.coef_, atol=1e-5)
                intercept = model.intercepts_paths_[fold, i, j]
                assert_allclose(intercept, one.intercept_, atol=1e-5)
                score = default_score(one, X[test], y[test])
                assert model.scores_[fold, i, j] == pytest.approx(score, abs=1e-5)


def test_a_start_is_accepted_only_where_it_is_well_within_the_tolerance():
    X, y = load_digits(return_X_y=True)
    X, tol, Cs = scale(X), 1e-3, 0.1 * np.cumprod(1 + np.logspace(-8, 1, 12))
    every = np.arange(len(y))
    model = EntmaxClassifierCV([1], Cs, cv=[(every, every)], tol=tol, refit=False)
    model.fit(X, y)
    last, n_accepted = None, 0
    for C, coef, intercept in zip(
        Cs, model.coefs_paths_[0, 0], model.intercepts_paths_[0, 0], strict=True
    ):
        residual = softmax(X @ coef.T + intercept, axis=1) - np.eye(10)[y]
        slope = np.abs(residual.T @ X / len(y) + coef / (C * len(y))).max()
        slope = max(slope, np.abs(residual.mean(axis=0)).max())
        assert slope <= 0.5 * tol
        if np.array_equal(coef, last):
            n_accepted += 1
            assert slope <= 0.05 * tol
        last = coef
    assert 0 < n_accepted < len(Cs) - 1


def test_the_probabilities_of_an_alpha_are_computed_together(monkeypatch):
    calls, kernel = [], Entmax.probabilities

    def counting(self, scores):
        calls.append(len(scores))
        return kernel(self, scores)

    monkeypatch.setattr(Entmax, "probabilities", counting)
    X, y = labels()
    ours = EntmaxClassifierCV(ALPHAS, STRENGTHS, cv=FOLDS, scoring=BrierScorer())
    ours.set_params(refit=False).fit(X, y)
    # One of 8 rows when a fit begins checks the kernel.
    calls = [n for n in calls if n > 8]
    assert_array_equal(calls, [20 * len(STRENGTHS)] * FOLDS.n_splits * len(ALPHAS))


@since_1_9
def test_softmax_alone_is_LogisticRegressionCV():
    X, y = load_iris(return_X_y=True)
    X, y = scale(X)[::2], y[::2]
    theirs = LogisticRegressionCV(
        Cs=3,
        cv=StratifiedKFold(5),
        scoring="neg_brier_score",
        tol=1e-8,
        max_iter=10_000,
        use_legacy_attributes=False,
        l1_ratios=(0,),
    ).fit(X, y)
    ours = EntmaxClassifierCV([1], 3, scoring="neg_brier_score", tol=1e-8).fit(X, y)
    assert_allclose(ours.Cs_[0], theirs.Cs_)
    assert_allclose(ours.scores_[:, 0], theirs.scores_[:, 0], atol=1e-5)
    assert ours.C_ == pytest.approx(float(theirs.C_))


def test_the_order_of_the_grids_does_not_matter():
    X, y = labels()
    first = EntmaxClassifierCV([1, 2], [0.1, 1, 10], cv=FOLDS).fit(X, y)
    other = EntmaxClassifierCV([2, 1], [10, 0.1, 1], cv=FOLDS).fit(X, y)
    assert_array_equal(other.scores_, first.scores_[:, ::-1][:, :, [2, 0, 1]])
    assert_array_equal(other.coefs_paths_[:, 0, 1], first.coefs_paths_[:, 1, 0])
    assert (other.alpha_, other.C_) == (first.alpha_, first.C_)


def test_of_equal_scores_the_least_C_and_then_the_least_alpha():
    def constant(model, X, y):
        return 1.0

    X, y = labels()
    model = EntmaxClassifierCV([2, 1], [10, 0.1], cv=2, scoring=constant).fit(X, y)
    assert (model.alpha_, model.C_, model.best_score_) == (1, 0.1, 1)

    def no_softmax(model, X, y):
        return float(model.alpha > 1)

    model = EntmaxClassifierCV([2, 1], [10, 0.1], cv=2, scoring=no_softmax).fit(X, y)
    assert (model.alpha_, model.C_) == (2, 0.1)

    def two(model, X, y):
        return float((model.alpha, model.C) in {(1, 10), (2, 0.1)})

    model = EntmaxClassifierCV([1, 2], [0.1, 10], cv=2, scoring=two).fit(X, y)
    assert (model.alpha_, model.C_) == (2, 0.1)


def test_a_scorer_may_predict_other_rows_than_those_it_is_given():
    """The offset of the rows of a fold is that of these rows alone."""
    X, y = labels()
    offset = np.random.default_rng(0).normal(size=(len(X), 3))
    expected = EntmaxClassifier(1, C=1.0, tol=1e-8)
    expected.fit(X[20:], y[20:], offset=offset[20:])
    available = np.ones((20, 3), dtype=bool)
    available[:, 1] = False
    calls = []

    def scorer(model, X_test, y_test):
        known = expected.predict_proba(X[:20], offset=offset[:20])
        assert_allclose(model.predict_proba(X_test), known, atol=1e-5)
        for rows, given in (
            (X_test[::-1], {}),
            (X_test, {"available": available}),
            (X_test, {"offset": 1 - offset[:20]}),
        ):
            p = model.predict_proba(rows, **given)
            known = expected.predict_proba(np.array(rows), **given)
            assert_allclose(p, known, atol=1e-5)
        calls.append(len(y_test))
        return 1.0

    split = [(np.arange(20, len(X)), np.arange(20))]
    EntmaxClassifierCV([1], [1.0], cv=split, scoring=scorer, tol=1e-8).fit(
        X, y, offset=offset
    )
    assert calls == [20]


def test_a_score_of_two_classes_is_that_of_the_second():
    X, y = labels(2)
    names = np.array(["no", "yes"])[y]
    search = EntmaxClassifierCV([1], [0.1], cv=FOLDS, scoring="f1", tol=1e-8)
    search.fit(X, names)
    for (train, test), score in zip(
        FOLDS.split(X), search.scores_.ravel(), strict=True
    ):
        one = EntmaxClassifier(1, C=0.1, tol=1e-8).fit(X[train], y[train])
        assert score == f1_score(y[test], one.predict(X[test]))
    expected = f1_score(names, search.predict(X), pos_label="yes")
    assert search.score(X, names) == expected
    assert expected != f1_score(names, search.predict(X), pos_label="no")


def test_a_label_that_is_not_available_is_refused():
    X, y = labels()
    available = np.ones((60, 3), dtype=bool)
    available[7, y[7]] = False
    message = "The target of row 7 is not available: y has class"
    for search in (EntmaxClassifierCV(cv=2), EntmaxClassifierCV([1], [1], cv="loo")):
        assert_refused(message, search.fit, X, y, available=available)


@pytest.mark.parametrize("kind", KINDS)
def test_the_default_score_of_each_kind(kind):
    """The Brier score, and micro-F1 for label sets; of the model, the accuracy."""
    X, y = KINDS[kind]()
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    options = {"tol": 1e-8, "threshold": cut_for(kind, 0.2)}
    search = EntmaxClassifierCV(ALPHAS, STRENGTHS, cv=FOLDS, **options)
    search.fit(X, y, sample_weight=weight)
    for k, (train, test) in enumerate(FOLDS.split(X)):
        # A row of weight two counts as two rows.
        twice = np.repeat(test, weight[test])
        for i, j in np.ndindex(3, 3):
            one = EntmaxClassifier(ALPHAS[i], C=STRENGTHS[j], **options)
            one.fit(X[train], y[train], sample_weight=weight[train])
            score = default_score(one, X[twice], y[twice])
            assert search.scores_[k, i, j] == pytest.approx(score, abs=1e-6)
    mean = search.scores_.mean(axis=0)
    i, j = np.unravel_index(mean.argmax(), mean.shape)
    assert (search.alpha_, search.C_) == (ALPHAS[i], STRENGTHS[j])
    assert search.best_score_ == mean[i, j]
    assert (search.best_score_ < 0) == (kind != "label_set")
    single = EntmaxClassifier(search.alpha_, C=search.C_, **options)
    single.fit(X, y, sample_weight=weight)
    assert search.score(X, y) == single.score(X, y) > 0


def test_a_fold_without_labels_that_predicts_none():
    """Nothing is wrong there: the score is one, and no warning."""
    X, y = np.repeat(np.eye(3), 8, axis=0), np.zeros((24, 2), int)
    y[:8, 0] = y[8:16, 1] = 1
    folds = [(np.arange(0, 24, 2), np.arange(16, 24))]
    model = EntmaxClassifierCV([1.5], [100.0], cv=folds, threshold=0.5).fit(X, y)
    assert_array_equal(model.predict(X[16:]), 0)
    assert model.best_score_ == 1


def test_scores_are_those_of_the_scoring():
    X, y = labels()
    model = EntmaxClassifierCV([1, 2], [0.1, 1], cv=FOLDS)
    accuracy = clone(model).set_params(scoring="accuracy").fit(X, y).scores_
    assert model.fit(X, y).score(X, y) == accuracy_score(y, model.predict(X))
    assert (accuracy >= 0).all() and (model.scores_ < 0).all()
    brier = clone(model).set_params(scoring="neg_brier_score").fit(X, y)
    assert_allclose(model.scores_, brier.scores_)
    assert brier.score(X, y) == get_scorer("neg_brier_score")(brier, X, y)
    scoring = make_scorer(accuracy_score)
    assert_array_equal(
        clone(model).set_params(scoring=scoring).fit(X, y).scores_, accuracy
    )
    with pytest.raises(ValueError, match="NaN for every model"):
        model.set_params(scoring=lambda model, X, y: np.nan).fit(X, y)


@pytest.mark.parametrize("kind", ["class", "distribution"])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_default_scores_are_those_of_the_scorer(kind, is_weighted):
    X, y = KINDS[kind]()
    weight = np.arange(len(X)) % 3 if is_weighted else None
    default = EntmaxClassifierCV([1, 2], [0.1, 1], cv=FOLDS, refit=False)
    scored = clone(default).set_params(scoring=BrierScorer())
    default.fit(X, y, weight)
    assert_array_equal(default.scores_, scored.fit(X, y, weight).scores_)


def test_single_precision_stays_single():
    X, y = labels()
    model = EntmaxClassifierCV([1, 2], [1], cv=2).fit(X.astype(np.float32), y)
    arrays = (model.coefs_paths_, model.intercepts_paths_, model.coef_)
    assert {array.dtype for array in arrays} == {np.dtype(np.float32)}


def test_processes_find_the_same():
    X, y = labels()
    one = EntmaxClassifierCV([1, 2], 3, cv=FOLDS).fit(X, y)
    two = EntmaxClassifierCV([1, 2], 3, cv=FOLDS, n_jobs=2).fit(X, y)
    assert_allclose(two.coefs_paths_, one.coefs_paths_, atol=1e-10)
    assert_array_equal(two.scores_, one.scores_)


@since_1_9
@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_a_refit_the_folds_are_averaged(n_classes):
    """As scikit-learn does; of one C that is the best of each fold."""
    X, y = labels(n_classes)
    theirs = LogisticRegressionCV(
        Cs=[0.5],
        cv=FOLDS,
        refit=False,
        scoring="accuracy",
        tol=1e-10,
        max_iter=10_000,
        use_legacy_attributes=False,
        l1_ratios=(0,),
    ).fit(X, y)
    ours = EntmaxClassifierCV([1], [0.5], cv=FOLDS, refit=False, tol=1e-9).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.n_iter_.shape == (3, 1, 1)
    assert not hasattr(ours, "history_")


@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_of_the_folds_of_each_kind(kind):
    X, y = KINDS[kind]()
    threshold = LabelCuts("micro") if kind == "label_set" else "auto"
    search = EntmaxClassifierCV(
        ALPHAS, STRENGTHS, cv=FOLDS, tol=1e-8, threshold=threshold
    )
    refitted, mean = search.fit(X, y), clone(search).set_params(refit=False).fit(X, y)
    assert (mean.alpha_, mean.C_) == (refitted.alpha_, refitted.C_)
    folds = [
        EntmaxClassifier(mean.alpha_, C=mean.C_, tol=1e-8).fit(X[train], y[train])
        for train, _ in FOLDS.split(X)
    ]
    coef = np.mean([model.coef_ for model in folds], axis=0)
    intercept = np.mean([model.intercept_ for model in folds], axis=0)
    assert_allclose(mean.coef_, coef, atol=1e-5)
    assert_allclose(mean.intercept_, intercept, atol=1e-5)
    assert np.abs(mean.coef_ - refitted.coef_).max() > 1e-4
    p = Entmax(mean.alpha_)(X @ coef.T + intercept)
    assert_allclose(mean.predict_proba(X), p, atol=1e-5)
    assert mean.score(X, y) == pytest.approx(refitted.score(X, y), abs=0.1)
    if kind == "label_set":
        out_of_fold = [
            model.predict_proba(X[test])
            for model, (_, test) in zip(folds, FOLDS.split(X), strict=True)
        ]
        order = np.concatenate([test for _, test in FOLDS.split(X)])
        rule = LabelCuts("micro").fit(np.vstack(out_of_fold), y[order])
        assert_allclose(mean.threshold_.cuts_, rule.cuts_, atol=1e-5)
        assert_allclose(refitted.threshold_.cuts_, rule.cuts_, atol=1e-5)
        mean.set_threshold("support")
        assert_array_equal(mean.predict(X), mean.predict_proba(X) > 0)


def test_a_second_fit_forgets_the_first():
    X, y = labels()
    model = EntmaxClassifierCV([1, 2], [0.1, 1], cv=FOLDS).fit(*label_sets())
    model.fit(X[:, :3], y)
    fresh = clone(model).fit(X[:, :3], y)
    assert_array_equal(model.coef_, fresh.coef_)
    assert_array_equal(model.classes_, [0, 1, 2])
    assert vars(model).keys() == vars(fresh).keys()
    assert not hasattr(model, "threshold_")
    model.set_params(refit=False).fit(X, y)
    assert vars(fresh).keys() - vars(model).keys() == {
        *("history_", "objective_", "gradient_norm_", "duality_gap_", "solver_")
    }


def test_names_of_features_and_labels():
    X, y = labels()
    X = pd.DataFrame(X, columns=list("abcd"))
    names = np.array(["one", "two", "three"])[y]
    model = EntmaxClassifierCV([1, 2], [1], cv=2).fit(X, names)
    assert_array_equal(model.feature_names_in_, list("abcd"))
    assert set(model.predict(X)) <= {"one", "two", "three"}


def test_weights_reach_fits_and_scores():
    X, y = labels()
    weight = np.random.default_rng(0).uniform(0.1, 3, len(y))
    ours = EntmaxClassifierCV(
        ALPHAS, STRENGTHS, cv=FOLDS, scoring=BrierScorer(), tol=1e-8
    ).fit(X, y, sample_weight=weight)
    theirs = GridSearchCV(
        EntmaxClassifier(tol=1e-8), GRID, cv=FOLDS, scoring=BrierScorer()
    ).fit(X, y, sample_weight=weight)
    assert_allclose(ours.scores_, grid_scores(theirs), atol=1e-6)
    with config_context(enable_metadata_routing=True):
        routed = clone(ours).set_params(
            scoring=BrierScorer().set_score_request(sample_weight=True)
        )
        routed.fit(X, y, sample_weight=weight)
        assert_array_equal(routed.scores_, ours.scores_)
        unweighted = clone(ours).set_params(
            scoring=BrierScorer().set_score_request(sample_weight=False)
        )
        unweighted.fit(X, y, sample_weight=weight)
        assert_array_equal(unweighted.coefs_paths_, ours.coefs_paths_)
        assert np.abs(unweighted.scores_ - ours.scores_).max() > 1e-3


def test_weights_that_a_scorer_does_not_take_are_an_error():
    """LogisticRegressionCV has the same error, with metadata routing and without."""
    X, y = labels()
    weight = np.linspace(0.1, 2, len(y))

    def accuracy(model, X, y):
        return float(np.mean(model.predict(X) == y))

    def fitted(scoring):
        return EntmaxClassifierCV([1, 2], [1], cv=2, scoring=scoring).fit(X, y)

    for scoring in (
        accuracy,
        make_scorer(lambda y, predicted: np.mean(y == predicted)),
    ):
        with pytest.raises(TypeError, match="sample_weight"):
            EntmaxClassifierCV(cv=2, scoring=scoring).fit(X, y, sample_weight=weight)
        with pytest.raises(TypeError, match="sample_weight"):
            fitted(scoring).score(X, y, sample_weight=weight)
    with config_context(enable_metadata_routing=True):
        for scorer in (get_scorer("accuracy"), BrierScorer()):
            model = fitted(scorer.set_score_request(sample_weight=False))
            with pytest.raises(TypeError, match=r"sample_weight.*not routed"):
                model.score(X, y, sample_weight=weight)
            model = fitted(scorer.set_score_request(sample_weight=True))
            assert model.score(X, y, sample_weight=weight) != model.score(X, y)
        model = fitted(None)
        expected = accuracy_score(y, model.predict(X), sample_weight=weight)
        assert model.score(X, y, sample_weight=weight) == expected


@pytest.mark.parametrize("solver", ["auto", "lbfgs"])
def test_n_iter_counts_the_iterations_of_each_fit(solver):
    X, y = labels()
    model = EntmaxClassifierCV([1.5], [1], cv=FOLDS, solver=solver).fit(X, y)
    for (train, _), n_iter in zip(FOLDS.split(X), model.n_iter_[:, 0, 0], strict=True):
        one = EntmaxClassifier(1.5, C=1, solver=solver).fit(X[train], y[train])
        # Little data are fitted for all penalties together, by a plainer line search.
        assert abs(n_iter - one.n_iter_) <= (2 if solver == "auto" else 0)
        assert n_iter > 0
    whole = EntmaxClassifier(1.5, C=1, solver=solver).fit(X, y)
    assert model.history_["iteration"][-1] == whole.n_iter_
    every = EntmaxClassifierCV([2, 1], [1, 1 + 1e-9, 10], cv=FOLDS, solver=solver)
    n_iter = every.fit(X, y).n_iter_
    assert n_iter.shape == (3, 2, 3)
    assert (n_iter >= 0).all()
    # Where hardly anything changes, the solution before nearly does.
    assert solver == "auto" or (n_iter[:, 1, 1] <= 1).all()


def test_scorers_that_return_no_number():
    X, y = labels()
    for value in ({"a": 1.0}, "good", None, 1j, np.zeros(2), [0.5]):
        model = EntmaxClassifierCV(cv=2, scoring=lambda *args, value=value: value)
        with pytest.raises(ValueError, match=r"must return a number.*returned"):
            model.fit(X, y)
        assert not hasattr(model, "scores_")
    for value in (np.float32(0.5), np.array(0.5), True):
        model = EntmaxClassifierCV(
            [1], [1], cv=2, scoring=lambda *args, value=value: value
        ).fit(X, y)
        assert (model.scores_ == float(value)).all()


def test_pairs_with_a_score_that_is_not_a_number_are_not_chosen():
    X, y = labels()

    def score(model, X, y):
        # The best of all in other folds.
        undefined = model.alpha == 1 and model.C == 1 and y[0] == y_first
        return np.nan if undefined else float(model.alpha == 1) + model.C

    y_first = y[FOLDS.split(X).__next__()[1][0]]
    model = EntmaxClassifierCV([1, 2], [0.1, 1], cv=FOLDS, scoring=score)
    with pytest.warns(UserWarning, match=r"NaN for \d of the 12 fits; .*, 1 of 4, are"):
        model.fit(X, y)
    assert np.isnan(model.scores_[0, 0, 1])
    assert (model.alpha_, model.C_, model.best_score_) == (1, 0.1, 1.1)


def test_scorers_for_other_targets_than_distributions():
    X, y = KINDS["distribution"]()
    for scoring in ("accuracy", "neg_log_loss", "roc_auc_ovr", "r2"):
        model = EntmaxClassifierCV([1, 2], [1], cv=2, scoring=scoring)
        assert_refused(
            r"does not take distributions as y .*scoring=None, the Brier score; of .*"
            r"FenchelYoungScorer\(mapping\) or DistributionScorer",
            *(model.fit, X, y),
        )
    works = make_scorer(mean_squared_error, response_method="predict_proba")
    for scoring in (works, DistributionScorer("intersection"), None):
        EntmaxClassifierCV([1, 2], [1], cv=2, scoring=scoring).fit(X, y)


def test_groups_are_routed_to_the_splitter():
    X, y = labels()
    groups = np.arange(len(y)) // 10
    model = EntmaxClassifierCV([1, 2], [0.1, 1], cv=GroupKFold(3))
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        model.fit(X, y, groups=groups)
    by_hand = list(GroupKFold(3).split(X, y, groups))
    with config_context(enable_metadata_routing=True):
        model.fit(X, y, groups=groups)
        pipeline = make_pipeline(StandardScaler(), clone(model))
        pipeline.fit(X, y, groups=groups)
    expected = EntmaxClassifierCV([1, 2], [0.1, 1], cv=by_hand).fit(X, y)
    assert_array_equal(model.scores_, expected.scores_)


def test_bad_parameters_are_refused():
    for params, message in [
        ({"alphas": []}, r"alphas must be a list of one or more numbers.*got \[\]"),
        ({"alphas": [1, 0]}, r"alphas .* each positive; got \[1, 0\]"),
        ({"alphas": [np.inf]}, "alphas"),
        ({"alphas": [[1, 2]]}, "alphas"),
        ({"alphas": ["many"]}, "alphas"),
        ({"alphas": 1.5}, "'alphas' parameter"),
        ({"Cs": []}, "Cs must be a list"),
        ({"Cs": [1, 0]}, r"Cs .* each positive; got \[1, 0\]"),
        ({"Cs": [np.nan]}, "Cs"),
        ({"Cs": 0}, "'Cs' parameter"),
        ({"cv": 1}, "'cv' parameter"),
        ({"cv": []}, "cv must make one or more folds"),
        (
            {"cv": [([0, 1, 2], [3]), ([0, 1, 2], [])]},
            "cv must have rows.* fold 1 has 3 for the fit and 0 for the score",
        ),
        ({"cv": [([], [0, 1])]}, "fold 0 has 0 for the fit and 2 for the score"),
        (
            {"cv": [([0, 1, 2], [500])]},
            "cv must make pairs .* as numbers from 0 to .*500 is out of bounds",
        ),
        ({"cv": [(np.ones(3, bool), [0])]}, "cv must make pairs .* masks of all"),
        ({"cv": [1, 2, 3]}, r"cv must make pairs .*\. Fold 0 is no pair, but 1\."),
        ({"cv": [([0], [1]), [0, 1, 2]]}, r"Fold 1 is no pair, but \[0, 1, 2\]\."),
        ({"cv": [(0, 1)]}, "cv must make pairs .* Found an array with 0 axes"),
        ({"cv": [(None, [0])]}, "cv must make pairs .* Found an array with 2 axes"),
        ({"cv": KFold}, r"cv must be an object; got the class KFold. .* KFold\("),
        ({"cv": 1000}, "cv must make pairs .* n_splits=1000 greater than"),
        ({"cv": GroupKFold(2)}, "cv must make pairs .* 'groups' .* metadata routing"),
        ({"n_jobs": 0}, r"'n_jobs' parameter .* in the range \[1, inf\).* Got 0"),
        ({"n_jobs": "all"}, "'n_jobs' parameter"),
        ({"scoring": "best"}, "'scoring' parameter"),
        ({"scoring": BrierScorer}, r"the class BrierScorer. .* BrierScorer\(\.\.\.\)"),
        ({"scoring": f1_score}, r"scoring must be .* got f1_score\(y_true, y_pred"),
        ({"refit": "yes"}, "'refit' parameter"),
    ]:
        assert_refused(message, EntmaxClassifierCV(**params).fit, *labels())


@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
def test_little_data_has_fewer_folds():
    X, y = labels()
    rows = np.concatenate([np.flatnonzero(y == k)[:n] for k, n in enumerate([3, 3, 2])])
    sets = label_sets()[1][:4]
    for features, target, folds in [
        (X[rows], y[rows], StratifiedKFold(3)),
        (X[:4], sets, KFold(4)),
    ]:
        default, given = (
            EntmaxClassifierCV([1, 2], [0.1, 1], cv=cv).fit(features, target)
            for cv in (None, folds)
        )
        assert_array_equal(default.scores_, given.scores_)
    one_each = [np.flatnonzero(y == k)[0] for k in range(3)]
    message = "y must have two or more rows of some class .*cv=None.*got one row of"
    assert_refused(message, EntmaxClassifierCV().fit, X[one_each], y[one_each])
    message = "y must have two or more rows .*cv=None.*got one row"
    assert_refused(message, EntmaxClassifierCV().fit, X[:1], sets[:1])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@since_1_9
@pytest.mark.parametrize("scoring", ["neg_brier_score", "f1_macro", None])
def test_a_fold_without_a_class_is_scored_as_by_LogisticRegressionCV(scoring):
    """As in LogisticRegressionCV: it is a class of every model, and of the score."""
    X, y = labels()
    order = np.argsort(y, kind="stable")
    X, y = X[order], np.array(["a", "b", "c"])[y[order]]
    # The first fold is fitted without rows of one class; the last has two others.
    folds = [(np.arange(24, 60), np.arange(24)), (np.arange(0, 60, 2), np.arange(50))]
    theirs = LogisticRegressionCV(
        Cs=[0.1, 1],
        cv=folds,
        scoring=scoring or "neg_brier_score",
        tol=1e-9,
        max_iter=10_000,
        use_legacy_attributes=False,
        l1_ratios=(0,),
    ).fit(X, y)
    ours = EntmaxClassifierCV([1, 2], [0.1, 1], cv=folds, scoring=scoring, tol=1e-7)
    ours.fit(X, y)
    assert len(set(y[24:])) == 2
    assert_allclose(ours.scores_[:, 0], theirs.scores_[:, 0], atol=1e-3)
    coef = theirs.coefs_paths_[:, 0, :, :, :4]
    assert_allclose(ours.coefs_paths_[:, 0], coef, atol=1e-3)
    assert np.isfinite(ours.coefs_paths_).all()
    assert_array_equal(ours.classes_, ["a", "b", "c"])


def test_a_fold_with_one_class_is_fitted():
    X, y = labels(2)
    folds = [(np.flatnonzero(y == 0), np.flatnonzero(y == 1))]
    model = EntmaxClassifierCV([1, 2], [1], cv=folds, class_weight="balanced")
    assert (model.fit(X, y).scores_ < -1.5).all()
    accuracy = clone(model).set_params(scoring="accuracy").fit(X, y)
    assert_array_equal(accuracy.scores_, 0)


def test_rows_without_a_label_are_counted_once():
    X, y = label_sets()
    y[:5] = 0
    model = EntmaxClassifierCV([1, 2], [1], cv=FOLDS, none_class=False)
    with pytest.warns(UserWarning, match="5 of 60 rows have no label") as record:
        model.fit(X, y)
    assert len(record) == 1


def test_fits_that_do_not_converge_are_counted():
    X, y = labels()
    model = EntmaxClassifierCV([1, 2], [10, 100], cv=2, max_iter=1, refit=False)
    with pytest.warns(ConvergenceWarning, match="8 of the 8 fits of the search"):
        model.fit(X, y)


@needs_callbacks
def test_callbacks_see_fits_and_the_refit(capsys):
    from sklearn.callback import ProgressBar

    X, y = labels()
    recorder = Recorder()
    model = EntmaxClassifierCV([1, 2], [0.1, 1], cv=3).set_callbacks(recorder)
    model.fit(X, y)
    fits = ["begin candidate", "end candidate"] * 12
    refit = ["begin refit", "end refit"]
    assert recorder.events == [
        *("setup", "begin fit"),
        *(*fits, *refit),
        *("end fit", "teardown"),
    ]
    model.set_callbacks(ProgressBar()).fit(X, y)
    assert "EntmaxClassifierCV - fit" in capsys.readouterr().out


@pytest.mark.parametrize("asks", [None, False, True])
def test_scorers_need_not_request_choice_sets(asks):
    """The models that are scored have the choice sets of their rows."""
    X, y = labels()
    n_classes = len(np.unique(y))
    available = np.random.default_rng(0).random((len(y), n_classes)) < 0.7
    available[np.arange(len(y)), np.unique(y, return_inverse=True)[1]] = True
    search = EntmaxClassifierCV(ALPHAS, STRENGTHS, cv=FOLDS, scoring=BrierScorer())
    expected = clone(search).fit(X, y, available=available)
    score = expected.score(X, y, available=available)
    with config_context(enable_metadata_routing=True):
        scorer = BrierScorer().set_score_request(available=asks)
        search.set_params(scoring=scorer).fit(X, y, available=available)
        assert_array_equal(search.scores_, expected.scores_)
        assert search.score(X, y, available=available) == score
