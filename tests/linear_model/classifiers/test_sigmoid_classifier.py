"""A marginal for each label: one-vs-rest logistic regression and its sparse kin."""

import pickle

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import brentq, minimize
from scipy.special import entr, expit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import LinearClassifier, SigmoidClassifier
from skprob.losses import FenchelYoungLoss
from skprob.mappings import Mapping, Sigmoid, Temperature, Traits, entmax
from skprob.metrics import BrierScorer, FenchelYoungScorer

TIGHT = {"tol": 1e-9, "threshold": 0.5}


def sets(n_labels=5, n_samples=120, seed=0):
    """Features in several units, and sets of labels, some of which are empty."""
    X, Y = make_multilabel_classification(
        n_samples, 8, n_classes=n_labels, n_labels=2, random_state=seed
    )
    assert not Y.any(axis=1).all()
    return X * np.logspace(-1, 2, 8), Y


def one_vs_rest(X, Y, weight=None, **params):
    """Coefficients and intercepts of a logistic regression for each label."""
    params = {"solver": "newton-cholesky", "tol": 1e-12, "max_iter": 1000} | params
    models = [LogisticRegression(**params).fit(X, y, weight) for y in Y.T]
    coef = np.vstack([model.coef_ for model in models])
    return coef, np.concatenate([model.intercept_ for model in models])


@pytest.mark.parametrize(
    ("n_labels", "fit_intercept", "solver"),
    [
        (2, True, "auto"),
        (5, False, "auto"),
        (2, False, "newton-cg"),
        (5, True, "newton-cg"),
        (2, True, "lbfgs"),
        (5, False, "lbfgs"),
    ],
)
def test_it_is_one_vs_rest_logistic_regression(n_labels, fit_intercept, solver):
    X, Y = sets(n_labels)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
    for C in (0.01, 1.0, 100.0):
        params = {"C": C, "fit_intercept": fit_intercept}
        coef, intercept = one_vs_rest(X, Y, weight, **params)
        model = SigmoidClassifier(solver=solver, **TIGHT, **params)
        model.fit(X, Y, sample_weight=weight)
        assert_allclose(model.coef_, coef, rtol=1e-5, atol=1e-6)
        assert_allclose(model.intercept_, intercept, rtol=1e-5, atol=1e-6)
        # A certificate of success, which holds for marginals, too.
        assert 0 <= model.duality_gap_ <= 1e-3 * model.objective_


def test_it_agrees_with_the_meta_estimator_on_sparse_data():
    X, Y = sets()
    rivals = OneVsRestClassifier(LogisticRegression(C=0.1, tol=1e-8, max_iter=10_000))
    rivals.fit(X / X.std(axis=0), Y)
    model = SigmoidClassifier(C=0.1, **TIGHT)
    model.fit(sparse.csr_array(X / X.std(axis=0)), Y)
    p = model.predict_proba(sparse.csr_array(X / X.std(axis=0)))
    assert_allclose(p, rivals.predict_proba(X / X.std(axis=0)), atol=1e-5)
    single = SigmoidClassifier(C=0.1).fit(X.astype(np.float32), Y)
    assert single.coef_.dtype == single.predict_proba(X[:3].astype("f4")).dtype == "f4"


@pytest.mark.parametrize(
    ("alpha", "smoothing"),
    [(1.0, 0.0), (1.0, 0.1), (1.5, 0.1), (1.75, 0.0), (2.0, 0.1), (2.5, 0.0)],
)
def test_the_optimum_is_that_of_an_independent_minimiser(alpha, smoothing):
    X, Y = sets(3, n_samples=60)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    C, loss = 0.3, FenchelYoungLoss(Sigmoid(alpha))
    target = (1 - smoothing) * Y + smoothing / 2

    def objective(flat):
        W = flat.reshape(3, -1)
        value, gradient = loss.value_and_gradient(X @ W[:, :-1].T + W[:, -1], target)
        penalty = W.copy()
        penalty[:, -1] = 0
        slope = np.column_stack([gradient.T @ X, gradient.sum(axis=0)])
        f = value.mean() + np.sum(penalty**2) / (2 * C * len(X))
        return f, (slope / len(X) + penalty / (C * len(X))).ravel()

    best = minimize(objective, np.zeros(27), jac=True, tol=1e-13)
    params = {"label_smoothing": smoothing, "C": C, **TIGHT}
    model = SigmoidClassifier(alpha, **params).fit(X, Y)
    parameters = np.column_stack([model.coef_, model.intercept_])
    assert objective(parameters.ravel())[0] <= best.fun * (1 + 1e-9)
    assert model.objective_ == pytest.approx(objective(parameters.ravel())[0], rel=1e-9)
    # The minimum is lower by the gap at most.
    assert model.objective_ - best.fun <= model.duality_gap_ + 1e-12
    again = LinearClassifier(Sigmoid(alpha), **params).fit(X, Y)
    assert_array_equal(again.coef_, model.coef_)


def test_rows_without_labels_take_part_and_are_predicted():
    X = np.repeat([[0.0], [1.0], [2.0]], 10, axis=0)
    Y = np.repeat([[0, 0], [1, 0], [1, 1]], 10, axis=0)
    model = SigmoidClassifier(alpha=2.0, C=100.0).fit(X, Y)
    assert_array_equal(model.predict(X), Y)
    assert model.score(X, Y) == 1
    without = SigmoidClassifier(alpha=2.0, C=100.0).fit(X[10:], Y[10:])
    assert np.abs(model.coef_ - without.coef_).max() > 0.1


def test_probabilities_are_marginals_with_exact_zeros_and_ones():
    X, Y = sets()
    model = SigmoidClassifier(alpha=2.0, C=100.0).fit(X, Y)
    p = model.predict_proba(X)
    assert p.min() == 0 and p.max() == 1
    assert np.abs(p.sum(axis=1) - 1).max() > 0.5
    sparse_model = clone(model).set_params(sparse_output=True).fit(X, Y)
    assert_array_equal(sparse_model.predict_proba(X).toarray(), p)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), p)
    scores = model.decision_function(X)
    assert_allclose(Sigmoid(2.0)(scores), p)


def test_in_a_pipeline_and_a_grid_search():
    X, Y = sets()
    pipeline = make_pipeline(StandardScaler(), SigmoidClassifier())
    grid = {"sigmoidclassifier__alpha": [1.0, 1.5], "sigmoidclassifier__C": [0.1, 1.0]}
    search = GridSearchCV(pipeline, grid, cv=3, scoring="f1_micro").fit(X, Y)
    assert 0.5 < search.best_score_ < 1


def test_class_weights_are_means_over_the_labels_of_a_row():
    X, Y = sets(3)
    weights = {0: 3.0, 2: 0.5}
    model = SigmoidClassifier(class_weight=weights, **TIGHT).fit(X, Y)
    n = Y.sum(axis=1)
    by_hand = np.where(n > 0, Y @ [3.0, 1.0, 0.5] / np.maximum(n, 1), 1.0)
    same = SigmoidClassifier(**TIGHT).fit(X, Y, sample_weight=by_hand)
    # C is relative to the sum of the weights of the rows in both.
    assert_allclose(model.coef_, same.coef_, rtol=1e-5, atol=1e-7)


def test_separable_labels_without_a_penalty_have_no_optimum():
    X = np.arange(10.0)[:, None]
    Y = np.column_stack([X[:, 0] > 4, np.arange(10) % 2])
    for model in (SigmoidClassifier(C=np.inf), SigmoidClassifier(C=np.inf, alpha=1.0)):
        with pytest.warns(UserWarning, match="no optimum exists"):
            model.fit(X, Y)
    # With zeros the loss is zero far enough.
    SigmoidClassifier(alpha=2.0, C=np.inf).fit(X, Y)
    mixed = np.column_stack([np.arange(10) % 2, np.arange(10) % 3 == 0])
    SigmoidClassifier(C=np.inf).fit(X, mixed)


@pytest.mark.parametrize(
    ("budget", "n_positive", "solver"),
    [
        (None, 1, "auto"),
        (None, 60, "newton-cg"),
        (None, 1, "lbfgs"),
        ((1, 3), 60, "auto"),
        ((1, 3), 1, "newton-cg"),
        ((1, 3), 60, "lbfgs"),
    ],
)
def test_one_separable_label_among_others_is_noticed(budget, n_positive, solver):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(400, 6)), rng.normal(size=(6, 4))
    others = X @ weights + rng.logistic(scale=2, size=(400, 4)) > 0
    scores = X @ rng.normal(size=6)
    separable = scores >= np.sort(scores)[-n_positive]
    params = {"C": np.inf, "budget": budget, "solver": solver, "threshold": 0.5}
    some = (others.sum(axis=1) >= 1) & (others.sum(axis=1) + separable <= 3)
    SigmoidClassifier(**params).fit(X[some], others[some].astype(int))
    Y = np.column_stack([others[:, :2], separable, others[:, 2:]])[some].astype(int)
    assert 0 < Y[:, 2].sum() < len(Y)
    with pytest.warns(ConvergenceWarning, match="no optimum exists"):
        SigmoidClassifier(**params).fit(X[some], Y)


@pytest.mark.parametrize("container", [np.asarray, da.from_array])
@pytest.mark.parametrize(
    "model", [SigmoidClassifier(), LinearClassifier("sigmoid", temperature=2.0)]
)
def test_distributions_are_refused(model, container):
    X, y = container(np.zeros((10, 2))), container(np.full((10, 2), 0.5))
    with pytest.raises(ValueError, match=r"y must be labels .* got distributions"):
        model.fit(X, y)


@pytest.mark.parametrize("params", [{"loss": "log"}, {"margin": 0.5}])
def test_losses_of_distributions_are_refused(params):
    X, Y = sets()
    with pytest.raises(ValueError, match=r"sum to\s+one"):
        LinearClassifier("sigmoid", **params).fit(X, Y)
    with pytest.raises(ValueError, match="alpha"):
        SigmoidClassifier(alpha=0.5).fit(X, Y)


def test_labels_that_all_rows_have_or_none():
    X, Y = sets(3)
    Y = np.column_stack([Y, np.ones(len(Y), int), np.zeros(len(Y), int)])
    for alpha in (1.0, 2.0):
        with pytest.warns(UserWarning, match="in no row"):
            model = SigmoidClassifier(alpha, C=0.1, threshold=0.5).fit(X, Y)
        predicted = model.predict(X)
        assert predicted[:, 3].all() and not predicted[:, 4].any()


@pytest.mark.parametrize(
    ("alpha", "budget"), [(1.0, (1, 2)), (1.0, (2, 2)), (1.5, (2, 2)), (2.0, (1, 2))]
)
def test_the_optimum_under_a_budget(alpha, budget):
    """Compared with another minimiser; the duality gap includes the budget."""
    X, Y = sets(4, n_samples=150)
    size = Y.sum(axis=1)
    rows = (size >= budget[0]) & (size <= budget[1])
    X, Y = StandardScaler().fit_transform(X[rows]), Y[rows]
    C, loss = 0.3, FenchelYoungLoss(Sigmoid(alpha, budget))

    def objective(flat):
        W = flat.reshape(4, -1)
        scores = X @ W[:, :-1].T + W[:, -1]
        value, residual = loss.value_and_gradient(scores, Y)
        slope = np.hstack([residual.T @ X, residual.sum(axis=0)[:, None]])
        slope[:, :-1] += W[:, :-1] / C
        return value.sum() + (W[:, :-1] ** 2).sum() / (2 * C), slope.ravel()

    options = {"maxiter": 10_000, "ftol": 1e-15, "gtol": 1e-9}
    best = minimize(
        objective, np.zeros(4 * 9), jac=True, method="L-BFGS-B", options=options
    )
    for solver in ("auto", "newton-cg", "lbfgs"):
        model = SigmoidClassifier(
            alpha, budget=budget, C=C, solver=solver, **TIGHT
        ).fit(X, Y)
        assert model.objective_ * len(X) == pytest.approx(best.fun, rel=1e-6)
        assert 0 <= model.duality_gap_ <= 1e-3 * model.objective_
    p = model.predict_proba(X)
    assert (p.sum(axis=1) >= budget[0] - 1e-9).all()
    assert (p.sum(axis=1) <= budget[1] + 1e-9).all()
    # Far from the minimum the bound holds, too.
    rough = SigmoidClassifier(
        alpha, budget=budget, C=C, solver="newton-cg", max_iter=1, threshold=0.5
    )
    with pytest.warns(ConvergenceWarning):
        rough.fit(X, Y)
    excess = rough.objective_ - best.fun / len(X)
    assert excess <= rough.duality_gap_ * (1 + 1e-9)


def test_sets_outside_the_budget():
    X, Y = sets()
    with pytest.raises(ValueError, match=r"budget \(1, 2\).* row \d+ sums to"):
        SigmoidClassifier(budget=(1, 2)).fit(X, Y)
    for budget, allowed in ((3, 2), r"\(lower, upper\)"), ((1,), "two numbers"):
        with pytest.raises(ValueError, match=f"budget must be {allowed}.* got"):
            SigmoidClassifier(budget=budget).fit(X, Y)
    with pytest.raises(ValueError, match=r"'budget' .* an array-like .* Got 2"):
        LinearClassifier(Sigmoid(budget=2)).fit(X, Y)


def classes(n_classes, n_samples=150):
    """Features in several units, and the names of classes."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n_samples, 4))
    scores = X @ rng.normal(size=(4, n_classes)) + rng.gumbel(
        size=(n_samples, n_classes)
    )
    names = np.array(["rain", "snow", "dry", "fog"])[:n_classes]
    return X * np.logspace(-1, 1, 4), names[scores.argmax(axis=1)]


@pytest.mark.parametrize(
    ("n_classes", "fit_intercept", "make"),
    [
        (2, True, np.asarray),
        (2, False, sparse.csr_array),
        (2, True, da.from_array),
        (3, False, np.asarray),
        (3, True, sparse.csr_array),
        (4, False, da.from_array),
    ],
)
def test_labels_are_learnt_one_vs_rest(n_classes, fit_intercept, make):
    X, y = classes(n_classes)
    for C in (0.01, 1.0, 100.0):
        params = {"C": C, "fit_intercept": fit_intercept}
        exact = {"solver": "newton-cholesky", "tol": 1e-12, "max_iter": 1000}
        rivals = OneVsRestClassifier(LogisticRegression(**exact, **params)).fit(X, y)
        model = SigmoidClassifier(tol=1e-9, **params)
        model.fit(make(X), da.from_array(y) if make is da.from_array else y)
        coef = np.vstack([each.coef_ for each in rivals.estimators_])
        assert model.coef_.shape == coef.shape == (n_classes if n_classes > 2 else 1, 4)
        assert_allclose(model.coef_, coef, atol=1e-6)
        intercept = np.ravel([each.intercept_ for each in rivals.estimators_])
        assert_allclose(model.intercept_, intercept, atol=1e-6)
        p, scores = rivals.predict_proba(X), rivals.decision_function(X)
        assert_allclose(model.predict_proba(make(X)), p, atol=1e-6)
        assert_allclose(np.exp(model.predict_log_proba(X)), p, atol=1e-6)
        assert_allclose(model.decision_function(X), scores, atol=1e-5)
        assert_array_equal(model.predict(X), rivals.predict(X))
        assert model.score(X, y) == rivals.score(X, y)
        assert 0 <= model.duality_gap_ <= 1e-3 * model.objective_


def test_rows_in_which_all_marginals_are_zero():
    """Shares by entmax of the scores, so that the largest is that of the prediction."""
    X = np.array([[-2.0], [-1.0], [1.0], [2.0], [9.0]])
    model = SigmoidClassifier(2.0, C=100.0).fit(X, [0, 1, 1, 2, 2])
    model.coef_, model.intercept_ = np.zeros((3, 1)), np.array([-2.5, -3.0, -2.0])
    # The projection of the scores onto the simplex.
    assert_allclose(model.predict_proba(X), np.tile([0.25, 0.0, 0.75], (5, 1)))
    with np.errstate(divide="ignore"):
        expected = np.log([0.25, 0.0, 0.75])
    assert_allclose(model.predict_log_proba(X), np.tile(expected, (5, 1)))
    assert_array_equal(model.predict(X), np.full(5, 2))
    some = np.tile([True, True, False], (5, 1))
    p = model.predict_proba(X, available=some)
    assert_allclose(p, np.tile([0.75, 0.25, 0.0], (5, 1)))
    assert_array_equal(model.predict(X, available=some), np.zeros(5))
    # Logistic functions that underflow have shares all the same.
    logistic = SigmoidClassifier().fit(X, [0, 1, 1, 2, 2])
    logistic.coef_ = np.zeros((3, 1))
    for least in -1e3, -720.0:
        logistic.intercept_ = np.array([least, least - 1, 2 * least])
        expected = np.append(np.exp([0, -1]) / (1 + np.exp(-1)), 0)
        assert_allclose(logistic.predict_proba(X)[0], expected, atol=1e-300)
        log_p = logistic.predict_log_proba(X)[0]
        assert log_p[2] == pytest.approx(least + np.log(expected[0]))
    # None of the marginals is a number of single precision.
    logistic.coef_ = logistic.coef_.astype(np.float32)
    logistic.intercept_ = logistic.intercept_.astype(np.float32)
    p = logistic.predict_proba(X.astype(np.float32))
    assert_allclose(p[0], expected, rtol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_budgets_and_labels(n_classes):
    """Each row has one class; with the sum one, the classes compete."""
    X, y = classes(n_classes)
    for budget in [(2, 2), (0, 0.5)]:
        with pytest.raises(ValueError, match=r"budget must allow the sum 1 .* got \("):
            SigmoidClassifier(budget=budget).fit(X, y)
    one = SigmoidClassifier(budget=(1, 1)).fit(X, y)
    if n_classes > 2:
        assert_allclose(one.mapping_(one.decision_function(X)).sum(axis=1), 1)
    wide = SigmoidClassifier(budget=(0, n_classes)).fit(X, y)
    free = SigmoidClassifier().fit(X, y)
    assert_allclose(wide.predict_proba(X), free.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0, 3.0])
def test_labels_in_all_metrics(alpha):
    X, y = classes(3)
    model = SigmoidClassifier(alpha).fit(X, y)
    target = (y[:, None] == model.classes_).astype(float)
    marginals = Sigmoid(alpha)(model.decision_function(X))
    total = marginals.sum(axis=1, keepdims=True)
    p = np.where(total > 0, marginals, entmax(model.decision_function(X), alpha))
    p /= np.where(total > 0, total, 1)
    assert_allclose(model.predict_proba(X), p)
    by_hand = -np.square(p - target).sum(axis=1).mean()
    assert BrierScorer()(model, X, y) == pytest.approx(by_hand)
    scores = model.decision_function(X)
    loss = FenchelYoungLoss(Sigmoid(alpha)).value(scores, target).mean()
    assert FenchelYoungScorer()(model, X, y) == pytest.approx(-loss)
    calibrated = CalibratedClassifierCV(model, cv=2).fit(X, y)
    assert calibrated.score(X, y) > 0.5
    with pytest.raises(ValueError, match=r"set_threshold is for .* label sets"):
        model.set_threshold(0.5)
    sparse_model = SigmoidClassifier(alpha, sparse_output=True).fit(X, y)
    assert_allclose(sparse_model.predict_proba(X).toarray(), p)


def test_a_penalty_by_auto_is_that_of_a_label():
    """Two classes are one label, whatever alpha is."""
    X, y = classes(2)
    for alpha in (1.0, 1.5, 2.0):
        pair = SigmoidClassifier(alpha, tol=1e-9).fit(X, y)
        sets = SigmoidClassifier(alpha, tol=1e-9, threshold=0.5)
        sets.fit(X, np.column_stack([y == "rain", y == "snow"]).astype(int))
        assert pair.C_ == pytest.approx(sets.C_)
        assert_allclose(sets.coef_, [-pair.coef_[0], pair.coef_[0]], atol=1e-6)


class Logistic(Mapping):
    """A mapping to marginals of which nothing else is known."""

    traits = Traits(polytope="cube", is_shift_invariant=False, has_potential=True)

    def probabilities(self, scores):
        return expit(scores)

    def probabilities_and_potential(self, scores):
        # Less the sum of the positive scores.
        return expit(scores), np.logaddexp(0, -np.abs(scores)).sum(axis=1)

    def negative_entropy(self, probabilities):
        return -(entr(probabilities) + entr(1 - probabilities)).sum(axis=1)


def test_marginals_of_other_mappings():
    """Two classes have two marginals where it is not known that one is enough."""
    X, y = classes(2)
    X = X / X.std(axis=0)
    model = LinearClassifier(Logistic(), tol=1e-8).fit(X, y)
    one = SigmoidClassifier(C=1.0, tol=1e-8).fit(X, y)
    assert_allclose(model.coef_, [-one.coef_[0], one.coef_[0]], atol=1e-5)
    assert_allclose(model.predict_proba(X), one.predict_proba(X), atol=1e-5)
    assert_array_equal(model.predict(X), one.predict(X))
    other = LinearClassifier(Temperature(Logistic(), 2.0)).fit(X, y)
    assert other.coef_.shape == (2, 4)


def test_temperature_and_smoothing_of_labels():
    for n_classes in (2, 3):
        X, y = classes(n_classes)
        half = SigmoidClassifier(C=2.0, temperature=2.0, tol=1e-9).fit(X, y)
        one = SigmoidClassifier(C=1.0, tol=1e-9).fit(X, y)
        # The loss of z / 2 counts twice, the penalty of twice the coefficients four
        # times.
        assert_allclose(half.coef_ / 2, one.coef_, atol=1e-6)
        smooth = SigmoidClassifier(label_smoothing=0.2, tol=1e-9).fit(X, y)
        target = (y[:, None] == smooth.classes_[-smooth.coef_.shape[0] :]) * 0.8 + 0.1
        residual = expit(X @ smooth.coef_.T + smooth.intercept_) - target
        assert_allclose(residual.T @ X + smooth.coef_, 0, atol=1e-5)


def test_above_alpha_2_newtons_method_finds_the_minimum():
    """First-order methods take hundreds of steps with so small a support."""
    X, y = load_iris(return_X_y=True)
    sets = np.column_stack([y != 0, X[:, 0] > 5.8, X[:, 1] > 3]).astype(int)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = SigmoidClassifier(5.0, C=10.0, tol=1e-8, threshold=0.5).fit(X, sets)
    assert model.solver_ == "newton-cholesky"
    assert model.n_iter_ <= 20
    # p^4 - (1 - p)^4 = 4 z, if the root is between zero and one.
    z = model.decision_function(X).clip(-0.25, 0.25)
    p = [brentq(lambda q, u=u: q**4 - (1 - q) ** 4 - 4 * u, 0, 1) for u in z.ravel()]
    residual = np.reshape(p, z.shape) - sets
    assert_allclose(residual.T @ X + model.coef_ / 10, 0, atol=1e-5)
    assert_allclose(residual.sum(axis=0), 0, atol=1e-5)
