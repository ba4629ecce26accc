"""C="auto": a penalty that weighs the same whatever the mapping is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

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

from ..data_sets import label_sets, labels


@pytest.mark.parametrize("alpha", [1.0, 1.25, 1.5, 2.0, 2.5])
def test_formula(alpha):
    X, y = labels()  # of three classes
    model = EntmaxClassifier(alpha, C="auto").fit(X, y)
    assert model.C_ == pytest.approx(3 ** (1 - alpha), rel=1e-12)
    number = EntmaxClassifier(alpha, C=model.C_).fit(X, y)
    assert_array_equal(number.coef_, model.coef_)
    marginals = SigmoidClassifier(alpha, C="auto").fit(*label_sets())
    assert marginals.C_ == pytest.approx(2 ** (1 - alpha), rel=1e-12)


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
