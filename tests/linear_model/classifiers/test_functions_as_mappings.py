"""A user's own function as the mapping of a classifier."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import EntmaxClassifier, LinearClassifier, SoftmaxClassifier
from skprob.mappings import Mapping, NormalizedMapping, Traits, entmax, sparsemax

from ..assertions import assert_refused


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def plain_softmax(scores):
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def plain_entmax(scores):
    return entmax(scores, alpha=1.5)


def rational(scores):
    """Not a gradient: each class has a weight of its own score alone."""
    weight = (1 + scores**2 / 8) * np.exp(np.tanh(scores))
    return weight / weight.sum(axis=1, keepdims=True)


def even(scores):
    """Does not tell z from -z: at zero its gradient vanishes."""
    weight = 1 + scores**2
    return weight / weight.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("function", "classifier"),
    [(plain_softmax, SoftmaxClassifier()), (plain_entmax, EntmaxClassifier(C=1.0))],
)
def test_a_function_is_trained_like_the_mapping_it_is(iris, function, classifier):
    X, y = iris
    X, y = X[::3], y[::3]
    by_function = LinearClassifier(function, tol=1e-5).fit(X, y)
    known = classifier.set_params(tol=1e-7).fit(X, y)
    assert_allclose(by_function.coef_, known.coef_, atol=1e-3)
    assert_allclose(by_function.predict_proba(X), known.predict_proba(X), atol=1e-4)
    assert by_function.gradient_norm_ <= 1e-5


def test_the_sparsest_function_to_a_small_tolerance():
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    by_function = LinearClassifier(lambda scores: sparsemax(scores), tol=1e-6).fit(X, y)
    known = LinearClassifier("sparsemax", tol=1e-9).fit(X, y)
    assert by_function.gradient_norm_ <= 1e-6
    assert_allclose(by_function.coef_, known.coef_, atol=1e-4)


def test_in_a_pipeline_and_a_grid(iris):
    X, y = iris
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LinearClassifier(mapping=plain_softmax)),
        {
            "linearclassifier__C": [0.1, 10.0],
            "linearclassifier__mapping": [plain_softmax, "sparsemax"],
        },
        cv=3,
    ).fit(X[::2], y[::2])
    assert search.best_score_ > 0.9


def test_a_function_that_is_no_gradient_is_refused_with_a_way_out(iris):
    with pytest.raises(ValueError, match=r"not symmetric .*loss='log'"):
        LinearClassifier(rational).fit(*iris)
    with pytest.raises(ValueError, match=r"not symmetric .*loss='log'"):
        LinearClassifier(rational, margin=0.5).fit(*iris)
    model = LinearClassifier(rational, loss="log").fit(*iris)
    assert model.score(*iris) > 0.9


def test_log_loss_of_a_function_against_finite_differences(iris):
    X, y = iris
    model = LinearClassifier(rational, loss="log", tol=1e-6).fit(X, y)

    def objective(coef, intercept):
        p = rational(X @ coef.T + intercept)
        penalty = 0.5 * np.sum(coef**2) / len(y)
        return -np.log(p[np.arange(len(y)), y]).mean() + penalty

    at_optimum = objective(model.coef_, model.intercept_)
    # The smoothing of 1e-6 of what may have zeros shifts it by so much.
    assert model.objective_ == pytest.approx(at_optimum, abs=1e-5)
    for move in np.eye(15) * 1e-3:
        coef, intercept = move[:12].reshape(3, 4), move[12:]
        for sign in (1, -1):
            nearby = objective(
                model.coef_ + sign * coef, model.intercept_ + sign * intercept
            )
            assert nearby > at_optimum - 1e-9


def test_a_function_with_no_slope_at_zero_still_learns(iris):
    model = LinearClassifier(even, loss="log").fit(*iris)
    assert model.score(*iris) > 0.8


def with_a_bad_row(scores):
    p = plain_softmax(scores)
    p[3:5] = [0.5, 0.75, 0.25]
    return p


@pytest.mark.parametrize("loss", ["auto", "log", "accuracy"])
def test_bad_functions_are_told_what_they_return(iris, loss):
    for function, message in [
        (lambda z: z[:, :1], r"must return an array of the shape of the scores"),
        (lambda z: np.full_like(z, np.nan), r"row 0 has"),
        (lambda z: z, r"non-negative numbers that sum to one; row 0"),
        (lambda z: np.ones_like(z), r"row 0 .* sum 3: it is \[1. 1. 1.\]"),
        (with_a_bad_row, r"row 3 .* sum 1.5: it is \[0.5  0.75 0.25\]"),
    ]:
        model = LinearClassifier(function, loss=loss)
        assert_refused(message, model.fit, *iris)
        assert not hasattr(model, "n_iter_")  # Before anything was minimised.


def test_a_class_that_only_has_probabilities(iris):
    class Bare(Mapping):
        def probabilities(self, scores):
            return rational(scores)

        traits = Traits(is_shift_invariant=False)

    model = LinearClassifier(Bare()).fit(*iris)
    assert "LogLoss" in repr(model.loss_)
    assert model.score(*iris) > 0.9


def spherical(scores):
    """Squares divided by their sum."""
    weight = scores**2
    return weight / weight.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def least_spherical(iris):
    """The least mean log loss of spherical softmax, by SciPy from several starts."""
    X, y = iris
    K, design = y.max() + 1, np.column_stack([X, np.ones(len(X))])
    of_label = np.eye(K)[y]
    # The smoothing of mappings that may have zeros.
    smoothing = 1e-6

    def loss(parameters):
        scores = design @ parameters.reshape(K, -1).T
        p = (spherical(scores) * of_label).sum(axis=1, keepdims=True)
        slope = 2 * scores * (of_label - p) / (scores**2).sum(axis=1, keepdims=True)
        gradient = -(slope / (p + smoothing)).T @ design / len(y)
        value = -np.log((p + smoothing) / (1 + K * smoothing)).mean()
        return value, gradient.ravel()

    starts = np.random.default_rng(0).normal(size=(6, K * design.shape[1]))
    return min(
        optimize.minimize(loss, start, jac=True, method="BFGS").fun for start in starts
    )


@pytest.mark.parametrize(
    ("solver", "derivative", "Cs"),
    [("auto", None, (0.01, "auto")), ("newton-cg", lambda x: 2 * x, (100.0,))],
)
def test_spherical_softmax_has_no_probabilities_at_zero(
    iris, least_spherical, solver, derivative, Cs
):
    X, y = iris
    mapping = NormalizedMapping(np.square, derivative)
    model = LinearClassifier(mapping, solver=solver, tol=1e-6).fit(X, y)
    assert model.gradient_norm_ <= 1e-6
    assert model.objective_ <= least_spherical + 1e-6
    assert model.score(X, y) >= 0.9
    assert_allclose(model.predict_proba(X), spherical(model.decision_function(X)))
    # Smaller scores have the same loss: whatever C is, nothing is left of the penalty.
    assert model.C_ == np.inf
    for C in Cs:
        other = clone(model).set_params(C=C).fit(X, y)
        assert_allclose(other.coef_, model.coef_)


def test_functions_that_are_zero_at_zero_are_fitted():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    for f, options in (
        (np.square, {}),
        (lambda x: x**4, {"fit_intercept": False}),
        (lambda x: x**2 + x**4, {"similarity": "cosine"}),
    ):
        model = LinearClassifier(NormalizedMapping(f), **options).fit(X, y)
        assert model.score(X, y) > 0.9
    few = X[:, :5]
    for name in ("sets", "shares"):
        p = spherical(np.column_stack([X[:, :3], np.ones(len(X))]))
        target = p if name == "shares" else (p > 0.25).astype(int)
        # The loss is not convex: hundreds of iterations, by rounding.
        model = LinearClassifier(NormalizedMapping(np.square), max_iter=2000)
        model.fit(few[::2], target[::2])
        assert_allclose(model.predict_proba(few).sum(axis=1), 1)
    assert LinearClassifier("softmax").fit(X, y).C_ == 1.0


@pytest.mark.parametrize(
    "mapping",
    [
        NormalizedMapping(np.square),
        NormalizedMapping(lambda x: 1 + x**2),
        NormalizedMapping(lambda x: np.where(x > 0, x, 0.1 * x) ** 2),
        even,
    ],
)
def test_two_classes_must_be_told_apart_by_opposite_scores(mapping):
    """Their probabilities would be 1/2 whatever the coefficients."""
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    model = LinearClassifier(mapping, loss="log")
    assert_refused(r"scores of two classes are -u/2 and u/2", model.fit, X, y)


def test_two_classes_with_a_function_that_is_not_symmetric():
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = (X @ [1.0, -2.0] > 0.3).astype(int)
    model = LinearClassifier(NormalizedMapping(lambda x: (x + 1) ** 2)).fit(X, y)
    assert model.score(X, y) > 0.95
