"""Known numbers that are added to the scores, in fits and predictions."""

import warnings

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
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
from skprob.mappings import entmax, sparsemax

from ..estimators import ESTIMATORS, MARGINALS
from .assertions import assert_refused
from .data_sets import default_score, label_sets, labels


def with_offset(n_classes):
    """Features, labels, weights and offsets that matter."""
    X, y = labels(n_classes, n_samples=120)
    rng = np.random.default_rng(n_classes)
    shape = (120,) if n_classes == 2 else (120, n_classes)
    return X, y, rng.uniform(0.5, 2, 120), rng.normal(scale=1.5, size=shape)


def minimum(X, y, weight, offset, C, fit_intercept):
    """Coefficients, intercepts and value of the softmax model, by SciPy."""
    K = y.max() + 1
    M, d = (1, X.shape[1]) if K == 2 else (K, X.shape[1])

    def objective(parameters):
        coef, intercept = parameters[: M * d].reshape(M, d), parameters[M * d :]
        z = X @ coef.T + (intercept if fit_intercept else 0)
        if K == 2:
            z = np.stack([np.zeros(len(X)), z[:, 0] + offset], axis=1)
        else:
            z = z + offset
        log_p = z - logsumexp(z, axis=1, keepdims=True)
        residual = np.exp(log_p)
        residual[np.arange(len(y)), y] -= 1
        residual = (residual * weight[:, None] / weight.sum())[:, -M:]
        value = -weight @ log_p[np.arange(len(y)), y] / weight.sum()
        strength = 1 / (C * weight.sum())
        slope = residual.T @ X + strength * coef
        gradient = np.append(slope, residual.sum(axis=0) * fit_intercept)
        return value + strength / 2 * np.sum(coef**2), gradient

    start = np.zeros(M * (d + 1))
    optimum = minimize(
        objective, start, jac=True, method="BFGS", options={"gtol": 1e-9}
    )
    return optimum.x[: M * d].reshape(M, d), optimum.x[M * d :], optimum.fun


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_minimum_is_that_of_scipy(n_classes, fit_intercept):
    X, y, weight, offset = with_offset(n_classes)
    given = 0.8, fit_intercept
    coef, intercept, value = minimum(X, y, weight, offset, *given)
    model = SoftmaxClassifier(C=0.8, fit_intercept=fit_intercept, tol=1e-10)
    for solver in "auto", "newton-cg", "lbfgs":
        for make in np.asarray, sparse.csr_array:
            model.set_params(solver=solver)
            with warnings.catch_warnings():
                # "lbfgs" may not get so near.
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(make(X), y, sample_weight=weight, offset=offset)
            assert_allclose(model.coef_, coef, atol=1e-6)
            assert_allclose(
                model.intercept_,
                intercept - (n_classes > 2) * intercept.mean(),
                atol=1e-6,
            )
            assert model.objective_ == pytest.approx(value, abs=1e-10)


def test_two_classes_are_a_binomial_model_of_glum():
    glum = pytest.importorskip("glum", reason="needs glum, another implementation")
    X, y, weight, offset = with_offset(2)
    for C in (0.1, 1.0, 100.0):
        reference = glum.GeneralizedLinearRegressor(
            family="binomial", alpha=1 / (C * weight.sum()), gradient_tol=1e-10
        ).fit(X, y, sample_weight=weight, offset=offset)
        model = SoftmaxClassifier(C=C, tol=1e-10)
        model.fit(X, y, sample_weight=weight, offset=offset)
        assert_allclose(model.coef_[0], reference.coef_, atol=1e-6)
        assert_allclose(model.intercept_[0], reference.intercept_, atol=1e-6)
        p = model.predict_proba(X, offset=offset)[:, 1]
        assert_allclose(p, reference.predict(X, offset=offset), atol=1e-6)


@pytest.mark.parametrize("name", ESTIMATORS | MARGINALS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_mapping_and_loss(name):
    X, y, _, offset = with_offset(3)
    model = clone((ESTIMATORS | MARGINALS)[name]).fit(X, y, offset=offset)
    plain = clone(model).fit(X, y)
    assert np.abs(model.coef_ - plain.coef_).max() > 1e-3
    scores = model.decision_function(X, offset=offset)
    assert_allclose(scores - offset, model.decision_function(X), atol=1e-12)
    p = model.predict_proba(X, offset=offset)
    expected = model.mapping_(scores)
    log_expected = model.mapping_.log_probabilities(scores)
    if name in MARGINALS:
        # Where no class has a positive marginal, the shares are those of entmax.
        total = expected.sum(axis=1, keepdims=True)
        expected = np.where(total > 0, expected, entmax(scores, model.alpha))
        expected /= np.where(total > 0, total, 1)
        log_expected = np.log(expected, out=log_expected, where=expected > 0)
    assert_allclose(p, expected, atol=1e-14)
    log_p = model.predict_log_proba(X, offset=offset)
    assert_allclose(log_p, log_expected, atol=1e-12)
    predicted = model.predict(X, offset=offset)
    # If several classes have the marginal one, the highest score decides.
    assert_array_equal(p[np.arange(len(p)), predicted], p.max(axis=1))
    assert_array_equal(predicted, (scores if name in MARGINALS else p).argmax(axis=1))
    score = model.score(X, y, offset=offset)
    assert score == pytest.approx(np.mean(predicted == y))
    # It is the minimum with these offsets, and not that without.
    encoded = np.eye(3)[y]
    values = [
        each.loss_.value(each.decision_function(X, offset=offset), encoded).mean()
        for each in (model, plain)
    ]
    if model.similarity == "dot" and model.loss_.traits.is_convex:
        penalty = [
            np.sum(each.coef_**2) / (2 * model.C_ * 120) for each in (model, plain)
        ]
        assert values[0] + penalty[0] < values[1] + penalty[1]


def test_two_classes_in_one_number_or_two():
    X, y, _, offset = with_offset(2)
    both = np.stack([-offset + 3, 3 + np.zeros(120)], axis=1)
    for model in (SoftmaxClassifier(tol=1e-9), SparsemaxClassifier(tol=1e-9)):
        one, two = clone(model).fit(X, y, offset=offset), model.fit(X, y, offset=both)
        assert_allclose(one.coef_, two.coef_, atol=1e-7)
        difference = one.decision_function(X, offset=offset)
        assert_allclose(difference, one.decision_function(X) + offset)
        assert_allclose(
            one.predict_proba(X, offset=both), one.predict_proba(X, offset=offset)
        )
    # Where each score counts on its own.
    taylor = LinearClassifier("taylor_softmax").fit(X, y, offset=both)
    z = both + np.outer(X @ taylor.coef_[0] + taylor.intercept_[0], [-0.5, 0.5])
    assert_allclose(taylor.predict_proba(X, offset=both), taylor.mapping_(z))


def test_label_sets_and_distributions():
    X, Y = label_sets()
    rng = np.random.default_rng(0)
    offset = rng.normal(size=Y.shape)
    Y[:6] = 0
    q = rng.dirichlet(np.ones(4), size=60)
    for model, y in (
        (EntmaxClassifier(), Y),
        (SigmoidClassifier(alpha=2.0, budget=(0, 4)), sparse.csr_array(Y)),
        (SparsemaxClassifier(label_smoothing=0.1, margin=0.2), q),
        (SoftmaxClassifier(similarity="cosine", temperature=0.2), q),
    ):
        model.fit(X, y, offset=offset)
        K = 4 + model.has_none_class_
        z = np.zeros((60, K))
        z[:, :4] = model.decision_function(X, offset=offset)
        if K == 5:
            z[:, 4] = X @ model.coef_[4] + model.intercept_[4]
        p = model.predict_proba(X, offset=offset)
        assert_allclose(p, model.mapping_(z)[:, :4], atol=1e-12)
        if y is not q:
            # The rule of the fit, by folds with their offsets.
            rule = clone(model).fit(X, y, offset=offset).threshold_
            model.set_threshold("auto", X, y, offset=offset, cv=3)
            assert_array_equal(model.threshold_.predict(p), rule.predict(p))
            assert_array_equal(model.predict(X, offset=offset), rule.predict(p))
            right = (model.predict(X, offset=offset) == Y).all(axis=1).mean()
            assert model.score(X, y, offset=offset) == right


def test_with_choice_sets():
    X, y, _, offset = with_offset(3)
    available = np.random.default_rng(0).random((120, 3)) < 0.7
    available[np.arange(120), y] = True
    given = {"available": available, "offset": offset}
    model = SparsemaxClassifier(fit_intercept=False, tol=1e-8).fit(X, y, **given)
    scores = np.where(available, X @ model.coef_.T + offset, -np.inf)
    assert_allclose(model.predict_proba(X, **given), sparsemax(scores), atol=1e-14)
    # Without an intercept the certificate is tight.
    assert model.duality_gap_ <= 1e-8
    model = LinearClassifier("entmax", max_iter=1)
    with pytest.warns(ConvergenceWarning):
        rough = clone(model).fit(X, y, **given)
    best = model.set_params(max_iter=100, tol=1e-9).fit(X, y, **given)
    assert 1e-4 < rough.objective_ - best.objective_ <= rough.duality_gap_
    single = EntmaxClassifier().fit(X.astype(np.float32), y, **given)
    assert single.coef_.dtype == np.float32
    assert single.predict_proba(X.astype(np.float32), **given).dtype == np.float32
    double = EntmaxClassifier().fit(X, y, **given)
    assert_allclose(single.coef_, double.coef_, atol=1e-2)


def test_separable_classes_have_no_optimum_with_offsets_either():
    X, y, offset = (
        np.arange(-5.0, 5)[:, None],
        np.repeat([0, 1], 5),
        np.linspace(3, -3, 10),
    )
    model = SoftmaxClassifier(C=np.inf, max_iter=300)
    with pytest.warns(ConvergenceWarning, match="told apart"):
        model.fit(X, y, offset=offset)


def test_metadata_routing():
    X, y, _, offset = with_offset(3)
    with config_context(enable_metadata_routing=True):
        model = (
            SoftmaxClassifier()
            .set_fit_request(offset=True)
            .set_score_request(offset=True)
            .set_predict_proba_request(offset=True)
        )
        pipeline = make_pipeline(StandardScaler(), model)
        search = GridSearchCV(pipeline, {"softmaxclassifier__C": [0.1, 1.0]}, cv=3)
        search.fit(X, y, offset=offset)
        scaled = StandardScaler().fit_transform(X)
        C = search.best_params_["softmaxclassifier__C"]
        known = SoftmaxClassifier(C=C).fit(scaled, y, offset=offset)
        p = search.best_estimator_.predict_proba(X, offset=offset)
        assert_allclose(p, known.predict_proba(scaled, offset=offset), atol=1e-9)


def test_searches_use_offsets_in_their_fits_and_scores():
    X, y, _, offset = with_offset(3)
    folds = list(StratifiedKFold(3).split(X, y))
    search = EntmaxClassifierCV([1.5], [0.1, 1.0], cv=folds, tol=1e-8)
    search.fit(X, y, offset=offset)
    for fold, (train, test) in enumerate(folds):
        for column, C in enumerate(search.Cs_[0]):
            model = EntmaxClassifier(C=C, tol=1e-8)
            model.fit(X[train], y[train], offset=offset[train])
            coef = search.coefs_paths_[fold, 0, column]
            assert_allclose(coef, model.coef_, atol=1e-5)
            score = default_score(model, X[test], y[test], offset=offset[test])
            assert search.scores_[fold, 0, column] == pytest.approx(score, abs=1e-6)
    refit = EntmaxClassifier(C=search.C_, tol=1e-8).fit(X, y, offset=offset)
    assert_allclose(search.coef_, refit.coef_, atol=1e-5)
    assert search.score(X, y, offset=offset) == refit.score(X, y, offset=offset)
    assert search.score(X, y) != search.score(X, y, offset=offset)


def test_bad_input_is_refused():
    X, y, _, offset = with_offset(3)
    wrong = offset.copy()
    wrong[17, 2] = np.nan
    fit = SoftmaxClassifier().fit
    for bad, message in (
        (wrong, "offset must be finite in float64; row 17 is not"),
        (offset[:, 0], r"of shape \(120, 3\); got shape \(120,\)"),
        (offset[:9], r"of shape \(120, 3\); got shape \(9, 3\)"),
        (1.0, r"of shape \(120, 3\); got shape \(\)"),
        (offset.astype(str), "offset must be real numbers, got dtype <U"),
        (offset * 1j, "offset must be real numbers, got dtype complex"),
    ):
        assert_refused(message, fit, X, y, offset=bad)
    message = "offset must be finite in float32; row 0 is not"
    assert_refused(message, fit, X.astype(np.float32), y, offset=offset * 1e40)
    message = r"\(120, 2\) or, for the difference, \(120,\); got shape \(120, 3\)"
    assert_refused(message, fit, X, y % 2, offset=offset)
    sets = SigmoidClassifier(threshold=0.5)
    message = r"of shape \(120, 2\); got shape \(120,\)"
    assert_refused(message, sets.fit, X, np.eye(2)[y % 2], offset=offset[:, 0])
    model = SoftmaxClassifier().fit(X, y)
    for method in (model.predict, model.predict_proba, model.decision_function):
        assert_refused(r"of shape \(120, 3\); got", method, X, offset=offset[:, 0])
    lazy = da.from_array(X, chunks=(60, 4))
    message = "offset must be None for Dask collections; got ndarray"
    assert_refused(message, fit, lazy, y, offset=offset)
    assert_refused(message, model.predict, lazy, offset=offset)
    assert_refused(message, model.score, lazy, y, offset=offset)
    message = "offset must be in memory here, not a Dask collection; got Array"
    assert_refused(message, model.predict, X, offset=da.from_array(offset))
