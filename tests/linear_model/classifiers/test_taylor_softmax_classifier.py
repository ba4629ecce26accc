"""Taylor softmax as a classifier: a loss that is not convex, scores that mislead."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.preprocessing import StandardScaler

from skprob import LinearClassifier, SoftmaxClassifier, TaylorSoftmaxClassifier
from skprob.mappings import TaylorSoftmax

from ..assertions import assert_refused


@pytest.mark.parametrize(
    ("load", "order"),
    [
        (load_iris, 2),
        (load_iris, 30),
        (load_breast_cancer, 4),
        (load_digits, 2),
        (load_digits, 10),
    ],
)
def test_it_converges_from_zero(load, order):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = TaylorSoftmaxClassifier(order=order).fit(X, y)  # without a warning
    assert model.n_iter_ > 5
    assert model.gradient_norm_ <= 1e-4
    # A minimum, as far as steps in random directions tell.
    outputs = model.coef_.shape[0]
    rng = np.random.default_rng(0)
    one_hot = np.eye(len(model.classes_))[y]

    def objective(coef, intercept):
        scores = X @ coef.T + intercept
        if outputs == 1:
            scores = np.hstack([-scores / 2, scores / 2])
        log_p = TaylorSoftmax(order).log_probabilities(scores)
        return ((coef**2).sum() / 2 - (one_hot * log_p).sum()) / len(X)

    least = objective(model.coef_, model.intercept_)
    assert_allclose(least, model.objective_, rtol=1e-12)
    for step in (1e-2, 1e-1):
        coef = model.coef_ + step * rng.normal(size=model.coef_.shape)
        assert objective(coef, model.intercept_) > least


def test_a_large_order_is_softmax():
    X, y = load_iris(return_X_y=True)
    softmax = SoftmaxClassifier(tol=1e-7).fit(X, y)
    taylor = TaylorSoftmaxClassifier(order=30, tol=1e-7).fit(X, y)
    assert_allclose(taylor.coef_, softmax.coef_, atol=1e-5)


def test_predictions_follow_the_probabilities_not_the_scores():
    """Far away on the side opposite to a class, its score is the largest in size."""
    angles = 2 * np.pi * np.arange(3) / 3
    centres = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    X = np.repeat(3 * centres, 20, axis=0)
    X += np.random.default_rng(0).normal(size=X.shape)
    model = TaylorSoftmaxClassifier(order=2).fit(X, np.repeat(["a", "b", "c"], 20))
    opposite = -10 * centres
    scores, p = model.decision_function(opposite), model.predict_proba(opposite)
    assert_array_equal(scores.argmin(axis=1), [0, 1, 2])
    assert_array_equal(p.argmax(axis=1), [0, 1, 2])
    assert_array_equal(model.predict(opposite), ["a", "b", "c"])


def test_two_classes_have_a_largest_probability():
    X = np.linspace(-100, 100, 10_001)[:, None]
    model = TaylorSoftmaxClassifier(order=2).fit([[-1.0], [1.0]] * 20, [0, 1] * 20)
    p = model.predict_proba(X)
    assert p.max() <= (2 + np.sqrt(2)) / 4
    assert p.max() == pytest.approx((2 + np.sqrt(2)) / 4, abs=1e-5)
    assert p[-1, 1] < 0.6
    # The sign of the score still tells the more probable class.
    assert_array_equal(model.decision_function(X) > 0, p[:, 1] > 0.5)
    assert_array_equal(model.predict(X), p[:, 1] > 0.5)


def test_it_is_the_linear_classifier_with_this_mapping():
    X, y = load_iris(return_X_y=True)
    model = TaylorSoftmaxClassifier(order=4).fit(X, y)
    other = LinearClassifier(TaylorSoftmax(4)).fit(X, y)
    assert_array_equal(model.coef_, other.coef_)


def test_bad_order_is_refused():
    for order in (3, 0, 40):
        model = TaylorSoftmaxClassifier(order=order)
        message = "'order' parameter of TaylorSoftmaxClass"
        assert_refused(message, model.fit, [[0.0], [1.0]], [0, 1])
