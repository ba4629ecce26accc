"""Temperatures from the least to the largest, by name, and parameters out of range."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skprob import EntmaxClassifierCV, PerturbMaxClassifier, SoftmaxClassifier
from skprob.mappings import (
    Entmax,
    NestedSoftmax,
    PerturbMax,
    Sigmoid,
    Softmax,
    Sparsemax,
    SparseSoftmax,
    TaylorSoftmax,
    Temperature,
    sparsemax,
)

SCORES = np.array([[2.0, 0.5, 0.0], [1.0, 1.0, -np.inf], [0.0, -3.0, 0.0]])
MAPPINGS = [Softmax(), Sparsemax(), TaylorSoftmax(), Sigmoid(2.0), SparseSoftmax(2)]


@pytest.mark.parametrize("mapping", MAPPINGS, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_temperatures_beyond_the_range_of_the_scores(mapping, dtype):
    """Below it is the limit of small temperatures, above it that of large ones."""
    scores = SCORES.astype(dtype)
    limit = mapping(np.where(scores == 0, 0, np.float64(scores) * 1e100))
    flat = mapping(np.where(scores > -np.inf, 0, -np.inf))
    for tau, expected in ((1e-46, limit), (5e-324, limit), (1e300, flat)):
        if tau > 1 and isinstance(mapping, SparseSoftmax):
            continue  # Which classes it keeps stays.
        cooled = Temperature(mapping, tau)
        p = cooled(scores)
        assert p.dtype == dtype
        assert_allclose(p, expected, rtol=0, atol=1e-6)
        # There is no warning about overflow or NaN.
        assert not np.isnan(cooled.jvp(scores, np.ones_like(scores))).any()
        assert not np.isnan(cooled.jacobian(scores)).any()
        assert not np.isnan(cooled.temperature_derivative(scores)).any()
        if mapping.traits.has_potential and tau < 1:
            best = scores.max(axis=1)
            if mapping.traits.polytope == "cube":
                best = np.maximum(scores, 0).sum(axis=1)
            assert_allclose(cooled.potential(scores), best, rtol=1e-6, atol=1e-40)


def test_second_derivatives_at_a_low_temperature():
    linear = Temperature(Softmax(), 1e-200).linearize(np.array([[0.0, -1e-200]]))
    direction = np.array([[1e-200, 0.0]])
    unit = Softmax().linearize(np.array([[0.0, -1.0]]))
    product = linear.vjp_derivative(np.array([[1.0, 0.0]]), direction)
    expected = unit.vjp_derivative(np.array([[1.0, 0.0]]), direction * 1e200)
    assert_allclose(product * 1e-200, expected, rtol=1e-14)


def test_scores_that_overflow():
    p = Temperature(TaylorSoftmax(), 1e-5)([[1e304, 0.0], [1e304, -1e304]])
    assert_allclose(p, [[1, 0], [0.5, 0.5]], atol=1e-15)
    assert_array_equal(Temperature(Sigmoid(), 0.5)([[-1.7e308, 0.0]]), [[0, 0.5]])


def test_by_name_and_of_a_function():
    for mapping in ("sparsemax", sparsemax, Sparsemax()):
        assert_array_equal(Temperature(mapping, 0.5)(SCORES), sparsemax(SCORES / 0.5))
    assert Temperature("entmax").traits.has_potential
    with pytest.raises(ValueError, match="one of the names"):
        Temperature("argmax")(SCORES)


def test_integers_that_no_float_can_hold():
    X = np.eye(2)
    for call, name in (
        (lambda: Temperature(Softmax(), 10**400)(SCORES), "temperature"),
        (lambda: Entmax(10**400)(SCORES), "alpha"),
        (lambda: SoftmaxClassifier(C=10**400).fit(X, [0, 1]), "C"),
        (lambda: EntmaxClassifierCV(Cs=10**400).fit(X, [0, 1]), "Cs"),
        (lambda: NestedSoftmax([0, 0], 10**400)(SCORES), "scales"),
        (lambda: PerturbMaxClassifier(scale=10**400).fit(X, [0, 1]), "scale"),
        *(
            (lambda name=name: PerturbMax(**{name: 10**400})(SCORES), name)
            for name in ("scale", "tol", "n_quantiles", "n_points")
        ),
    ):
        with pytest.raises(ValueError, match=f"'{name}' parameter of .* in the range"):
            call()
    with pytest.raises(ValueError, match="class_weight must be finite"):
        SoftmaxClassifier(class_weight={0: 10**400}).fit(X, [0, 1])
    for call, name in (
        (lambda: NestedSoftmax([0, 0], [10**400])(SCORES), "scales"),
        (lambda: PerturbMax(loadings=[[10**400], [0]])(SCORES), "loadings"),
        (lambda: EntmaxClassifierCV([10**400]).fit(X, [0, 1]), "alphas"),
        (lambda: EntmaxClassifierCV(Cs=[10**400]).fit(X, [0, 1]), "Cs"),
    ):
        with pytest.raises(ValueError, match=f"{name} must be"):
            call()
