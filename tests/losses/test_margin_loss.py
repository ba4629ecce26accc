"""Margins, a number or a matrix of costs, against their definition."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.special import logsumexp
from sklearn.datasets import make_multilabel_classification

from skprob import LinearClassifier
from skprob.losses import FenchelYoungLoss, LogLoss, MarginLoss, SparseSoftmaxLoss
from skprob.mappings import Entmax, Softmax, Sparsemax, SparseSoftmax, TaylorSoftmax

COSTS = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 3.0], [0.1, 7.0, 0.0]])
RNG = np.random.default_rng(0)
Z, Q = RNG.normal(size=(20, 3)), RNG.dirichlet([0.5] * 3, size=20)
Q[:12] = np.eye(3)[np.arange(12) % 3]
INNER = [
    FenchelYoungLoss(Softmax()),
    FenchelYoungLoss(Sparsemax()),
    FenchelYoungLoss(Entmax(1.5)),
    MarginLoss(FenchelYoungLoss(Softmax()), 0.5),
    LogLoss(TaylorSoftmax()),
]


@pytest.mark.parametrize("inner", INNER, ids=repr)
def test_it_is_the_loss_of_scores_that_are_raised_by_the_costs(inner):
    loss, direction = MarginLoss(inner, COSTS), RNG.normal(size=Z.shape)
    raised = Z + Q @ COSTS
    value, gradient = loss.value_and_gradient(Z, Q)
    assert_allclose(value, inner.value(raised, Q), rtol=1e-13)
    assert_allclose(
        loss.hessian_product(Z, Q, direction),
        inner.hessian_product(raised, Q, direction),
        atol=1e-13,
    )
    for z, q, g in zip(Z[::4], Q[::4], gradient[::4], strict=True):
        numerical = approx_fprime(z, lambda z, q=q: loss.value([z], [q])[0], 1e-6)
        assert_allclose(g, numerical, atol=1e-4)


@pytest.mark.parametrize("inner", INNER, ids=repr)
def test_equal_costs_are_a_number(inner):
    equal = 0.7 * (1 - np.eye(3))
    for result, expected in zip(
        MarginLoss(inner, equal).value_and_gradient(Z, Q),
        MarginLoss(inner, 0.7).value_and_gradient(Z, Q),
        strict=True,
    ):
        assert_allclose(result, expected, atol=1e-14)


def test_easier_losses_to_begin_with_have_the_margin_too():
    loss = MarginLoss(SparseSoftmaxLoss(SparseSoftmax(k=2)), 0.5)
    easier, last = loss.stages()
    assert last is loss
    labels = Z.argmin(axis=1)
    raised = Z + 0.5 * (1 - np.eye(3)[labels])
    log_loss = logsumexp(raised, axis=1) - Z.min(axis=1)
    assert_allclose(easier.value(Z, np.eye(3)[labels]), log_loss, rtol=1e-13)
    alone = MarginLoss(FenchelYoungLoss(Softmax()), 0.5)
    assert alone.stages() == [alone]


def test_single_precision_stays_single_precision():
    loss = MarginLoss(FenchelYoungLoss(Softmax()), COSTS)
    value, gradient = loss.value_and_gradient(Z.astype(np.float32), Q)
    assert value.dtype == gradient.dtype == np.float32
    assert_allclose(value, loss.value(Z, Q), rtol=1e-5)


@pytest.mark.parametrize("inner", INNER[:3], ids=repr)
def test_it_is_at_least_the_cost_of_the_predicted_class(inner):
    Z, y = RNG.normal(scale=3, size=(500, 3)), RNG.integers(3, size=500)
    value = MarginLoss(inner, COSTS).value(Z, np.eye(3)[y])
    assert (value >= COSTS[y, Z.argmax(axis=1)] - 1e-12).all()


@pytest.mark.parametrize(
    ("margin", "message"),
    [
        (COSTS[:2], r"margin must be a matrix .* got shape \(2, 3\)"),
        (COSTS[:2, :2], r"margin must be a matrix .*\(3, 3\).* got shape \(2, 2\)"),
        (COSTS + 1, r"zeros on the diagonal; got .* \[1.0, 1.0, 1.0\]"),
        (-COSTS, "non-negative numbers.* minimum of -7"),
        (COSTS * np.nan, "margin must be finite; got nan in row 0, column 0"),
        ("costs", "'margin' parameter"),
    ],
)
def test_bad_margins_are_refused(margin, message):
    with pytest.raises(ValueError, match=message):
        MarginLoss(FenchelYoungLoss(Softmax()), margin).value(Z, Q)


def test_classes_give_the_order_of_a_frame():
    names = np.array(["a", "b", "c"])
    frame = pd.DataFrame(COSTS, names, names).iloc[[2, 0, 1], [1, 2, 0]]
    loss = MarginLoss(MarginLoss(FenchelYoungLoss(Softmax()), frame), frame)
    lined_up = loss.for_classes(3, names)
    assert_allclose(lined_up.margin, COSTS)
    assert_allclose(lined_up.loss.margin, COSTS)
    with pytest.raises(ValueError, match="margin must be an array for a y with"):
        loss.for_classes(3)


def test_the_last_row_and_column_of_costs_are_those_of_no_label():
    X, Y = make_multilabel_classification(n_classes=3, random_state=0)
    assert not Y.any(axis=1).all()
    costs = 1 - np.eye(4)
    costly = costs.copy()
    costly[:3, 3] = 5
    none = []
    for margin in costs, costly:
        loss = MarginLoss(FenchelYoungLoss("softmax"), margin)
        model = LinearClassifier("softmax", loss=loss).fit(X, Y)
        none.append(1 - model.predict_proba(X).sum(axis=1).mean())
    assert none[1] < 0.8 * none[0]
