"""C="auto": a penalty that weighs the same for all mappings and units of features."""

import numpy as np
import pytest
from dask.array import from_array
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris

from skprob import (
    EntmaxClassifier,
    EntmaxClassifierCV,
    LinearClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.linear_model import smallest_C
from skprob.losses import AccuracyLoss
from skprob.mappings import Entmax, Softmax, Temperature

from ..data_sets import label_sets, labels


@pytest.mark.parametrize(
    ("alpha", "expected", "of_marginals"),
    [
        (1.0, 1, 1),
        (1.25, 3**-0.25, 2**-0.25),
        (1.5, 3**-0.5, 2**-0.5),
        (2.0, 1 / 3, 1 / 2),
        (2.5, 1 / 4.5, 1 / 3),
        (11.0, 1 / 30, 1 / 20),
    ],
)
def test_formula(alpha, expected, of_marginals):
    X, y = labels()  # of three classes
    model = EntmaxClassifier(alpha, C="auto").fit(3 * X, y)
    assert model.C_ == pytest.approx(expected, rel=1e-12)
    number = EntmaxClassifier(alpha, C=model.C_).fit(3 * X, y)
    assert_array_equal(number.coef_, model.coef_)
    X, Y = label_sets()
    marginals = SigmoidClassifier(alpha, C="auto").fit(3 * X, Y)
    assert marginals.C_ == pytest.approx(of_marginals, rel=1e-12)


def test_labels_are_learnt_with_a_large_alpha():
    """A penalty by the curvature at equal scores would be 729 times as strong."""
    X, y = load_iris(return_X_y=True)
    assert EntmaxClassifier(alpha=10.0).fit(X, y).score(X, y) > 0.95


def test_small_variances():
    """Features in a smaller unit have the same model, by other coefficients."""
    X, y = labels()
    weight = np.random.default_rng(0).uniform(0, 2, 60)
    share = weight / weight.sum()
    variance = share @ (X - share @ X) ** 2
    expected = 20 / variance.sum() / 3
    model = SparsemaxClassifier(tol=1e-10).fit(X, y, weight)
    assert model.C_ == pytest.approx(expected, rel=1e-12)
    tiny = SparsemaxClassifier(tol=1e-10).fit(X / 1e5, y, weight)
    assert_allclose(tiny.coef_, model.coef_ * 1e5, rtol=1e-5)
    for as_X in (sparse.csr_array, np.asfortranarray, from_array):
        other = SparsemaxClassifier().fit(as_X(X), y, weight)
        assert other.C_ == pytest.approx(expected, rel=1e-12)
    single = SparsemaxClassifier().fit(X.astype(np.float32), y, weight)
    assert single.C_ == pytest.approx(expected, rel=1e-5)
    # Without an intercept the means of the features have coefficients, too.
    through_zero = SparsemaxClassifier(fit_intercept=False).fit(X, y, weight)
    expected = 20 / (share @ X**2).sum() / 3
    assert through_zero.C_ == pytest.approx(expected, rel=1e-12)


def test_small_variances_of_other_penalties():
    """A factor of a feature, and a lasso, are those of the feature in another unit."""
    X, y = labels()
    factors = np.array([4.0, 1.0, 0.25, 1.0])
    options = {"tol": 1e-10, "max_iter": 1000}
    factored = EntmaxClassifier(penalty_factors=factors, **options).fit(X, y)
    scaled = EntmaxClassifier(**options).fit(X / np.sqrt(factors), y)
    assert factored.C_ == pytest.approx(scaled.C_, rel=1e-12)
    assert_allclose(factored.predict_proba(X), scaled.predict_proba(X / factors**0.5))
    # A factor of zero, or an infinite one, has no part in it.
    some = EntmaxClassifier(penalty_factors=[0, 1, 1, np.inf]).fit(X, y)
    missing = 20 / X[:, 1:3].var(axis=0).sum()
    assert some.C_ == pytest.approx(missing * 3**-0.5, rel=1e-12)
    without = EntmaxClassifier(penalty_factors=[0, np.inf, 0, 0]).fit(X, y)
    assert without.C_ == pytest.approx(3**-0.5, rel=1e-12)
    lasso = EntmaxClassifier(l1_ratio=1.0, **options)
    coef = lasso.fit(X, y).coef_
    assert lasso.C_ == pytest.approx((20 / X.var(axis=0).sum()) ** 0.5, rel=1e-12)
    assert_allclose(lasso.fit(X / 100, y).coef_, 100 * coef, atol=1e-2)


def test_variances_that_have_no_effect():
    """Features are constant, or rows are scaled to norm one."""
    _, y = labels()
    constant = EntmaxClassifier().fit(np.full((60, 2), 0.5), y)
    assert constant.C_ == pytest.approx(3**-0.5, rel=1e-12)
    cosine = LinearClassifier(similarity="cosine", C="auto").fit(*labels())
    assert cosine.C_ == 1.0


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


def test_the_lasso_selects_alike_with_all_losses():
    """The first coefficient enters at a C that does not depend on the curvature."""
    X, y = labels()
    ratios = []
    for model in (
        LinearClassifier(Softmax()),
        LinearClassifier(Entmax(1.5)),
        LinearClassifier(Entmax(2.0)),
        LinearClassifier(Temperature(Softmax(), 30.0)),
        LinearClassifier(Temperature(Softmax(), 30.0), loss="log"),
    ):
        model.set_params(C="auto", l1_ratio=1.0, max_iter=10_000)
        ratios.append(model.fit(X, y).C_ / smallest_C(model, X, y))
    assert_allclose(ratios, ratios[0], rtol=1e-3)
    # Coefficients in the unit of the temperature have the same probabilities.
    options = {"C": "auto", "l1_ratio": 1.0, "tol": 1e-10}
    plain = LinearClassifier(Entmax(2.0), **options).fit(X, y)
    heated = LinearClassifier(Temperature(Entmax(2.0), 0.01), **options).fit(X, y)
    assert (plain.coef_ == 0).any() and (plain.coef_ != 0).any()
    assert_allclose(heated.predict_proba(X), plain.predict_proba(X), atol=1e-6)
    # Of the elastic net, C is between those of the lasso and of the ridge penalty.
    Cs = [
        LinearClassifier(Entmax(2.0), C="auto", l1_ratio=ratio).fit(9 * X, y).C_
        for ratio in (0.0, 0.5, 1.0)
    ]
    assert_allclose(Cs, [1 / 3, 3**-0.5, 1], rtol=1e-12)


def test_the_grid_of_a_search_is_in_units_of_the_mapping():
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
    model = EntmaxClassifier(1.5, loss=loss).fit(3 * X, y)
    assert model.C_ == pytest.approx(3**-0.5, rel=1e-12)
    assert SoftmaxClassifier(C="auto", loss=loss).fit(3 * X, y).C_ == pytest.approx(1)


def test_a_loss_without_curvature_is_refused():
    with pytest.raises(ValueError, match=r"C must be a number .* GradientFieldLoss"):
        LinearClassifier(lambda z: np.full_like(z, 1 / 3), C="auto").fit(*labels())
    with pytest.raises(ValueError, match="'C' parameter"):
        LinearClassifier(C="large").fit(*labels())
