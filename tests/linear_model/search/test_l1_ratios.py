"""Searches over l1_ratio, along paths that start where all coefficients are zero."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GridSearchCV, KFold

from skprob import (
    EntmaxClassifier,
    EntmaxClassifierCV,
    PerturbMaxClassifier,
    PerturbMaxClassifierCV,
)
from skprob.inspection import coefficient_table
from skprob.linear_model import smallest_C
from skprob.metrics import BrierScorer

from ...versions import since_1_9
from ..assertions import assert_refused
from ..data_sets import KINDS, labels

FOLDS = KFold(2, shuffle=True, random_state=0)
RATIOS, STRENGTHS = [1.0, 0.0, 0.4], [0.5, 0.03, 3.0]


def searched(search, single, grid, X, y, **params):
    """A search over a grid, and scikit-learn's over single fits."""
    options = {"cv": FOLDS, "scoring": BrierScorer()}
    ours = search(*grid[:2], l1_ratios=grid[2], **options, **params).fit(X, y)
    names = [search._parameter, "C", "l1_ratio"]
    grid = dict(zip(names, grid, strict=True))
    return ours, GridSearchCV(single(**params), grid, **options).fit(X, y)


def scores_of_grid(theirs, ours):
    """Scores of a GridSearchCV in the order of those of a search."""
    names = [type(ours)._parameter, "l1_ratio", "C"]
    scores = np.empty_like(ours.scores_)
    values = [theirs.param_grid[name] for name in names]
    for number, params in enumerate(theirs.cv_results_["params"]):
        place = [list(v).index(params[n]) for n, v in zip(names, values, strict=True)]
        for fold in range(len(scores)):
            score = theirs.cv_results_[f"split{fold}_test_score"][number]
            scores[fold, *place] = score
    return scores


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("class", {"select": "features", "penalty_factors": [1, 0, np.inf, 2]}),
        ("label_set", {"threshold": 0.2}),
        ("distribution", {"class_weight": {0: 2.0}}),
    ],
)
def test_the_same_answer_as_a_grid_search(kind, params):
    X, y = KINDS[kind]()
    if kind == "distribution":
        X = csr_array(X)
    alphas = [2, 1] if kind == "class" else [1.5]
    grid = alphas, STRENGTHS, RATIOS
    about = {"tol": 1e-8, **params}
    ours, theirs = searched(EntmaxClassifierCV, EntmaxClassifier, grid, X, y, **about)
    assert_allclose(ours.scores_, scores_of_grid(theirs, ours), atol=1e-6)
    chosen = {"alpha": ours.alpha_, "C": ours.C_, "l1_ratio": ours.l1_ratio_}
    assert chosen == theirs.best_params_
    best = theirs.best_estimator_
    assert_allclose(ours.coef_, best.coef_, atol=1e-7)
    assert_allclose(ours.predict_proba(X), best.predict_proba(X), atol=1e-7)
    assert ours.n_iter_.shape == ours.scores_.shape == (2, len(alphas), 3, 3)
    assert ours.Cs_.shape == (len(alphas), 3, 3)
    assert_array_equal(ours.l1_ratios_, RATIOS)
    # The strongest lasso leaves coefficients out, the ridge penalty none.
    is_zero = ours.coefs_paths_[..., [0, 3]] == 0
    assert is_zero[:, :, 0, 1].all() and not is_zero[:, :, 1].any()


def test_noises_have_the_same_answer_as_a_grid_search():
    X, y = labels(2)
    grid = ["normal", "uniform"], [0.3, 0.05], [0.5, 1.0]
    about = {"tol": 1e-8, "fit_intercept": False}
    search, single = PerturbMaxClassifierCV, PerturbMaxClassifier
    ours, theirs = searched(search, single, grid, X, y, **about)
    assert_allclose(ours.scores_, scores_of_grid(theirs, ours), atol=1e-6)
    assert ours.coefs_paths_.shape == (2, 2, 2, 2, 1, 4)
    best = theirs.best_params_
    assert (ours.noise_, ours.C_, ours.l1_ratio_) == (
        *(best[name] for name in ("noise", "C", "l1_ratio")),
    )


@since_1_9
@pytest.mark.parametrize("n_classes", [2, 3])
def test_softmax_is_LogisticRegressionCV(n_classes):
    X, y = labels(n_classes)
    # At these C all models have coefficients, without which saga stops too soon.
    options = {"Cs": [0.4, 3.0], "l1_ratios": [0.0, 0.5, 1.0], "cv": FOLDS}
    options["scoring"] = "neg_log_loss"
    theirs = LogisticRegressionCV(
        **options,
        solver="saga",
        tol=1e-9,
        max_iter=10**5,
        use_legacy_attributes=False,
    ).fit(X, y)
    ours = EntmaxClassifierCV([1], tol=1e-8, **options).fit(X, y)
    assert_allclose(ours.scores_[:, 0], theirs.scores_, atol=1e-6)
    coefs = theirs.coefs_paths_[..., :4]
    assert_allclose(ours.coefs_paths_[:, 0], coefs, atol=1e-5)
    assert (ours.C_, ours.l1_ratio_) == (theirs.C_, theirs.l1_ratio_)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert (coefs == 0).any()


def test_one_ratio_of_zero_is_the_search_without_ratios():
    X, y = labels()
    plain = EntmaxClassifierCV([1, 2], 3, cv=FOLDS).fit(X, y)
    ridge = clone(plain).set_params(l1_ratios=[0]).fit(X, y)
    for name in ("scores_", "coefs_paths_", "intercepts_paths_", "n_iter_"):
        assert_array_equal(getattr(ridge, name)[:, :, 0], getattr(plain, name))
    assert_array_equal(ridge.Cs_[:, 0], plain.Cs_)
    assert_array_equal(ridge.coef_, plain.coef_)
    assert ridge.l1_ratio_ == 0
    assert not hasattr(plain, "l1_ratio_") and not hasattr(plain, "l1_ratios_")


@pytest.mark.parametrize("select", ["coefficients", "features"])
def test_a_number_of_Cs_begins_where_all_coefficients_are_zero(select):
    X, y = labels()
    X = 100 * X + 5
    weight = np.linspace(0.1, 2, len(y))
    search = EntmaxClassifierCV(
        [1.5, 1], 5, l1_ratios=[0, 0.2, 1], select=select, cv=FOLDS, tol=1e-6
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.fit(X, y, sample_weight=weight)
    for i, alpha in enumerate([1.5, 1]):
        single = EntmaxClassifier(alpha, l1_ratio=0.2, select=select, tol=1e-6)
        first = smallest_C(single, X, y, weight)
        assert_allclose(search.Cs_[i, 1], first * np.logspace(0, 4, 5), rtol=1e-9)
        assert_allclose(search.Cs_[i, 2], 5 * search.Cs_[i, 1], rtol=1e-9)
        # The ridge penalty has no such C.
        assert_allclose(search.Cs_[i, 0], 3 ** (1 - alpha) * np.logspace(-4, 4, 5))
    whole = EntmaxClassifierCV(
        [1], 3, l1_ratios=[0.7], select=select, cv=[(np.arange(60), np.arange(60))]
    ).fit(X, y)
    assert not whole.coefs_paths_[0, 0, 0, 0].any()
    assert whole.coefs_paths_[0, 0, 0, 1:].any(axis=(1, 2)).all()


def test_models_without_a_coefficient_are_models():
    X, y = labels()
    search = EntmaxClassifierCV([1, 2], [1e-6, 1e-4], l1_ratios=[0.5, 1], cv=FOLDS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.fit(X, y)
    assert not search.coefs_paths_.any() and not search.coef_.any()
    # All are the same: the least C, and of the ratios the largest.
    assert (search.C_, search.l1_ratio_, search.alpha_) == (1e-6, 1.0, 1.0)
    shares = np.bincount(y) / len(y)
    assert_allclose(search.predict_proba(X[:1])[0], shares, atol=1e-4)
    # A constant feature never enters.
    flat = clone(search).set_params(Cs=2).fit(np.ones((60, 1)), y)
    assert not flat.coefs_paths_.any()


def test_without_a_penalty_the_ratio_makes_no_difference():
    X, y = labels(n_samples=150)
    search = EntmaxClassifierCV(
        [2, 1], [np.inf, 0.5], l1_ratios=[0, 1], cv=FOLDS, tol=1e-8
    ).fit(X, y)
    for fold, (train, _) in enumerate(FOLDS.split(X)):
        for i, alpha in enumerate([2, 1]):
            one = EntmaxClassifier(alpha, C=np.inf, tol=1e-8).fit(X[train], y[train])
            for ratio in range(2):
                coef = search.coefs_paths_[fold, i, ratio, 0]
                assert_allclose(coef, one.coef_, atol=1e-5)
    none = clone(search).set_params(Cs=[np.inf]).fit(X, y)
    assert_allclose(none.scores_[..., 0], search.scores_[..., 0], atol=1e-6)
    assert none.l1_ratio_ == 1


def test_factors_by_name_reach_the_refit():
    X, y = labels()
    X = pd.DataFrame(X, columns=list("abcd"))
    search = EntmaxClassifierCV(
        [1.5], [0.05, 1.0], l1_ratios=[1], cv=FOLDS, penalty_factors={"b": np.inf}
    ).fit(X, y)
    assert not search.coefs_paths_[..., 1].any() and not search.coef_[:, 1].any()
    assert search.coef_[:, 0].any()
    ridge = clone(search).set_params(l1_ratios=None).fit(X, y)
    assert not ridge.coef_[:, 1].any() and ridge.coef_[:, [0, 2, 3]].all()
    by_number = clone(search).set_params(penalty_factors=[1, np.inf, 1, 1])
    assert_array_equal(by_number.fit(X, y).coef_, search.coef_)
    softmax = clone(search).set_params(alphas=[1]).fit(X, y)
    with pytest.warns(UserWarning, match="l1_ratio=1.* standard errors after"):
        table = coefficient_table(softmax, X, y)
    assert "b" not in {row.feature for row in table}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"l1_ratios": []}, r"l1_ratios must be a list of one or more numbers.*\[\]"),
        ({"l1_ratios": [0, 1.5]}, r"l1_ratios .* each from 0 to 1; got \[0, 1.5\]"),
        ({"l1_ratios": [-0.1]}, "l1_ratios"),
        ({"l1_ratios": [np.nan]}, "l1_ratios"),
        ({"l1_ratios": ["half"]}, "l1_ratios"),
        ({"l1_ratios": [[0, 1]]}, "l1_ratios"),
        ({"l1_ratios": 0.5}, "'l1_ratios' parameter"),
        ({"l1_ratios": [0, 0.5], "cv": "loo"}, "cv='loo' needs the ridge penalty"),
        ({"select": "rows"}, "'select' parameter"),
        ({"penalty_factors": [1, 1]}, "penalty_factors must have one number for each"),
        ({"penalty_factors": {"a": 1}}, "penalty_factors can be a dict only where"),
        ({"penalty_factors": [1, 1, 1, -1]}, "penalty_factors must not be negative"),
        ({"penalty_factors": np.full(4, 1 + 1j)}, "penalty_factors must be real"),
        ({"penalty_factors": [np.inf] * 4}, "penalty_factors must be finite"),
    ],
)
def test_bad_parameters_are_refused(params, message):
    assert_refused(message, EntmaxClassifierCV(**params).fit, *labels())
    assert_refused(message, PerturbMaxClassifierCV(**params).fit, *labels())
