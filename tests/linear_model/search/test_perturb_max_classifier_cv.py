"""PerturbMaxClassifierCV finds what scikit-learn's search over single fits finds."""

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from skprob import EntmaxClassifierCV, PerturbMaxClassifier, PerturbMaxClassifierCV
from skprob.metrics import BrierScorer

from ..assertions import assert_refused
from ..data_sets import choices, labels

X, Y, AVAILABLE = choices()
FOLDS = KFold(2, shuffle=True, random_state=0)
STRENGTHS = [10.0, 0.1]


@pytest.mark.parametrize(
    ("noises", "loss"),
    [(["normal", stats.logistic()], "auto"), (["cauchy", "normal"], "log")],
)
def test_the_same_answer_as_a_grid_search(noises, loss):
    X, y = labels(n_samples=30)
    options = {"loss": loss, "tol": 1e-7, "fit_intercept": loss == "log"}
    ours = PerturbMaxClassifierCV(
        noises, STRENGTHS, cv=FOLDS, scoring=BrierScorer(), **options
    ).fit(X, y)
    theirs = GridSearchCV(
        PerturbMaxClassifier(**options),
        {"C": STRENGTHS, "noise": noises},
        cv=FOLDS,
        scoring=BrierScorer(),
    ).fit(X, y)
    splits = [theirs.cv_results_[f"split{i}_test_score"] for i in range(2)]
    expected = np.reshape(splits, (2, 2, len(noises))).transpose(0, 2, 1)
    assert_allclose(ours.scores_, expected, atol=1e-5)
    assert (ours.noise_, ours.C_) == tuple(
        theirs.best_params_[name] for name in ("noise", "C")
    )
    assert_allclose(ours.coef_, theirs.best_estimator_.coef_, atol=1e-5)
    assert ours.noises_ == noises
    assert ours.coefs_paths_.shape == (2, len(noises), 2, 3, 4)
    assert ours.n_iter_.shape == ours.scores_.shape
    assert_allclose(
        ours.predict_proba(X), theirs.best_estimator_.predict_proba(X), atol=1e-5
    )
    assert_array_equal(ours.Cs_, [STRENGTHS] * len(noises))


def test_gumbel_noise_is_the_search_over_softmax():
    """And what both classes share: units of C, choice sets, weights, a second job."""
    weight = np.linspace(0.5, 2, len(Y))
    search = PerturbMaxClassifierCV(["gumbel"], 3, cv=FOLDS, tol=1e-8, n_jobs=2)
    with parallel_config(backend="threading"):
        search.fit(X, Y, sample_weight=weight, available=AVAILABLE)
    softmax = EntmaxClassifierCV([1], 3, cv=FOLDS, tol=1e-8)
    softmax.fit(X, Y, sample_weight=weight, available=AVAILABLE)
    assert_allclose(search.Cs_, softmax.Cs_, rtol=1e-9)
    assert_array_equal(search.scores_, softmax.scores_)
    assert_allclose(search.coefs_paths_, softmax.coefs_paths_, atol=1e-5)
    assert_array_equal(search.n_iter_, softmax.n_iter_)
    p = search.predict_proba(X, available=AVAILABLE)
    expected = softmax.predict_proba(X, available=AVAILABLE)
    assert_allclose(p, expected, atol=1e-5)
    assert search.score(X, Y, available=AVAILABLE) == np.mean(
        search.predict(X, available=AVAILABLE) == Y
    )


def test_of_equal_scores_the_least_C_and_then_the_first_noise():
    X, y = labels()
    for noises in (["normal", "gumbel"], ["gumbel", "normal"]):
        model = PerturbMaxClassifierCV(
            noises, STRENGTHS, cv=2, scoring=lambda model, X, y: 1.0, refit=False
        ).fit(X, y)
        assert (model.noise_, model.C_) == (noises[0], 0.1)


def test_bad_noises_are_refused():
    search = PerturbMaxClassifierCV()
    for noises, message in (
        ([], r"noises must hold one or more; got \[\]"),
        (["normal", "gauss"], "noise must be one of the names.*'gauss'"),
        ([None], "noise must be a name or a distribution"),
        ("normal", "'noises' parameter .* must be an array-like"),
        (3, "'noises' parameter"),
    ):
        model = clone(search).set_params(noises=noises)
        assert_refused(message, model.fit, *labels())
    assert_refused("loss", clone(search).set_params(loss="accuracy").fit, *labels())
    # No mean, no Fenchel-Young loss.
    model = PerturbMaxClassifierCV(["cauchy"], loss="fenchel_young")
    assert_refused("LogLoss", model.fit, *labels())
