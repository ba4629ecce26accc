"""scikit-learn's tools around the classifiers, compared with loops by hand."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.inspection import (
    DecisionBoundaryDisplay,
    partial_dependence,
    permutation_importance,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, brier_score_loss, f1_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    KFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    learning_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import (
    EntmaxClassifier,
    LinearClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.mappings import Entmax
from skprob.metrics import BrierScorer

from ..versions import since_1_8
from .data_sets import KINDS, distributions, label_sets

IRIS = load_iris(return_X_y=True)


def scaled(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def test_a_grid_in_two_processes():
    X, y = IRIS
    names = np.array(["setosa", "versicolor", "virginica"])
    alphas, Cs = [1, 1.5, 2], [0.1, 1.0]
    search = GridSearchCV(
        make_pipeline(StandardScaler(), EntmaxClassifier()),
        {"entmaxclassifier__alpha": alphas, "entmaxclassifier__C": Cs},
        n_jobs=2,
        scoring=BrierScorer(),
        cv=3,
    ).fit(X, names[y])
    results = search.cv_results_
    assert len(results["params"]) == 6
    best = search.best_params_
    # A loop by hand finds the same parameters.
    by_hand = {}
    for parameters in results["params"]:
        folds = []
        for train, test in StratifiedKFold(3).split(X, y):
            model = clone(search.estimator).set_params(**parameters)
            model.fit(X[train], y[train])
            difference = model.predict_proba(X[test]) - np.eye(3)[y[test]]
            folds.append(-np.square(difference).sum(axis=1).mean())
        by_hand[tuple(parameters.values())] = np.mean(folds)
    assert_allclose(results["mean_test_score"], list(by_hand.values()), atol=1e-6)
    assert tuple(best[name] for name in results["params"][0]) == max(
        by_hand, key=by_hand.get
    )
    assert search.best_estimator_[-1].mapping_.alpha == best["entmaxclassifier__alpha"]
    assert (search.predict(X) == names[y]).mean() > 0.94
    # Exact zeros come out of a search exactly where it chose a sparse mapping.
    assert (search.predict_proba(X) == 0).any() == (best["entmaxclassifier__alpha"] > 1)


def test_a_mappings_parameter_in_a_grid():
    X, y = IRIS
    model = LinearClassifier(mapping=Entmax(), C="auto")
    search = GridSearchCV(model, {"mapping__alpha": [1, 1.5, 2]}, cv=3).fit(X, y)
    reference = GridSearchCV(EntmaxClassifier(), {"alpha": [1, 1.5, 2]}, cv=3).fit(X, y)
    assert_allclose(
        search.cv_results_["mean_test_score"], reference.cv_results_["mean_test_score"]
    )
    assert model.mapping.alpha == 1.5  # The one that was given is untouched.


@pytest.mark.parametrize("kind", KINDS)
def test_a_grid_for_every_kind_of_target(kind):
    X, y = KINDS[kind]()
    grid = {"alpha": [1, 2], "C": [0.01, 1.0]}
    search = GridSearchCV(EntmaxClassifier(), grid, scoring=BrierScorer(), cv=3)
    search.fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_params_["C"] == 1.0
    assert search.best_score_ > search.cv_results_["mean_test_score"].min()


@pytest.mark.parametrize(
    "method", ["sigmoid", "isotonic", pytest.param("temperature", marks=since_1_8)]
)
def test_calibration(method):
    X, y = scaled(load_breast_cancer)
    # Hardly penalised: overconfident.
    model = SparsemaxClassifier(C=100, max_iter=10_000)
    calibrated = CalibratedClassifierCV(model, method=method, cv=3).fit(
        X[:400], y[:400]
    )
    p = calibrated.predict_proba(X[400:])
    assert_allclose(p.sum(axis=1), 1)
    plain = model.fit(X[:400], y[:400]).predict_proba(X[400:])
    assert brier_score_loss(y[400:], p[:, 1]) < brier_score_loss(y[400:], plain[:, 1])


def test_cross_val_predict_of_probabilities(sample_classifier):
    X, y = IRIS
    p = cross_val_predict(sample_classifier, X, y, cv=3, method="predict_proba")
    assert p.shape == (150, 3)
    assert_allclose(p.sum(axis=1), 1)
    # Seen from the origin, the raw irises lie in nearly one direction.
    least = 0.6 if sample_classifier.similarity == "cosine" else 0.85
    assert (p.argmax(axis=1) == y).mean() > least
    train, test = next(StratifiedKFold(3).split(X, y))
    assert_allclose(
        p[test], clone(sample_classifier).fit(X[train], y[train]).predict_proba(X[test])
    )


OF_PROBABILITIES = ["predict_proba", "predict_log_proba", "decision_function"]


@pytest.mark.parametrize("method", OF_PROBABILITIES)
def test_cross_val_predict_of_shares(method):
    """scikit-learn would encode the columns of y, but not a parameter of fit."""
    X, D = distributions()
    folds = KFold(3, shuffle=True, random_state=0)
    expected = np.empty(D.shape)
    for train, test in folds.split(X):
        model = SoftmaxClassifier().fit(X[train], D[train])
        expected[test] = getattr(model, method)(X[test])
    names = pd.DataFrame(D, columns=["a", "b", "c"])
    for model in SoftmaxClassifier(), make_pipeline("passthrough", SoftmaxClassifier()):
        for y in D, names:
            options = {"params": {"y": y}, "cv": folds, "method": method}
            predictions = cross_val_predict(model, X, **options)
            assert_allclose(predictions, expected, rtol=1e-10)
    for target_type in "auto", "distribution", "label_set":
        model = SoftmaxClassifier(target_type=target_type)
        with pytest.raises(ValueError, match=r"give it params=\{'y': y\} in place"):
            cross_val_predict(model, X, D, cv=folds, method=method)
    # The advice is for matrices of whole numbers only.
    with pytest.raises(ValueError, match="sum to one") as error:
        SoftmaxClassifier().fit(X, 2 * D)
    assert "cross_val_predict" not in str(error.value)


def test_cross_val_predict_of_label_sets():
    X, Y = label_sets()
    Y[:, 1] = 1
    options = {"cv": 3, "method": "predict_proba"}
    p = cross_val_predict(EntmaxClassifier(), X, params={"y": Y}, **options)
    for train, test in KFold(3).split(X):
        expected = EntmaxClassifier().fit(X[train], Y[train]).predict_proba(X[test])
        assert_array_equal(p[test], expected)
    assert (p[:, 1] > 0.1).all()
    predicted = cross_val_predict(EntmaxClassifier(threshold=0.2), X, Y, cv=3)
    assert f1_score(Y, predicted, average="micro") > 0.7


def test_one_against_rest_and_one_against_one():
    X, y = scaled(load_wine)
    one_vs_rest = OneVsRestClassifier(SparsemaxClassifier()).fit(X, y)
    for k, binary in enumerate(one_vs_rest.estimators_):
        reference = SparsemaxClassifier().fit(X, (y == k).astype(int))
        assert_array_equal(binary.coef_, reference.coef_)
    assert one_vs_rest.score(X, y) > 0.95
    assert OneVsOneClassifier(EntmaxClassifier()).fit(X, y).score(X, y) > 0.95


def test_one_against_rest_for_label_sets():
    X, Y = label_sets()
    model = OneVsRestClassifier(EntmaxClassifier()).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert f1_score(Y, model.predict(X), average="micro") > 0.8


def test_stacking_and_voting():
    X, y = scaled(load_wine)
    members = [("sparse", SparsemaxClassifier()), ("soft", EntmaxClassifier(1))]
    stack = StackingClassifier(members, final_estimator=EntmaxClassifier(), cv=3)
    assert stack.fit(X, y).score(X, y) > 0.95
    assert stack.final_estimator_.n_features_in_ == 6
    vote = VotingClassifier(members, voting="soft").fit(X, y)
    mean = np.mean([m.predict_proba(X) for m in vote.estimators_], axis=0)
    assert_allclose(vote.predict_proba(X), mean)


def test_bagging():
    X, y = scaled(load_wine)
    model = BaggingClassifier(EntmaxClassifier(), n_estimators=3, random_state=0)
    assert model.fit(X, y).score(X, y) > 0.95
    p = model.predict_proba(X)
    assert_allclose(p.sum(axis=1), 1)


@pytest.mark.parametrize("method", ["predict_proba", "decision_function", "predict"])
def test_decision_boundary(method):
    matplotlib.use("agg")
    X, y = IRIS[0][:, 2:], IRIS[1]
    model = SparsemaxClassifier().fit(X, y)
    display = DecisionBoundaryDisplay.from_estimator(
        model, X, response_method=method, grid_resolution=15
    )
    grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    expected = getattr(model, method)(grid)
    assert_allclose(display.response.reshape(expected.shape), expected)
    display.figure_.clear()


def test_tuned_and_fixed_thresholds():
    X, y = scaled(load_breast_cancer)
    rare = np.flatnonzero((y == 1) | (np.arange(len(y)) % 6 == 0))
    X, y = X[rare][:, :3], y[rare]
    model = EntmaxClassifier()
    tuned = TunedThresholdClassifierCV(model, scoring="balanced_accuracy", cv=3)
    tuned.fit(X, y)
    plain = model.fit(X, y)
    assert 0 < tuned.best_threshold_ < 1
    assert balanced_accuracy_score(y, tuned.predict(X)) > balanced_accuracy_score(
        y, plain.predict(X)
    )
    fixed = FixedThresholdClassifier(model, threshold=0.9).fit(X, y)
    assert_array_equal(fixed.predict(X), plain.predict_proba(X)[:, 1] >= 0.9)


def test_importances_and_selection_find_the_informative_features():
    rng = np.random.default_rng(0)
    X, y = IRIS
    X = np.column_stack([X, rng.normal(size=(150, 3))])
    model = EntmaxClassifier().fit(X, y)
    importance = permutation_importance(
        model, X, y, n_repeats=3, random_state=0, scoring=BrierScorer()
    ).importances_mean
    assert importance[[2, 3]].min() > importance[4:].max()
    ranking = RFE(EntmaxClassifier(), n_features_to_select=2).fit(X, y).support_
    assert ranking[[2, 3]].all()
    chosen = SelectFromModel(EntmaxClassifier(), max_features=2).fit(X, y)
    assert_array_equal(chosen.get_support(indices=True), [2, 3])


def test_partial_dependence():
    X, y = IRIS
    model = SparsemaxClassifier().fit(X, y)
    result = partial_dependence(model, X, [2], grid_resolution=5)
    grid, average = result["grid_values"][0], result["average"]
    for i, value in enumerate(grid):
        moved = X.copy()
        moved[:, 2] = value
        assert_allclose(average[:, i], model.predict_proba(moved).mean(axis=0))


def test_chains_and_many_outputs():
    X, Y = label_sets()
    chain = ClassifierChain(EntmaxClassifier(), order=[2, 0, 1, 3]).fit(X, Y)
    assert chain.predict_proba(X).shape == Y.shape
    assert (chain.predict(X) == Y).mean() > 0.8
    several = MultiOutputClassifier(SparsemaxClassifier()).fit(X, Y)
    assert (several.predict(X) == Y).mean() > 0.8


def test_learning_curve_and_ranking_scores():
    X, y = IRIS
    _, _, scores = learning_curve(
        EntmaxClassifier(),
        X,
        y,
        cv=3,
        shuffle=True,
        random_state=0,
        train_sizes=[0.3, 1.0],
    )
    assert scores.mean() > 0.9
    auc = cross_val_score(SparsemaxClassifier(), X, y, scoring="roc_auc_ovr", cv=3)
    assert auc.min() > 0.9
    log = cross_val_score(
        EntmaxClassifier(1, C=1.0), X, y, scoring="neg_log_loss", cv=3
    )
    reference = LogisticRegression(max_iter=1000)
    log_reference = cross_val_score(reference, X, y, scoring="neg_log_loss", cv=3)
    assert_allclose(log, log_reference, rtol=1e-2)


def test_folds_that_miss_a_class_in_the_test_rows():
    X, y = IRIS
    # Every test fold of ten rows holds a single class.
    order = np.argsort(np.arange(150) % 50 // 10, kind="stable")
    scores = cross_val_score(
        EntmaxClassifier(), X[order], y[order], cv=KFold(15), scoring=BrierScorer()
    )
    assert np.isfinite(scores).all()
    assert scores.mean() > -0.3
