"""Sparse softmax as a classifier: pretraining, fine-tuning, and where it stops."""

import warnings
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning

from skprob import LinearClassifier, SoftmaxClassifier, SparseSoftmaxClassifier
from skprob.losses import SparseSoftmaxLoss
from skprob.mappings import SparseSoftmax

from ..assertions import assert_refused

IRIS = load_iris(return_X_y=True)
OUTSIDE = ["published", "add", "grow", "full", "skip"]


def fit(model, X, y):
    """Fit, with the only warning that may come where the kept classes jump."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "SparseSoftmax", ConvergenceWarning)
        return model.fit(X, y)


@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_it_starts_from_the_softmax_model(temperature):
    """Where all classes are kept there is nothing to tune, and not one iteration."""
    X, y = IRIS
    softmax = SoftmaxClassifier(temperature=temperature).fit(X, y)
    model = SparseSoftmaxClassifier(k=3, temperature=temperature).fit(X, y)
    assert_array_equal(model.coef_, softmax.coef_)
    assert model.n_iter_ == softmax.n_iter_
    fit(model.set_params(k=2), X, y)
    assert model.n_iter_ > softmax.n_iter_
    assert np.abs(model.coef_ - softmax.coef_).max() > 1e-3


def test_pretraining_decides_where_a_loss_with_jumps_ends():
    """From zero, "skip" leaves out the classes that are not among the first k."""
    X, y = load_digits(return_X_y=True)
    tuned = SparseSoftmaxClassifier(k=3, outside="skip").fit(X, y)
    bare = SparseSoftmaxClassifier(k=3, outside="skip", pretrain=None)
    bare = fit(bare, X, y)
    assert tuned.score(X, y) > 0.99
    assert bare.score(X, y) < 0.6


def test_a_warm_start_takes_the_place_of_pretraining():
    X, y = IRIS
    model = SparseSoftmaxClassifier(k=2, warm_start=True).fit(X, y)
    coef, n_iter = model.coef_, model.n_iter_
    model.fit(X, y)
    assert model.n_iter_ < n_iter / 2
    assert_allclose(model.coef_, coef, atol=1e-2)
    # From a model that was fitted otherwise, here with another mapping.
    softmax = SoftmaxClassifier().fit(X, y)
    model = SparseSoftmaxClassifier(k=2, warm_start=True)
    model.coef_, model.intercept_ = softmax.coef_, softmax.intercept_
    cold = SparseSoftmaxClassifier(k=2).fit(X, y)
    model.fit(X, y)
    assert_allclose(model.coef_, cold.coef_, atol=1e-6)
    assert model.n_iter_ == cold.n_iter_ - softmax.n_iter_


@pytest.mark.parametrize(
    ("outside", "kept"),
    [*((outside, {"k": 2}) for outside in OUTSIDE), ("published", {"p": 0.9})],
)
def test_fine_tuning_lowers_its_objective_and_the_model_is_usable(outside, kept):
    X, y = IRIS
    model = fit(SparseSoftmaxClassifier(outside=outside, **kept), X, y)
    softmax = SoftmaxClassifier().fit(X, y)
    loss = SparseSoftmaxLoss(SparseSoftmax(**kept), outside)

    def objective(m):
        values = loss.value(m.decision_function(X), np.eye(3)[y])
        return ((m.coef_**2).sum() / 2 + values.sum()) / len(X)

    assert objective(model) == pytest.approx(model.objective_, rel=1e-12)
    assert objective(model) < objective(softmax)
    assert model.score(X, y) > 0.95
    p = model.predict_proba(X)
    assert (p == 0).any()
    assert_array_equal(model.predict(X), p.argmax(axis=1))


@cache
def least_published(seed, C):
    """The least objective of top-2 of the overlapping classes, by SciPy's SLSQP.

    The loss of a row is the largest of three smooth functions, one for each pair of
    classes: the objective is their bound under smooth constraints.
    """
    X, y = overlapping_classes(seed)
    n, p = X.shape
    pairs = [[0, 1], [0, 2], [1, 2]]

    def losses(parameters):
        W, b = parameters[: 3 * p].reshape(3, p), parameters[3 * p : 3 * p + 3]
        scores = X @ W.T + b
        of_label = scores[np.arange(n), y]
        return np.stack(
            [logsumexp(scores[:, pair], axis=1) - of_label for pair in pairs]
        )

    def jacobian(parameters):
        W, b = parameters[: 3 * p].reshape(3, p), parameters[3 * p : 3 * p + 3]
        scores, blocks = X @ W.T + b, []
        for pair in pairs:
            residual = -np.eye(3)[y]
            residual[:, pair] += softmax(scores[:, pair], axis=1)
            of_W = -(residual[:, :, None] * X[:, None]).reshape(n, -1)
            blocks.append(np.hstack([of_W, -residual, np.eye(n)]))
        return np.vstack(blocks)

    def objective(parameters):
        return parameters[-n:].mean() + (parameters[: 3 * p] ** 2).sum() / (2 * C * n)

    def gradient(parameters):
        slopes = np.append(np.zeros(3 * p + 3), np.full(n, 1 / n))
        slopes[: 3 * p] = parameters[: 3 * p] / (C * n)
        return slopes

    bound = {
        "type": "ineq",
        "fun": lambda x: (x[-n:] - losses(x)).ravel(),
        "jac": jacobian,
    }
    start = np.append(np.zeros(3 * p + 3), np.full(n, 2.0))
    options = {"maxiter": 500, "ftol": 1e-12}
    optimum = minimize(
        objective, start, jac=gradient, constraints=bound, options=options
    )
    assert optimum.success
    return optimum.fun


def overlapping_classes(seed, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    scores = X @ rng.normal(size=(2, 3)) + rng.gumbel(size=(n, 3))
    return X, scores.argmax(axis=1)


# The tests of this loss share the minima of few pairs, which SLSQP takes long to find.
@pytest.mark.parametrize(("seed", "C"), [(0, 0.1), (1, 1.0), (2, 10.0)])
def test_a_fit_that_stops_at_a_kink_is_optimal_and_does_not_warn(seed, C):
    X, y = overlapping_classes(seed)
    least = least_published(seed, C)
    for tol in (1e-3, 1e-4, 1e-6):
        # Warnings are errors: each fit reports success.
        model = SparseSoftmaxClassifier(k=2, C=C, tol=tol).fit(X, y)
        allowed = tol * (least + tol * np.log(2))
        assert least - 1e-8 <= model.objective_ <= least + allowed + 1e-8
        assert model.gradient_norm_ <= tol


@pytest.mark.parametrize(
    ("seed", "temperature"), [(0, 10.0), (1, 1.0), (2, 0.1), (3, 1.0)]
)
def test_the_fenchel_young_loss_has_the_same_kinks(seed, temperature):
    """At zero scores all classes are equal: a step along the gradient may go up."""
    X, y = overlapping_classes(seed)
    # The loss of scores z is temperature times that of z / temperature.
    least = temperature * least_published(seed, 1 / temperature)
    for tol in (1e-3, 1e-4, 1e-6):
        model = LinearClassifier(
            mapping=SparseSoftmax(k=2), temperature=temperature, tol=tol
        ).fit(X, y)
        allowed = tol * (least + tol * np.log(2))
        assert least - 1e-8 <= model.objective_ <= least + allowed + 1e-8


def test_a_fit_that_ends_too_early_at_a_kink_warns():
    for seed in (1, 3):
        X, y = overlapping_classes(seed)
        least = least_published(seed, 1.0)
        for max_iter in (1, 3, 10):
            model = SparseSoftmaxClassifier(k=2, max_iter=max_iter, tol=1e-6)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model.fit(X, y)
            assert caught or model.objective_ <= least * (1 + 2e-6)


def test_a_fit_that_stops_at_a_jump_says_so():
    X, y = IRIS
    with pytest.warns(ConvergenceWarning, match="no step lowers the objective"):
        model = SparseSoftmaxClassifier(p=0.9).fit(X, y)
    assert model.gradient_norm_ > 1e-4


@pytest.mark.parametrize("outside", OUTSIDE)
def test_it_is_the_linear_classifier_with_this_loss(outside):
    X, y = IRIS
    loss = SparseSoftmaxLoss(outside=outside)
    other = LinearClassifier(SparseSoftmax(k=2), loss).fit(X, y)
    model = SparseSoftmaxClassifier(k=2, outside=outside).fit(X, y)
    assert_array_equal(model.coef_, other.coef_)


def test_label_sets_and_distributions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    scores = X @ rng.normal(size=(3, 6)) * 3
    sets = (scores > 1).astype(int)
    sets[np.arange(200), scores.argmax(axis=1)] = 1
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    to_sets = fit(SparseSoftmaxClassifier(k=3, C=100.0, threshold="support"), X, sets)
    predicted = to_sets.predict(X)
    assert_array_equal(predicted.sum(axis=1), 3)
    assert sets[predicted == 1].mean() > sets.mean() + 0.3
    to_distributions = fit(SparseSoftmaxClassifier(k=3, C=100.0), X, p)
    best = to_distributions.predict_proba(X)
    assert_array_equal((best > 0).sum(axis=1), 3)
    assert np.abs(best - p).max(axis=1).mean() < 0.1


def test_bad_input_is_refused():
    for parameters, message in [
        ({"k": 0}, "'k' parameter of SparseSoftmaxClassifier"),
        ({"p": 0.0}, "'p' parameter of SparseSoftmaxClassifier"),
        ({"k": 2, "p": 0.5}, "Exactly one of k and p"),
        ({"k": None}, "Exactly one of k and p"),
        ({"outside": "drop"}, "'outside' parameter of SparseSoftmaxClassifier"),
        ({"pretrain": "entmax"}, "'pretrain' parameter of SparseSoftmaxClassifier"),
    ]:
        assert_refused(message, SparseSoftmaxClassifier(**parameters).fit, *IRIS)


def test_a_constraint_for_each_parameter_and_no_other():
    model = SparseSoftmaxClassifier()
    assert model._parameter_constraints.keys() == model.get_params().keys()
