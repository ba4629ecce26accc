"""Classes that are not available in a row, in fits and predictions."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import (
    EntmaxClassifier,
    EntmaxClassifierCV,
    LinearClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.losses import FenchelYoungLoss
from skprob.mappings import Softmax, softmax
from skprob.metrics import BrierScorer, brier_loss
from skprob.objective import LinearObjective, split_rows
from skprob.targets import LabelTarget, smoothed_target

from ..estimators import ESTIMATORS, MARGINALS
from .data_sets import choices, default_score

X, Y, AVAILABLE = choices()
N_CLASSES = AVAILABLE.shape[1]


def conditional_likelihood(parameters, kappa=None):
    """Mean loss of the conditional logit plus the penalty."""
    coef = parameters[: 3 * N_CLASSES].reshape(N_CLASSES, 3)
    utility = X @ coef.T + parameters[3 * N_CLASSES :]
    n = AVAILABLE.sum(axis=1)
    factor = np.where(n > 1, kappa * np.log(n), 1) if kappa else np.ones(len(X))
    weights = factor[:, None] * utility
    total = logsumexp(weights, axis=1, b=AVAILABLE.astype(float)) / factor
    loss = total - utility[np.arange(len(X)), Y]
    return loss.mean() + 0.5 * np.sum(coef**2) / len(X)


@pytest.mark.parametrize("kappa", [None, 1.0])
def test_conditional_logit(kappa):
    mapping = "softmax" if kappa is None else "entropy_invariant_softmax"
    model = LinearClassifier(mapping, tol=1e-8).fit(X, Y, available=AVAILABLE)
    parameters = np.append(model.coef_.ravel(), model.intercept_)
    at = conditional_likelihood(parameters, kappa)
    assert model.objective_ == pytest.approx(at, abs=1e-12)
    free = minimize(
        conditional_likelihood, np.zeros_like(parameters), args=(kappa,), tol=1e-10
    )
    assert at <= free.fun + 1e-10
    intercept = free.x[3 * N_CLASSES :]
    assert_allclose(model.coef_.ravel(), free.x[: 3 * N_CLASSES], atol=1e-4)
    assert_allclose(model.intercept_, intercept - intercept.mean(), atol=1e-4)
    coef = model.coef_ @ X.T + model.intercept_[:, None]
    scores = np.where(AVAILABLE, coef.T, -np.inf)
    p = model.predict_proba(X, available=AVAILABLE)
    if kappa is None:
        assert_allclose(p, softmax(scores), atol=1e-14)
    assert (p[~AVAILABLE] == 0).all()


@pytest.mark.parametrize("name", ESTIMATORS | MARGINALS)
def test_every_mapping_and_loss(name):
    model = clone((ESTIMATORS | MARGINALS)[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, Y, available=AVAILABLE)
        plain = clone(model).fit(X, Y)
        same = clone(model).fit(X, Y, available=np.ones_like(AVAILABLE))
    # The same as without the argument.
    assert_allclose(same.predict_proba(X), plain.predict_proba(X), atol=1e-3)
    assert np.abs(model.coef_ - plain.coef_).max() > 1e-3
    p = model.predict_proba(X, available=AVAILABLE)
    assert (p[~AVAILABLE] == 0).all()
    assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    scores = model.decision_function(X, available=AVAILABLE)
    assert_array_equal(scores[AVAILABLE], model.decision_function(X)[AVAILABLE])
    assert (scores[~AVAILABLE] == -np.inf).all()
    expected = model.mapping_(scores)
    if name in MARGINALS:
        expected /= expected.sum(axis=1, keepdims=True)
    assert_allclose(p, expected, atol=1e-14)
    log_p = model.predict_log_proba(X, available=AVAILABLE)
    assert (log_p[~AVAILABLE] == -np.inf).all()
    labels = model.predict(X, available=AVAILABLE)
    assert AVAILABLE[np.arange(len(X)), labels].all()
    score = model.score(X, Y, available=AVAILABLE)
    assert score == pytest.approx(np.mean(labels == Y))
    # Knowledge of the available classes in the fit does not lower the score.
    assert score >= plain.score(X, Y) - 0.02


def test_targets_of_all_kinds():
    rng = np.random.default_rng(1)
    sets = (AVAILABLE & (rng.random(AVAILABLE.shape) < 0.6)).astype(int)
    sets[np.arange(len(X)), Y] = 1
    q = sets * rng.random(sets.shape)
    q /= q.sum(axis=1, keepdims=True)
    for model, y in (
        (SparsemaxClassifier(threshold=0.2), sets),
        (EntmaxClassifier(), sparse.csr_matrix(sets)),
        (SigmoidClassifier(threshold=0.5), sets),
        (SigmoidClassifier(alpha=2.0), sets),
        (SoftmaxClassifier(label_smoothing=0.2), q),
        (SparsemaxClassifier(label_smoothing=0.1, margin=0.3), Y),
        (EntmaxClassifier(similarity="cosine"), Y),
    ):
        model.fit(X, y, available=AVAILABLE)
        p = model.predict_proba(X, available=AVAILABLE)
        assert (p[~AVAILABLE] == 0).all()
        predicted = model.predict(X, available=AVAILABLE)
        if predicted.ndim == 2:
            assert (predicted[~AVAILABLE] == 0).all()
            model.set_threshold("cv", X, sets, available=AVAILABLE)
            model.set_threshold("auto", X, sets, available=AVAILABLE, cv=3)
    single = SoftmaxClassifier().fit(X.astype(np.float32), Y, available=AVAILABLE)
    double = SoftmaxClassifier().fit(sparse.csr_matrix(X), Y, available=AVAILABLE)
    assert single.coef_.dtype == np.float32
    assert_allclose(single.coef_, double.coef_, atol=1e-2)


def test_smoothing_is_over_what_is_available():
    label = LabelTarget(np.array([1, 0]), 3)
    available = np.array([[True, True, False], [True, False, False]])
    target = smoothed_target(label, 0.2, available=available)
    assert_allclose(target.to_dense(float), [[0.1, 0.9, 0], [1, 0, 0]])
    cube = smoothed_target(label, 0.2, "cube", available)
    assert_allclose(cube.to_dense(float), [[0.1, 0.9, 0], [0.9, 0, 0]])


def test_two_classes():
    """A row with one class has nothing to teach."""
    y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
    available = np.ones((len(X), 2), dtype=bool)
    available[::3, 1 - y[::3]] = False
    available[np.arange(0, len(X), 3), 1 - y[::3]] = False
    available[np.arange(len(X)), y] = True
    some = available.all(axis=1)
    for model in (SoftmaxClassifier(tol=1e-8), SparsemaxClassifier(C=1.0, tol=1e-8)):
        # The weights of the rows are in the penalty, too.
        model.fit(X, y, available=available)
        n = some.sum()
        few = clone(model).set_params(C=model.C * 1.0).fit(X[some], y[some])
        assert_allclose(model.coef_, few.coef_, atol=1e-5)
        assert model.objective_ * len(X) == pytest.approx(few.objective_ * n, abs=1e-6)
        difference = model.decision_function(X, available=available)
        assert_array_equal(np.isinf(difference), ~some)
        assert_array_equal(model.predict(X, available=available)[~some], y[~some])


@pytest.mark.parametrize("mapping", ["softmax", "sparsemax", "entmax"])
def test_the_certificate_holds(mapping):
    for fit_intercept in (True, False):
        given = {"fit_intercept": fit_intercept, "mapping": mapping}
        best = LinearClassifier(tol=1e-10, **given).fit(X, Y, available=AVAILABLE)
        for tol in (0.1, 1e-3):
            rough = LinearClassifier(tol=tol, **given).fit(X, Y, available=AVAILABLE)
            excess = rough.objective_ - best.objective_
            assert excess <= rough.duality_gap_ + 1e-12
        if not fit_intercept:
            assert best.duality_gap_ <= 1e-10


def objective_of(X, labels, available):
    target = LabelTarget(labels, available.shape[1])
    blocks = split_rows(X, target, np.ones(len(X)), available=available)
    return LinearObjective(blocks, FenchelYoungLoss(Softmax()), l2=0.0)


def test_separable_by_the_choice_sets():
    """Where no row may choose between classes that overlap."""
    x = np.array([-2.0, -1.0, 3.0, 1.0, 2.0, -3.0, 1.5, 1.0, -3.0])[:, None]
    labels = np.repeat([0, 1, 2], 3)
    everything = np.ones((9, 3), dtype=bool)
    some = everything.copy()
    some[3:6, 2] = some[6:, 1] = False
    some[[2, 5, 8]] = np.eye(3, dtype=bool)
    right = np.array([[-1.0], [1.0], [1.0]])
    for available, separable in ((some, True), (everything, False)):
        objective = objective_of(x, labels, available)
        parameters = objective.from_model(5 * right, np.zeros(3))
        assert objective.is_unbounded(objective.at(parameters)) == separable
        model = SoftmaxClassifier(C=np.inf, max_iter=200)
        if separable:
            with pytest.warns(ConvergenceWarning, match="told apart"):
                model.fit(x, labels, available=available)
        else:
            model.fit(x, labels, available=available)


def test_without_a_penalty_and_with_groups_that_never_meet():
    """Nothing says how the scores of the two groups compare: any answer will do."""
    rng = np.random.default_rng(0)
    available = np.zeros((80, 4), dtype=bool)
    available[:40, :2] = available[40:, 2:] = True
    labels = rng.integers(2, size=80) + 2 * (np.arange(80) >= 40)
    features = rng.normal(size=(80, 2))
    model = SoftmaxClassifier(C=np.inf, tol=1e-8).fit(
        features, labels, available=available
    )
    p = model.predict_proba(features, available=available)
    for rows, first in ((slice(0, 40), 0), (slice(40, 80), 2)):
        alone = SoftmaxClassifier(C=np.inf, tol=1e-8).fit(features[rows], labels[rows])
        expected = alone.predict_proba(features[rows])
        assert_allclose(p[rows, first : first + 2], expected, atol=1e-5)


def test_metadata_routing():
    with config_context(enable_metadata_routing=True):
        model = (
            SoftmaxClassifier()
            .set_fit_request(available=True)
            .set_score_request(available=True)
            .set_predict_proba_request(available=True)
        )
        pipeline = make_pipeline(StandardScaler(), model)
        grid = {"softmaxclassifier__C": [0.1, 1.0]}
        search = GridSearchCV(pipeline, grid, cv=3).fit(X, Y, available=AVAILABLE)
        scaled = StandardScaler().fit_transform(X)
        C = search.best_params_["softmaxclassifier__C"]
        known = SoftmaxClassifier(C=C).fit(scaled, Y, available=AVAILABLE)
        p = search.best_estimator_.predict_proba(X, available=AVAILABLE)
        assert_allclose(p, known.predict_proba(scaled, available=AVAILABLE), atol=1e-9)


def test_a_class_that_is_missing_is_named():
    wrong = AVAILABLE.copy()
    wrong[17, Y[17]] = False
    names = np.array(["ant", "bee", "cat", "dog"])
    message = f"row 17 is not available: y has class '{names[Y[17]]}', for which"
    with pytest.raises(ValueError, match=message):
        SoftmaxClassifier().fit(X, names[Y], available=wrong)
    with pytest.raises(ValueError, match=message):
        SoftmaxClassifier(class_names=names).fit(X, np.eye(4)[Y], available=wrong)
    indicator = pd.DataFrame(np.eye(4, dtype=int)[Y], columns=names).assign(bee=0)
    kept = Y != 1
    with pytest.warns(UserWarning, match=r"1 of 4 labels are in no row .*\['bee'\]"):
        SoftmaxClassifier(threshold=0.5).fit(X[kept], indicator[kept])
    model = SoftmaxClassifier(warm_start=True).fit(X, names[Y])
    with pytest.raises(ValueError, match=r"had the classes .*'bee'.*; these data have"):
        model.fit(X[kept], names[Y][kept])


@pytest.mark.parametrize("dtypes", [["boolean"] * 4, ["Int64", bool, int, float]])
def test_frames_of_any_types(dtypes):
    frame = pd.DataFrame(AVAILABLE).astype(dict(enumerate(dtypes)))
    model = SoftmaxClassifier().fit(X, Y, available=frame)
    reference = SoftmaxClassifier().fit(X, Y, available=AVAILABLE)
    assert_array_equal(model.coef_, reference.coef_)
    p = reference.predict_proba(X, available=AVAILABLE)
    assert_array_equal(model.predict_proba(X, available=frame), p)


def test_bad_input_is_refused():
    wrong = AVAILABLE.copy()
    wrong[17, Y[17]] = False
    nothing = AVAILABLE.copy()
    nothing[5] = False
    booleans = "available must be booleans, or numbers that are 0 or 1"
    for available, message in (
        (wrong, f"target of row 17 is not available: y has class {Y[17]}"),
        (nothing, "available must have a class for each row; row 5 has none"),
        (AVAILABLE[:9], r"available must be booleans of shape .* \(120, 4\); got .*9"),
        (AVAILABLE[:, :3], r"available must be booleans of shape"),
        (AVAILABLE * 2.0, rf"{booleans}; got dtype float64, with the values \[2.0\]"),
        (sparse.csr_array(AVAILABLE), "available must be a dense array; got csr_array"),
        (AVAILABLE.astype(str), f"{booleans}; got dtype <U5"),
    ):
        with pytest.raises(ValueError, match=message):
            SoftmaxClassifier().fit(X, Y, available=available)
    model = SoftmaxClassifier().fit(X, Y, available=AVAILABLE.astype(int))
    for method in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(ValueError, match="row 5 has none"):
            method(X, available=nothing)
    # Rows without a label are left out, and the others keep their numbers.
    sets = np.eye(4, dtype=int)[Y]
    sets[3] = 0
    with pytest.raises(ValueError, match="target of row 17"):
        SparsemaxClassifier().fit(X, sets, available=wrong)


def available_search(kind):
    """Data of a kind with choice sets."""
    if kind == "class":
        return X, Y
    rng = np.random.default_rng(1)
    sets = (AVAILABLE & (rng.random(AVAILABLE.shape) < 0.6)).astype(int)
    sets[np.arange(len(X)), Y] = 1
    if kind == "label_set":
        return X, sets
    q = sets * rng.random(sets.shape)
    return X, q / q.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("kind", "threshold"),
    [
        ("class", "auto"),
        ("label_set", 0.3),
        ("label_set", "auto"),
        ("distribution", "auto"),
    ],
)
def test_a_search_is_fits_and_scores_with_choice_sets(kind, threshold):
    data, y = available_search(kind)
    folds = list(KFold(2).split(data))
    options = {"tol": 1e-8, "threshold": threshold}
    search = EntmaxClassifierCV([1, 2], [0.1, 1], cv=folds, **options)
    search.fit(data, y, available=AVAILABLE)
    brier = clone(search).set_params(scoring=BrierScorer())
    brier.fit(data, y, available=AVAILABLE)

    def by_function(model, X, y):
        return default_score(model, X, y)

    function = clone(search).set_params(scoring=by_function)
    function.fit(data, y, available=AVAILABLE)
    assert_allclose(function.scores_, search.scores_)
    for k, (train, test) in enumerate(folds):
        for i, alpha in enumerate([1, 2]):
            for j, C in enumerate([0.1, 1]):
                one = EntmaxClassifier(alpha, C=C, **options)
                one.fit(data[train], y[train], available=AVAILABLE[train])
                assert_allclose(search.coefs_paths_[k, i, j], one.coef_, atol=1e-5)
                if (kind, threshold) == ("label_set", "auto"):
                    # By the rows that the other fold leaves out, and its model.
                    other = clone(one)
                    other.fit(data[test], y[test], available=AVAILABLE[test])
                    known = {"available": AVAILABLE[train]}
                    other.set_threshold("micro", data[train], y[train], **known)
                    one.set_threshold(other.threshold_)
                known = {"available": AVAILABLE[test]}
                score = default_score(one, data[test], y[test], **known)
                assert search.scores_[k, i, j] == pytest.approx(score, abs=1e-6)
                p = one.predict_proba(data[test], **known)
                loss = brier_loss(y[test], p, classes=one.classes_)
                assert brier.scores_[k, i, j] == pytest.approx(-loss, abs=1e-6)
    p = brier.predict_proba(data, available=AVAILABLE)
    loss = brier_loss(y, p, classes=brier.classes_)
    assert brier.score(data, y, available=AVAILABLE) == pytest.approx(-loss)
    best = EntmaxClassifier(brier.alpha_, C=brier.C_, **options)
    best.fit(data, y, available=AVAILABLE)
    assert_allclose(brier.coef_, best.coef_, atol=1e-12)


def test_a_search_in_a_pipeline():
    """`available` goes with the rows; what a search is given it uses."""
    search = EntmaxClassifierCV([1, 2], [0.1, 1], cv=KFold(2))
    scaled = StandardScaler().fit_transform(X)
    known = clone(search).fit(scaled, Y, available=AVAILABLE)
    with config_context(enable_metadata_routing=True):
        search.set_fit_request(available=True).set_predict_request(available=True)
        pipeline = make_pipeline(StandardScaler(), search)
        pipeline.fit(X, Y, available=AVAILABLE)
        labels = pipeline.predict(X, available=AVAILABLE)
    assert_array_equal(pipeline[-1].scores_, known.scores_)
    assert_array_equal(labels, known.predict(scaled, available=AVAILABLE))
    assert AVAILABLE[np.arange(len(X)), labels].all()
    plain = clone(search).fit(scaled, Y)
    assert np.abs(plain.coefs_paths_ - known.coefs_paths_).max() > 1e-3
    wrong = AVAILABLE.copy()
    wrong[17, Y[17]] = False
    with pytest.raises(ValueError, match="target of row 17 is not available"):
        clone(search).fit(X, Y, available=wrong)
