"""The log loss of labels through perturb-max against formulas of two classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from skprob import PerturbMaxClassifier
from skprob.losses import LogLoss
from skprob.mappings import PerturbMax
from skprob.mappings.perturb_max._independent import IndependentMax
from skprob.targets import DenseTarget, LabelTarget

SCORES = np.random.default_rng(0).normal(scale=2, size=(20, 2))
LABELS = np.arange(20) % 2


def probit(scores, labels):
    """Losses of labels under normal noise, and their derivatives in the label."""
    sign = 2 * labels - 1
    u = sign * (scores[:, 1] - scores[:, 0]) / np.sqrt(2)
    return -norm.logcdf(u), -np.exp(norm.logpdf(u) - norm.logcdf(u)) / np.sqrt(2)


@pytest.fixture
def no_jacobian(monkeypatch):
    def fail(self, scores):
        raise AssertionError("A Jacobian was computed.")

    monkeypatch.setattr(IndependentMax, "log_linearize", fail)
    monkeypatch.setattr(IndependentMax, "linearize", fail)


def test_gradients_of_labels_need_no_jacobian(no_jacobian):
    """A Jacobian of ten classes takes ten times as long as a label's gradient."""
    target = LabelTarget(LABELS, 2)
    linear = LogLoss(PerturbMax("normal")).linearize(SCORES.copy(), target)
    values, of_label = probit(SCORES, LABELS)
    gradient = np.empty_like(SCORES)
    gradient[np.arange(20), LABELS] = of_label
    gradient[np.arange(20), 1 - LABELS] = -of_label
    assert_allclose(linear.values, values, rtol=1e-8)
    assert_allclose(linear.gradient, gradient, rtol=1e-8)
    with pytest.raises(AssertionError, match="A Jacobian"):
        linear.hessian_product(np.ones((20, 2)))


def test_a_fit_by_lbfgs_needs_no_jacobian(no_jacobian):
    X = SCORES[:, :1]
    model = PerturbMaxClassifier(loss="log", solver="lbfgs", tol=1e-8).fit(X, LABELS)
    z = model.decision_function(X)
    _, of_label = probit(np.stack([-z / 2, z / 2], axis=1), LABELS)
    # With C = 1 the objective is the sum of the losses of w x + b plus w² / 2.
    residual = np.where(LABELS == 1, of_label, -of_label)
    assert_allclose(residual @ X + model.coef_[0], 0, atol=1e-6)
    assert_allclose(residual.sum(), 0, atol=1e-6)


def test_some_rows_are_labels():
    q = np.where(np.arange(20)[:, None] % 3 == 0, 0.5, np.eye(2)[LABELS])
    linear = LogLoss(PerturbMax("normal")).linearize(SCORES.copy(), DenseTarget(q))
    losses = [probit(SCORES, np.full(20, k))[0] for k in (0, 1)]
    assert_allclose(linear.values, (q.T * losses).sum(axis=0), rtol=1e-8)

    def gradient(scores):
        rates = [probit(scores, np.full(20, k))[1] for k in (0, 1)]
        second = q[:, 1] * rates[1] - q[:, 0] * rates[0]
        return np.stack([-second, second], axis=1)

    assert_allclose(linear.gradient, gradient(SCORES), rtol=1e-8, atol=1e-12)
    step = np.array([1e-5, -2e-5])
    change = gradient(SCORES + step) - gradient(SCORES - step)
    product = linear.hessian_product(np.broadcast_to(step, SCORES.shape).copy())
    assert_allclose(product, change / 2, rtol=1e-5, atol=1e-12)
