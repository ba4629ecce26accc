"""Smooth accuracy: minus the probability of the target."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from skprob import LinearClassifier
from skprob.losses import AccuracyLoss
from skprob.mappings import Entmax, Softmax, Sparsemax


@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5), Sparsemax()])
def test_value_and_derivatives(mapping):
    rng = np.random.default_rng(0)
    z, d = rng.standard_normal((2, 50, 4))
    q = rng.dirichlet(np.ones(4), size=50)
    loss = AccuracyLoss(mapping)
    value, gradient = loss.value_and_gradient(z, q)
    np.testing.assert_allclose(value, -np.sum(q * mapping(z), axis=1), atol=1e-15)
    # Rows whose support changes between the two points have no derivative there.
    step = 1e-6
    ahead, behind = (loss.value_and_gradient(z + s * step * d, q) for s in (1, -1))
    smooth = np.all((mapping(z + step * d) > 0) == (mapping(z - step * d) > 0), axis=1)
    assert smooth.mean() > 0.9
    slope = (ahead[0] - behind[0]) / (2 * step)
    np.testing.assert_allclose(
        slope[smooth], np.sum(gradient * d, axis=1)[smooth], atol=1e-8
    )
    bend = (ahead[1] - behind[1]) / (2 * step)
    np.testing.assert_allclose(
        bend[smooth], loss.hessian_product(z, q, d)[smooth], atol=1e-5
    )


@pytest.fixture
def noisy():
    return make_classification(
        400, 5, n_informative=3, n_redundant=0, n_classes=3, flip_y=0.2, random_state=0
    )


def expected_accuracy(model, X, y):
    return model.predict_proba(X)[np.arange(len(y)), y].mean()


def test_a_fit_goes_on_from_the_log_loss(noisy):
    X, y = noisy
    log = LinearClassifier("softmax", loss="log").fit(X, y)
    accuracy = LinearClassifier("softmax", loss="accuracy", C=100.0).fit(X, y)
    assert expected_accuracy(accuracy, X, y) > expected_accuracy(log, X, y) + 0.02
    assert accuracy.n_iter_ > log.n_iter_


def test_pretraining_is_a_choice(noisy):
    X, y = noisy
    # A single step is the log loss's or its own.
    options = dict(solver="lbfgs", max_iter=1)
    with pytest.warns(ConvergenceWarning):
        cold = LinearClassifier(loss=AccuracyLoss(pretrain=None), **options).fit(X, y)
    with pytest.warns(ConvergenceWarning):
        warm = LinearClassifier(loss=AccuracyLoss(), **options).fit(X, y)
    assert (cold.n_iter_, warm.n_iter_) == (1, 1)
    assert cold.history_["stage"].tolist() == ["final", "final"]
    assert warm.history_["stage"].tolist() == ["easier loss", "final"]
    with pytest.raises(ValueError, match="'pretrain' parameter of AccuracyLoss"):
        LinearClassifier(loss=AccuracyLoss(pretrain="hinge")).fit(X, y)


def test_mislabelled_rows_cost_it_little():
    # One far outlier with the wrong label moves the log loss, not this one.
    X = np.concatenate([np.linspace(-2, -1, 20), np.linspace(1, 2, 20), [-8.0]])
    y = np.array([0] * 20 + [1] * 21)
    log = LinearClassifier(C=100.0).fit(X[:, None], y)
    accuracy = LinearClassifier(loss="accuracy", C=100.0).fit(X[:, None], y)
    assert accuracy.score(X[:40, None], y[:40]) == 1
    assert accuracy.objective_ < -0.9
    assert log.coef_[0, 0] < accuracy.coef_[0, 0]
