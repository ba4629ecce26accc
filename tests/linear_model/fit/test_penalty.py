"""C="auto": a penalty that weighs the same whatever the mapping is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.preprocessing import scale

from skprob import (
    EntmaxClassifier,
    EntmaxClassifierCV,
    LinearClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.losses import AccuracyLoss
from skprob.mappings import Entmax, Softmax, Temperature
from skprob.metrics import brier_loss

from ..data_sets import label_sets, labels


@pytest.mark.parametrize("alpha", [1.0, 1.25, 1.5, 2.0])
def test_formula(alpha):
    X, y = labels()  # of three classes
    model = EntmaxClassifier(alpha, C="auto").fit(X, y)
    assert model.C_ == pytest.approx(3 ** (1 - alpha), rel=1e-12)
    number = EntmaxClassifier(alpha, C=model.C_).fit(X, y)
    assert_array_equal(number.coef_, model.coef_)
    marginals = SigmoidClassifier(alpha, C="auto").fit(*label_sets())
    assert marginals.C_ == pytest.approx(2 ** (1 - alpha), rel=1e-12)


@pytest.mark.parametrize("alpha", [2 + 1e-9, 2.5, 4.0, 8.0])
def test_formula_where_the_curvature_has_no_bound(alpha):
    """By the loss of a certain class and its slope, both at equal scores."""

    def of_classes(K):
        loss, slope = (1 - K ** (1 - alpha)) / (alpha * (alpha - 1)), 1 - 1 / K
        return slope**2 / (2 * loss)

    X, y = labels()  # of three classes
    strength = EntmaxClassifier(alpha, tol=0.1).fit(X, y).C_
    assert strength == pytest.approx(2 / 9 / of_classes(3), rel=1e-12)
    # A label is a class of two.
    strength = SigmoidClassifier(alpha, tol=0.1).fit(X, y).C_
    assert strength == pytest.approx(1 / 4 / of_classes(2), rel=1e-12)
    if alpha < 2.1:
        assert strength == pytest.approx(1 / 2, rel=1e-8)
    # Targets that are not labels have the curvature at equal scores.
    sets = label_sets()
    strength = SigmoidClassifier(alpha, tol=0.1, threshold=0.5).fit(*sets).C_
    assert strength == pytest.approx(2 ** (1 - alpha), rel=1e-12)
    shares = np.eye(3)[y] * 0.7 + 0.1
    strength = EntmaxClassifier(alpha, tol=0.1).fit(X, shares).C_
    assert strength == pytest.approx(3 ** (1 - alpha), rel=1e-12)


@pytest.mark.parametrize("alpha", [4.0, 8.0])
def test_predictions_with_a_large_alpha_are_not_nearly_constant(alpha):
    """By the curvature at equal scores the Brier scores were .29 and .90."""
    X, y = load_digits(return_X_y=True)
    X = scale(X)
    model = EntmaxClassifier(alpha, tol=0.01).fit(X[:600], y[:600])
    assert brier_loss(y[600:], model.predict_proba(X[600:])) < 0.2


def test_it_is_the_default_of_sparse_classifiers_alone():
    for model in (EntmaxClassifier(), SparsemaxClassifier(), SigmoidClassifier()):
        assert model.C == "auto"
    assert SoftmaxClassifier().C == LinearClassifier().C == 1.0
    assert SoftmaxClassifier().fit(*labels()).C_ == 1.0


def test_close_to_zero_it_shrinks_all_mappings_alike():
    """Where the penalty is strong the probabilities depend on C / C_ alone."""
    X, y = labels()
    moved = []
    for mapping in (Softmax(), Entmax(1.5), Entmax(2.0), Temperature(Softmax(), 3.0)):
        strength = LinearClassifier(mapping, C="auto").fit(X, y).C_
        model = LinearClassifier(mapping, C=1e-4 * strength, tol=1e-10).fit(X, y)
        scores = X @ (model.coef_ - model.coef_.mean(axis=0)).T
        moved.append(scores / strength)
    for other in moved[1:]:
        assert_allclose(other, moved[0], rtol=0.05, atol=0.02 * np.abs(other).max())


def test_the_grid_of_a_search_is_in_these_units():
    X, y = labels()
    search = EntmaxClassifierCV([2, 1, 1.5], 3, cv=2, refit=False).fit(X, y)
    units = 3.0 ** (1 - np.array([2, 1, 1.5]))
    assert_allclose(search.Cs_, units[:, None] * [1e-4, 1.0, 1e4])
    given = EntmaxClassifierCV([2, 1], [5.0, 0.1], cv=2).fit(X, y)
    assert_array_equal(given.Cs_, [[5.0, 0.1]] * 2)
    assert given.C_ in (5.0, 0.1)


@pytest.mark.parametrize("loss", ["accuracy", AccuracyLoss(pretrain=None)])
def test_smooth_accuracy_has_the_penalty_of_the_default_loss(loss):
    """It has no curvature at equal scores."""
    X, y = labels()  # of three classes
    model = EntmaxClassifier(1.5, loss=loss).fit(X, y)
    assert model.C_ == pytest.approx(3**-0.5, rel=1e-12)
    assert SoftmaxClassifier(C="auto", loss=loss).fit(X, y).C_ == pytest.approx(1)


def test_a_loss_without_curvature_is_refused():
    with pytest.raises(ValueError, match=r"C must be a number .* GradientFieldLoss"):
        LinearClassifier(lambda z: np.full_like(z, 1 / 3), C="auto").fit(*labels())
    with pytest.raises(ValueError, match="'C' parameter"):
        LinearClassifier(C="large").fit(*labels())
