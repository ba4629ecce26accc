"""Design matrices against the same formulas of a plain array."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skprob.data import (
    DenseDesign,
    Standardization,
    StandardizedDesign,
    as_design,
    standardized,
)

N_ROWS, N_FEATURES = 40, 7


def csr_with_wide_indices(X):
    csr = sparse.csr_array(X)
    csr.indices, csr.indptr = csr.indices.astype("i8"), csr.indptr.astype("i8")
    return csr


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "slice": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "csr": sparse.csr_array,
    "csr64": csr_with_wide_indices,
}


def numbers(*shape, seed=0):
    """Multiples of 1/8: sums of their products are exact, in float32 as well."""
    return np.random.default_rng(seed).integers(-8, 9, size=shape) / 8


def units(fit_intercept):
    mean = numbers(N_FEATURES, seed=1) if fit_intercept else np.zeros(N_FEATURES)
    return Standardization(mean, 2.0 ** np.arange(-3, 4), fit_intercept)


def in_units(X, standardization):
    """The columns (x - mean) / scale, and then the constant."""
    mean, scale, fit_intercept = standardization
    Z = (X - mean) / scale
    return np.hstack([Z, np.ones((len(Z), 1))]) if fit_intercept else Z


def cases():
    """Pairs of a design and the array that it stands for, by name."""
    X = numbers(N_ROWS, N_FEATURES)
    X[np.random.default_rng(2).random(X.shape) < 0.4] = 0
    X[5] = 0
    designs = {name: (as_design(layout(X)), X) for name, layout in LAYOUTS.items()}
    for name, convert in ("dense", np.asarray), ("csr", sparse.csr_array):
        double, single = as_design(convert(X)), as_design(convert(X.astype("f4")))
        designs[f"{name} single"] = single, X
        centred, without = units(True), units(False)
        for kind, design in ("", double), (" single", single):
            case = StandardizedDesign(design, centred), in_units(X, centred)
            designs[f"{name}{kind} standardized"] = case
        rounded = double.in_single_precision()
        designs[f"{name} rounded"] = rounded, X
        case = StandardizedDesign(double, centred).in_single_precision()
        designs[f"{name} rounded, standardized"] = case, in_units(X, centred)
    designs["small"] = standardized(double, centred, len(X)), in_units(X, centred)
    case = StandardizedDesign(double, without), in_units(X, without)
    designs["without intercept"] = case
    return designs


CASES = cases()
every_design = pytest.mark.parametrize(("design", "array"), CASES.values(), ids=CASES)


def tolerance(design):
    """Rounding, of numbers of the order of ten."""
    return 1e-13 if design.dtype == np.float64 else 1e-5


@every_design
def test_the_largest_number_is_that_of_X(design, array):
    X = CASES["C"][1]
    expected = np.abs(array if design is CASES["small"][0] else X).max()
    assert design.largest == expected


@every_design
def test_matvec(design, array):
    for n_outputs, order in itertools.product((1, 3, 70), "CF"):
        coef = numbers(n_outputs, array.shape[1], seed=3)
        expected = array @ coef.T
        given = np.array(coef, order=order)
        scores = design.matvec(given)
        assert scores.dtype == design.dtype
        assert_allclose(scores, expected, atol=tolerance(design))
        scores += 1  # a new array
        assert_array_equal(given, coef)
        assert_allclose(design.matvec(given), expected, atol=tolerance(design))


@every_design
def test_rmatvec(design, array):
    """Also of a residual nearly all of which is zero."""
    kinds = (1, 1), (3, 0.5), (70, 1), (70, 0.02)
    for (n_outputs, share), order in itertools.product(kinds, "CF"):
        residual = numbers(N_ROWS, n_outputs, seed=4)
        residual[np.random.default_rng(5).random(residual.shape) >= share] = 0
        given = np.array(residual, order=order, dtype=design.dtype)
        gradient = design.rmatvec(given)
        assert isinstance(gradient, np.ndarray)
        assert_allclose(gradient, residual.T @ array, atol=tolerance(design))
        gradient += 1
        assert_array_equal(given, residual)


@every_design
def test_class_sums_are_those_of_the_rows_of_each_class(design, array):
    """Also of a class without rows."""
    weight = np.abs(numbers(N_ROWS, seed=4)).astype(design.dtype)
    class_numbers = np.random.default_rng(5).integers(3, size=N_ROWS)
    sums = design.class_sums(class_numbers, weight, 4)
    assert isinstance(sums, np.ndarray)
    expected = [
        weight[class_numbers == k] @ array[class_numbers == k] for k in range(4)
    ]
    assert_allclose(sums, expected, atol=tolerance(design))


@every_design
def test_sandwich(design, array):
    """With few weights and many, which may be negative."""
    for n_weights, signed in itertools.product((1, 2, 9), (False, True)):
        weights = numbers(N_ROWS, n_weights, seed=6)
        weights = weights if signed else np.abs(weights)
        weights[::3] = 0
        expected = np.einsum("ni,nk,nj->kij", array, weights, array)
        sandwich = design.sandwich(weights)
        assert sandwich.dtype == np.float64
        assert_allclose(sandwich, expected, atol=100 * tolerance(design))
        assert_array_equal(sandwich, sandwich.swapaxes(1, 2))
        assert_array_equal(design.sandwich(0 * weights), 0 * expected)


DESIGNS_THAT_CHOOSE = {n: c for n, c in CASES.items() if n != "small"}


@pytest.mark.parametrize(
    ("design", "array"), DESIGNS_THAT_CHOOSE.values(), ids=DESIGNS_THAT_CHOOSE
)
def test_rows_without_weight_are_not_read(design, array):
    """Little data are read in one call instead."""
    weights, looked_at = np.zeros((N_ROWS, 1)), []
    weights[[3, 8]] = 1

    class Watched(type(design)):
        def columns(self, rows):
            looked_at.extend(np.arange(N_ROWS)[rows])
            return super().columns(rows)

    watched = object.__new__(Watched)
    vars(watched).update(vars(design))
    sandwich = watched.sandwich(weights)
    assert looked_at == [3, 8]
    assert_allclose(
        sandwich[0], array[[3, 8]].T @ array[[3, 8]], atol=tolerance(design)
    )


@pytest.mark.parametrize("layout", ["C", "csr"])
@pytest.mark.parametrize("n_weights", [1, 3])
def test_sandwich_of_more_rows_than_fit_in_a_cache(layout, n_weights):
    X = numbers(20_000, 5)
    weights = np.abs(numbers(20_000, n_weights, seed=1))
    sandwich = as_design(LAYOUTS[layout](X)).sandwich(weights)
    assert_allclose(sandwich, np.einsum("ni,nk,nj->kij", X, weights, X), atol=1e-9)


@every_design
def test_some_of_the_rows(design, array):
    assert design.shape == array.shape
    assert N_ROWS < design.n_stored <= array.size
    for rows in (slice(None), slice(3, 9), np.array([4, 4, 0])):
        columns = design.columns(rows)
        assert columns.dtype == np.float64
        assert_allclose(columns, array[rows].T, atol=tolerance(design))
    coef = numbers(2, array.shape[1], seed=3)
    for rows in (slice(3, 9), slice(None, 0), slice(30, None), np.array([4, 4, 0])):
        part = design.take(rows)
        assert part.shape == array[rows].shape
        assert part.dtype == design.dtype
        expected = array[rows] @ coef.T
        assert_allclose(part.matvec(coef), expected, atol=tolerance(design))
        residual = expected.astype(design.dtype)
        gradient = part.rmatvec(residual)
        assert_allclose(gradient, expected.T @ array[rows], atol=30 * tolerance(design))


@every_design
def test_joined_rows(design, array):
    parts = [design.take(rows) for rows in (slice(5, 9), slice(0, 3))]
    whole, expected = parts[0].joined(parts[1:]), np.vstack([array[5:9], array[:3]])
    assert whole.shape == expected.shape
    assert whole.dtype == design.dtype
    columns = whole.columns(slice(None))
    assert_allclose(columns, expected.T, atol=tolerance(design))


def test_a_slice_of_rows_is_not_a_copy():
    X = numbers(9, 4)
    csr = sparse.csr_array(X)
    for whole, of in ((X, as_design(X)), (csr.data, as_design(csr))):
        before = whole.copy()
        whole.flags.writeable = False
        part = of.take(slice(2, 7))
        part.sandwich(np.ones((5, 1)))
        part.rmatvec(np.ones((5, 1)))
        part.moments(np.ones(5))
        assert_array_equal(whole, before)
        held = part.host_X if isinstance(part, DenseDesign) else part.host_X.data
        assert np.shares_memory(held, whole)


@pytest.mark.parametrize("layout", ["csr", "csr64"])
def test_coefficients_in_single_precision_are_multiplied_in_it(layout):
    design = as_design(LAYOUTS[layout](numbers(20, 5) / 3))
    coef, residual = np.float32(numbers(3, 5)), np.float32(numbers(20, 3))
    for products, expected in (
        (design.matvec(coef), design.matvec(coef.astype(float))),
        (design.rmatvec(residual), design.rmatvec(residual.astype(float))),
    ):
        assert (products != expected).any()
        assert_allclose(products, expected, rtol=1e-5, atol=1e-6)
