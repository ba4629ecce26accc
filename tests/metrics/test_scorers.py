"""Scorers, for the three kinds of target, in scikit-learn's tools."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import special
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import (
    EntmaxClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.decision import ConformalSets
from skprob.metrics import (
    BrierScorer,
    DistributionScorer,
    FenchelYoungScorer,
    PrecisionAtKScorer,
    PropensityScoredPrecisionAtKScorer,
    SetCoverageScorer,
    SetSizeScorer,
    SupportSizeScorer,
    fenchel_young_loss,
)

X, CODES = load_iris(return_X_y=True)
Y = np.array(["setosa", "versicolor", "virginica"])[CODES]
SCORERS = {
    "brier": BrierScorer(),
    "matching": FenchelYoungScorer(),
    "logistic": FenchelYoungScorer("softmax"),
    "support": SupportSizeScorer(),
}


def fenchel_young(alpha, scores, p, Q):
    """Loss of each row by its definition, Ω(q) - Ω(p) + ⟨p - q, z⟩."""

    def omega(rows):
        if alpha == 1:
            return special.xlogy(rows, rows).sum(axis=1)
        return ((rows**alpha).sum(axis=1) - 1) / (alpha * (alpha - 1))

    return omega(Q) - omega(p) + ((p - Q) * scores).sum(axis=1)


def targets():
    sets = make_multilabel_classification(
        150, n_features=4, n_classes=3, allow_unlabeled=False, random_state=0
    )
    distributions = np.random.default_rng(0).dirichlet(np.ones(3), size=150)
    return {"class": (X, Y), "label_set": sets, "distribution": (X, distributions)}


@pytest.mark.parametrize(
    ("kind", "alpha"),
    [("class", 1), ("class", 2), ("label_set", 1.5), ("distribution", 1.5)],
)
def test_scores_of_folds_are_those_of_the_definitions(kind, alpha):
    X, y = targets()[kind]
    result = cross_validate(
        make_pipeline(StandardScaler(), EntmaxClassifier(alpha)),
        X,
        y,
        cv=KFold(3, shuffle=True, random_state=0),
        scoring=SCORERS,
        return_estimator=True,
        return_indices=True,
    )
    for i, (model, rows) in enumerate(
        zip(result["estimator"], result["indices"]["test"], strict=True)
    ):
        p = model.predict_proba(X[rows])
        Q = (
            np.eye(3)[CODES[rows]]
            if kind == "class"
            else y[rows] / y[rows].sum(axis=1, keepdims=True)
        )
        assert_allclose(result["test_brier"][i], -np.square(p - Q).sum(axis=1).mean())
        assert_allclose(result["test_support"][i], (p > 0).sum(axis=1).mean())
        scores = model.decision_function(X[rows])
        log_p = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        log_q = np.log(np.where(Q > 0, Q, 1))
        divergence = (Q * (log_q - log_p)).sum(axis=1).mean()
        assert_allclose(result["test_logistic"][i], -divergence, rtol=1e-6)
        matching = fenchel_young(alpha, scores, p, Q).mean()
        assert_allclose(result["test_matching"][i], -matching, rtol=1e-9)


def test_folds_may_lack_a_class():
    # Test folds of one class each, sorted by label.
    model = SparsemaxClassifier().fit(X, Y)
    for label in np.unique(Y):
        rows = label == Y
        p = model.predict_proba(X[rows])
        true = p[:, list(model.classes_).index(label)]
        expected = (1 - true) ** 2 + np.square(p).sum(axis=1) - true**2
        assert_allclose(BrierScorer()(model, X[rows], Y[rows]), -expected.mean())
        Q = np.eye(3)[CODES[rows]]
        losses = fenchel_young(2, model.decision_function(X[rows]), p, Q)
        score = FenchelYoungScorer()(model, X[rows], Y[rows])
        assert_allclose(score, -losses.mean(), rtol=1e-9)
    result = cross_validate(
        model, X, Y, cv=KFold(10), scoring=SCORERS, error_score="raise"
    )
    for name in SCORERS:
        assert np.isfinite(result[f"test_{name}"]).all()


def test_it_is_finite_where_the_log_loss_is_not():
    model = SparsemaxClassifier(C=10).fit(X, CODES)
    wrong = (CODES + 1) % 3
    p = model.predict_proba(X)
    assert (p[np.arange(150), wrong] == 0).any()
    score = FenchelYoungScorer()(model, X, wrong)
    assert np.isfinite(score)
    assert score < FenchelYoungScorer()(model, X, CODES)


def test_scores_of_two_classes_are_those_of_scikit_learn():
    X2, y = X[50:], Y[50:]
    model = SoftmaxClassifier().fit(X2, y)
    p = model.predict_proba(X2)
    assert_allclose(-FenchelYoungScorer()(model, X2, y), log_loss(y, p))
    brier = brier_score_loss(y, p[:, 1], pos_label="virginica")
    assert_allclose(-BrierScorer()(model, X2, y), 2 * brier)


def test_scorers_take_classifiers_of_scikit_learn():
    model = LogisticRegression(max_iter=1000).fit(X, Y)
    p = model.predict_proba(X)
    assert_allclose(-BrierScorer()(model, X, Y), brier_score_loss(Y, p))
    assert_allclose(-FenchelYoungScorer("softmax")(model, X, Y), log_loss(Y, p))
    assert SupportSizeScorer()(model, X) == 3
    dummy = DummyClassifier(strategy="most_frequent").fit(X, Y)
    assert SupportSizeScorer()(dummy, X, Y) == 1
    with pytest.raises(
        ValueError, match=r"no mapping.*FenchelYoungScorer\('softmax'\)"
    ):
        FenchelYoungScorer()(model, X, Y)
    for scorer in FenchelYoungScorer(), FenchelYoungScorer("softmax"):
        with pytest.raises(ValueError, match=r"decision_function.*DummyClassifier has"):
            scorer(dummy, X, Y)


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame])
def test_scorers_take_chains_of_scikit_learn(container):
    X, sets = make_multilabel_classification(60, random_state=0)
    # Its classes_ are a list with the values 0 and 1 of each label.
    model = ClassifierChain(LogisticRegression()).fit(X, sets)
    z = model.decision_function(X)
    losses = (np.logaddexp(0, z) - sets * z).sum(axis=1)
    score = FenchelYoungScorer("sigmoid")(model, X, container(sets))
    assert_allclose(-score, losses.mean())


def test_the_mapping_of_the_model_inside_pipelines_and_searches():
    pipeline = make_pipeline(StandardScaler(), EntmaxClassifier())
    search = GridSearchCV(
        pipeline,
        {"entmaxclassifier__alpha": [1.25, 2]},
        scoring=FenchelYoungScorer(),
        cv=3,
    ).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    expected = fenchel_young_loss(
        Y, search.decision_function(X), mapping=search.best_estimator_[-1].mapping_
    )
    assert_allclose(FenchelYoungScorer()(search, X, Y), -expected)


def test_copies_score_the_same_and_weights_repeat_rows():
    model = EntmaxClassifier().fit(X, Y)
    weight = np.random.default_rng(0).integers(0, 3, size=150)
    for scorer in SCORERS.values():
        repeated = scorer(model, X.repeat(weight, axis=0), Y.repeat(weight))
        for copy in (scorer, clone(scorer), pickle.loads(pickle.dumps(scorer))):
            assert repr(copy) == repr(scorer)
            assert_allclose(copy(model, X, Y, sample_weight=weight), repeated)


def test_weights_of_sets_and_ranks_repeat_rows():
    sets = np.column_stack([CODES == 1, X[:, 0] > 5.8, X[:, 1] > 3]).astype(int)
    model = SigmoidClassifier().fit(X, sets)
    weight = np.where(CODES == 1, 4, np.arange(150) % 2)
    for scorer in (
        PrecisionAtKScorer(2),
        PropensityScoredPrecisionAtKScorer([0.2, 0.5, 0.9], k=2),
        SetCoverageScorer(),
        SetSizeScorer(),
    ):
        repeated = scorer(model, X.repeat(weight, axis=0), sets.repeat(weight, axis=0))
        assert scorer(model, X, sets) != pytest.approx(repeated, rel=1e-3)
        assert scorer(model, X, sets, sample_weight=weight) == pytest.approx(repeated)


def test_weights_are_routed_to_the_scorers_that_ask():
    weight = np.where(CODES == 1, 10.0, 1.0)
    with config_context(enable_metadata_routing=True):
        scorers = {
            "asks": BrierScorer().set_score_request(sample_weight=True),
            "declines": BrierScorer().set_score_request(sample_weight=False),
        }
        result = cross_validate(
            EntmaxClassifier().set_fit_request(sample_weight=False),
            X,
            Y,
            params={"sample_weight": weight},
            scoring=scorers,
            cv=3,
            return_estimator=True,
            return_indices=True,
        )
    for i, rows in enumerate(result["indices"]["test"]):
        model = result["estimator"][i]
        plain = BrierScorer()(model, X[rows], Y[rows])
        weighted = BrierScorer()(model, X[rows], Y[rows], weight[rows])
        assert plain != weighted
        assert_allclose(result["test_declines"][i], plain)
        assert_allclose(result["test_asks"][i], weighted)


def rows_with_choice_sets():
    rng = np.random.default_rng(0)
    features, offset = rng.normal(size=(150, 4)), 3 * rng.normal(size=(150, 3))
    available = rng.random((150, 3)) < 0.6
    available[np.arange(150), rng.integers(3, size=150)] = True
    scores = np.where(available, offset + rng.gumbel(size=(150, 3)), -np.inf)
    return features, scores.argmax(axis=1), {"available": available, "offset": offset}


def scores_by_hand(y, p, z, available):
    """From probabilities and scores, each as its formula has it."""
    true, hit = np.eye(3)[y], np.argsort(-p, axis=1)[:, 0] == y
    with np.errstate(divide="ignore"):
        log_sum = np.log(np.exp(z).sum(axis=1))
    return {
        FenchelYoungScorer(): -(log_sum - z[np.arange(len(y)), y]).mean(),
        BrierScorer(): -((p - true) ** 2).sum(axis=1).mean(),
        SupportSizeScorer(): available.sum(axis=1).mean(),
        PrecisionAtKScorer(): hit.mean(),
        PropensityScoredPrecisionAtKScorer([0.5, 0.5, 0.5]): hit.mean(),
    }


def test_choice_sets_and_offsets_reach_the_predictions():
    features, y, arguments = rows_with_choice_sets()
    plain = SoftmaxClassifier().fit(features, y, **arguments)
    z = plain.coef_ @ features.T + plain.intercept_[:, None]
    z = np.where(arguments["available"], z.T + arguments["offset"], -np.inf)
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    name = "softmaxclassifier__"
    piped = make_pipeline(SoftmaxClassifier()).fit(
        features, y, **{name + key: array for key, array in arguments.items()}
    )
    search = GridSearchCV(SoftmaxClassifier(), {"C": [1.0]}, cv=3)
    search.set_params(error_score=0.0).fit(features, y, **arguments)
    for scorer, expected in scores_by_hand(y, p, z, arguments["available"]).items():
        for model in (plain, piped, search):
            score = scorer(model, features, y, **arguments)
            assert score == pytest.approx(expected, rel=1e-3), (scorer, model)
        assert scorer(plain, features, y) != pytest.approx(expected, rel=0.1)
    shares = np.random.default_rng(1).dirichlet(np.ones(3), size=150)
    shares *= arguments["available"]
    shares /= shares.sum(axis=1, keepdims=True)
    model = SoftmaxClassifier().fit(features, shares, **arguments)
    p = model.predict_proba(features, **arguments)
    score = DistributionScorer("chebyshev")(model, features, shares, **arguments)
    assert score == pytest.approx(-np.abs(p - shares).max(axis=1).mean())


def test_routed_choice_sets_of_sets_with_a_guarantee():
    features, y, arguments = rows_with_choice_sets()
    request = {"available": True, "offset": True}
    scorers = {"cover": SetCoverageScorer(), "size": SetSizeScorer()}
    with config_context(enable_metadata_routing=True):
        inner = SoftmaxClassifier().set_fit_request(**request)
        inner.set_decision_function_request(**request)
        for scorer in scorers.values():
            scorer.set_score_request(**request)
        result = cross_validate(
            ConformalSets(inner, coverage=0.8),
            features,
            y,
            params=arguments,
            scoring=scorers,
            cv=KFold(3),
            return_estimator=True,
            return_indices=True,
        )
        for i, rows in enumerate(result["indices"]["test"]):
            of_rows = {name: array[rows] for name, array in arguments.items()}
            sets = result["estimator"][i].predict_set(features[rows], **of_rows)
            covered = sets[np.arange(len(rows)), y[rows]].mean()
            assert result["test_cover"][i] == pytest.approx(covered)
            assert result["test_size"][i] == sets.sum(axis=1).mean()
            assert not sets[~arguments["available"][rows]].any()


def test_classifiers_without_probabilities_are_named():
    model = RidgeClassifier().fit(X, Y)
    for scorer in (BrierScorer(), SupportSizeScorer(), DistributionScorer("clark")):
        with pytest.raises(ValueError, match="must have predict_proba here; RidgeCl"):
            scorer(model, X, Y)
    pipeline = make_pipeline(StandardScaler(), model).fit(X, Y)
    with pytest.raises(ValueError, match="estimator must have predict_proba here"):
        BrierScorer()(pipeline, X, Y)
