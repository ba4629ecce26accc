"""A user's loss with wrong values or derivatives gets an error before a fit."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from skprob import LinearClassifier
from skprob.losses import Loss, LossLinearization, MarginLoss

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = np.argmax(X[:, :3] + RNG.gumbel(size=(60, 3)), axis=1)


def unchanged(array):
    return array


class CrossEntropy(Loss):
    """The log loss of softmax, of which a part may be changed."""

    values = residual = product = staticmethod(unchanged)

    def linearize(self, scores, target):
        q, p = target.to_dense(scores.dtype), softmax(scores, axis=1)
        return LossLinearization(
            self.values(-(q * log_softmax(scores, axis=1)).sum(axis=1)),
            lambda: self.residual(p - q),
            lambda d: self.product(p * (d - (p * d).sum(axis=1, keepdims=True))),
        )


def changed(**parts):
    parts = {name: staticmethod(function) for name, function in parts.items()}
    return type("Changed", (CrossEntropy,), parts)()


def test_a_correct_loss_is_accepted():
    expected = LinearClassifier(loss="log", tol=1e-8).fit(X, Y)
    for loss in (CrossEntropy(), MarginLoss(CrossEntropy(), 0.0)):
        model = LinearClassifier(loss=loss, tol=1e-8).fit(X, Y)
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-6)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (changed(values=lambda v: v * np.nan), r"values of shape \(8,\) .* gave .nan"),
        (changed(values=lambda v: v[:, None]), r"values of shape \(8,\)"),
        (changed(values=lambda v: v.sum()), r"values of shape \(8,\)"),
        (changed(residual=lambda r: r[:, :2]), r"a gradient of shape \(8, 3\)"),
        (changed(residual=lambda r: r * np.nan), r"a gradient of shape \(8, 3\)"),
        (changed(residual=lambda r: 2 * r), "gradient of Changed.* must agree with"),
        (changed(residual=lambda r: 0 * r), "gradient of Changed.* must agree with"),
        (changed(values=lambda v: -v), "gradient of Changed.* must agree with"),
        (changed(product=lambda h: h[:, :2]), r"a Hessian product of shape \(8, 3\)"),
        (changed(product=lambda h: h * np.nan), r"a Hessian product of shape \(8, 3\)"),
    ],
)
def test_a_wrong_loss_is_refused(loss, message):
    with pytest.raises(ValueError, match=message):
        LinearClassifier(loss=loss).fit(X, Y)
    for parameters in (
        {"loss": loss, "margin": 0.5},
        {"loss": MarginLoss(loss, 0.5)},
        {"loss": MarginLoss(MarginLoss(loss, 0.5), 1 - np.eye(3))},
    ):
        with pytest.raises(ValueError, match=message):
            LinearClassifier(**parameters).fit(X, Y)


def test_a_loss_without_a_linearization_is_refused():
    class Empty(Loss):
        def linearize(self, scores, target):
            return None

    with pytest.raises(ValueError, match=r"return a LossLinearization; .* a NoneType"):
        LinearClassifier(loss=Empty()).fit(X, Y)


@pytest.mark.parametrize("loss", ["log", None, 3, CrossEntropy])
def test_a_margin_of_what_is_no_loss_is_refused(loss):
    with pytest.raises(ValueError, match="'loss' parameter of MarginLoss must be an"):
        LinearClassifier(loss=MarginLoss(loss, 0.5)).fit(X, Y)
