"""Mappings of arrays of other libraries give what they give of NumPy's arrays."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import config_context

from skprob.losses import LogLoss
from skprob.mappings import (
    Entmax,
    EntropyInvariantSoftmax,
    NestedSoftmax,
    PerturbMax,
    Sigmoid,
    Softmax,
    Sparsemax,
    SparseSoftmax,
    TaylorSoftmax,
    Temperature,
    entmax,
    gumbel_max,
    perturb_max,
    softmax,
    taylor_softmax,
)

MAPPINGS = [
    Softmax(),
    *(Entmax(alpha) for alpha in (0.5, 0.9999, 1.0, 1.0001, 1.25, 1.5, 1.7, 2.0, 4.0)),
    Sparsemax(),
    *(Sigmoid(alpha) for alpha in (1.0, 1.7, 2.0)),
    TaylorSoftmax(2),
    TaylorSoftmax(12),
    SparseSoftmax(2),
    SparseSoftmax(p=0.8),
    EntropyInvariantSoftmax(1.5),
    Temperature(Entmax(), 0.3),
    Temperature(Softmax(), 1e-300),
    PerturbMax("gumbel"),
    PerturbMax("gumbel", 0.3),
]
each_mapping = pytest.mark.parametrize("mapping", MAPPINGS, ids=repr)


def rows_of_scores():
    """Rows of all kinds: usual, tied, far apart, huge, with missing classes."""
    rng = np.random.default_rng(0)
    usual = rng.normal(size=(60, 7)) * rng.choice([0.3, 1, 5, 60], size=(60, 1))
    ties = rng.integers(-2, 2, size=(20, 7)).astype(float)
    huge = [[1e300, -1e300, 0, 0, 0, 0, 0], [1e9, 1e9 + 1, 0, 1, 2, 3, 4], [0.0] * 7]
    missing = np.where(rng.random((10, 7)) < 0.4, -np.inf, rng.normal(size=(10, 7)))
    missing[:, 3] = 0
    return np.vstack([usual, ties, huge, missing])


@pytest.mark.parametrize("alpha", [0.5, 0.75, 0.95, 0.9999])
def test_logarithms_of_probabilities_that_underflow(alpha, library, numpy):
    """Below one no probability is zero: logarithms are finite, as for NumPy."""
    scores = np.array([[0.0, -1e3, -1e5, -np.inf], [1e300, 0.0, -1e300, 1.0]])
    expected = Entmax(alpha).log_probabilities(scores)
    log_p = numpy(Entmax(alpha).log_probabilities(library.array(scores)))
    assert_allclose(log_p, expected, rtol=1e-12, atol=1e-14)
    target = [[0, 0, 1, 0], [0, 0, 1, 0]]
    given = library.array(scores), library.array(target)
    loss = LogLoss(Entmax(alpha))
    value, gradient = (numpy(a) for a in loss.value_and_gradient(*given))
    expected = loss.value_and_gradient(scores, target)
    assert np.isfinite(value).all()
    assert_allclose(value, expected[0], rtol=1e-12)
    assert_allclose(gradient, expected[1], rtol=1e-10, atol=1e-300)


@each_mapping
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_values_are_those_of_numpy(mapping, dtype, library, numpy):
    scores = rows_of_scores()
    if dtype == "float32":
        scores = np.clip(scores, -1e30, 1e30, where=np.isfinite(scores), out=scores)
    scores = scores.astype(dtype)
    if isinstance(mapping, TaylorSoftmax):
        # The differences of huge scores are what their powers are computed from.
        scores = scores[np.abs(np.where(np.isfinite(scores), scores, 0)).max(1) < 1e3]
    tolerance = {"rtol": 0, "atol": 1e-10 if dtype == "float64" else 3e-6}
    given = library.array(scores)
    before = numpy(given).copy()

    p = mapping(given)
    assert library.holds(p, dtype)
    assert_allclose(numpy(p), mapping(scores), **tolerance)
    # The same entries are zero, and rows have the same sums.
    if mapping.traits.has_zeros and dtype == "float64":
        # Elsewhere rounding decides, which a GPU does in another order: a class that is
        # clearly out is out where all differences are a little smaller, too.
        clear = (mapping(scores * (1 - 1e-12)) == 0) | (mapping(scores) > 1e-12)
        assert np.array_equal((numpy(p) > 0)[clear], (mapping(scores) > 0)[clear])
    if mapping.traits.polytope == "simplex":
        assert_allclose(numpy(p).sum(axis=1), 1, atol=20 * np.finfo(dtype).eps)
    log_p = mapping.log_probabilities(given)
    assert library.holds(log_p, dtype)
    expected = mapping.log_probabilities(scores)
    assert_allclose(np.exp(numpy(log_p)), np.exp(expected), **tolerance)
    np.testing.assert_array_equal(numpy(given), before)


def test_a_probability_whose_power_underflows(library, numpy):
    """The scores of two classes differ by nearly as much as at the edge."""
    scores = np.array([[0.0, -(1 - 200 * 2.0**-53) / 39, -1.0]])
    p = numpy(Entmax(40.0)(library.array(scores)))
    assert_allclose(p, Entmax(40.0)(scores), rtol=1e-12)
    assert 0 < p[0, 1] < 1e-14


@pytest.mark.parametrize("order", [2, 30])
def test_powers_of_huge_scores_do_not_overflow(order, library, numpy):
    scores = np.random.default_rng(0).normal(size=(20, 5))
    for size in (1e100, 1e300):
        p = numpy(TaylorSoftmax(order)(library.array(size * scores)))
        expected = scores**order / (scores**order).sum(axis=1, keepdims=True)
        assert_allclose(p, expected, rtol=0, atol=1e-12)


def test_a_sum_that_misses_p_by_rounding_has_reached_it(library, numpy):
    """0.07 times 100 is more than 7 in floating point."""
    p = numpy(SparseSoftmax(p=0.07)(library.array(np.zeros((1, 100)))))
    assert np.count_nonzero(p) == 7


@pytest.mark.parametrize("alpha", [0.5, 1.3, 1.5, 2.0, 4.0])
def test_potentials_keep_all_digits(alpha, library, numpy):
    """They differ from those of the NumPy kernels by rounding errors only."""
    scores = np.random.default_rng(0).normal(size=(200, 30))
    potential = numpy(Entmax(alpha).potential(library.array(scores)))
    assert_allclose(potential, Entmax(alpha).potential(scores), rtol=1e-15, atol=4e-15)


@each_mapping
def test_derivatives_are_those_of_numpy(mapping, library, numpy):
    scores = rows_of_scores()[:60]
    directions = np.random.default_rng(1).normal(size=scores.shape)
    z, v = library.array(scores), library.array(directions)
    for product in ("jvp", "vjp"):
        products = getattr(mapping, product)(z, v)
        assert library.holds(products, "float64")
        expected = getattr(mapping, product)(scores, directions)
        assert_allclose(numpy(products), expected, rtol=1e-8, atol=1e-9)
    jacobian = mapping.jacobian(z)
    assert library.holds(jacobian, "float64")
    assert_allclose(numpy(jacobian), mapping.jacobian(scores), rtol=1e-8, atol=1e-9)
    # Second derivatives, which the log loss needs.
    u = np.random.default_rng(2).normal(size=scores.shape)
    for method in ("linearize", "log_linearize"):
        expected = getattr(mapping, method)(mapping._standard(scores)).vjp_derivative
        derivative = getattr(mapping, method)(mapping._standard(z)).vjp_derivative
        assert_allclose(
            numpy(derivative(library.array(u), library.array(directions))),
            expected(u.copy(), directions.copy()),
            rtol=1e-7,
            atol=1e-7,
        )


@each_mapping
def test_potential_and_entropy_are_those_of_numpy(mapping, library, numpy):
    scores = rows_of_scores()[:80]
    if not mapping.traits.has_potential:
        with pytest.raises(TypeError, match=r"potential|no entropy"):
            mapping.potential(library.array(scores))
        return
    potential = mapping.potential(library.array(scores))
    assert library.holds(potential, "float64")
    assert_allclose(numpy(potential), mapping.potential(scores), rtol=1e-10, atol=1e-10)
    rows = np.vstack([mapping(scores), np.eye(7), np.full((1, 7), 1 / 7)])
    entropy = mapping.entropy(library.array(rows))
    assert library.holds(entropy, "float64")
    assert_allclose(numpy(entropy), mapping.entropy(rows), rtol=1e-10, atol=1e-10)


def test_functions_along_an_axis_are_those_of_numpy(library, numpy):
    scores = np.random.default_rng(0).normal(size=(3, 4, 5))
    given = library.array(scores)
    for function in (softmax, entmax, taylor_softmax):
        for axis in (0, 1, -1):
            p = function(given, axis=axis)
            assert library.holds(p, "float64")
            assert_allclose(numpy(p), function(scores, axis=axis), atol=1e-12)
    assert_allclose(numpy(entmax(given[0, 0, ...])), entmax(scores[0, 0]), atol=1e-12)
    assert library.holds(softmax(library.array([1, 2])), "float64")
    assert tuple(softmax(given[:, :0, :]).shape) == (3, 0, 5)


def test_values_of_many_classes_are_those_of_numpy(library, numpy):
    scores = 3 * np.random.default_rng(0).normal(size=(4, 5000))
    for alpha in (1.1, 1.5, 2.0, 3.0):
        p = numpy(entmax(library.array(scores), alpha))
        assert_allclose(p, entmax(scores, alpha), atol=1e-12)
        single = entmax(library.array(scores, "float32"), alpha)
        assert_allclose(numpy(single).sum(axis=1), 1, atol=2e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_scores_are_refused(bad, library):
    scores = library.array([[0.0, 1.0], [bad, 0.0]])
    for mapping in (Softmax(), Entmax(), TaylorSoftmax(), Sigmoid()):
        with pytest.raises(ValueError, match=r"row 1 holds (NaN|\+inf)"):
            mapping(scores)
    with pytest.raises(ValueError, match=r"scores\[1, :\] holds"):
        softmax(scores)


def test_malformed_input_is_refused(library):
    scores = library.array([[0.0, 1.0]])
    with pytest.raises(ValueError, match="row 0 holds nothing but -inf"):
        Entmax()(library.array([[-np.inf, -np.inf]]))
    with pytest.raises(ValueError, match="1 dimension"):
        Softmax()(library.array([0.0, 1.0]))
    with pytest.raises(ValueError, match="must be real numbers"):
        Softmax()(library.array([[1j, 0]]))
    with pytest.raises(ValueError, match=r"shape of scores, \(1, 2\); got \(1, 3\)"):
        Softmax().jvp(scores, library.array([[0.0, 1.0, 2.0]]))
    with pytest.raises(ValueError, match="direction must be finite; row 0"):
        Softmax().vjp(scores, library.array([[0.0, np.nan]]))
    with pytest.raises(ValueError, match="sum to one; row 0"):
        Softmax().entropy(library.array([[0.5, 0.4]]))
    with pytest.raises(ValueError, match="numbers from 0 to 1"):
        Sigmoid().entropy(library.array([[0.5, 1.4]]))


def test_a_direction_of_another_library_is_moved(library, numpy):
    scores = library.array([[0.0, 1.0]])
    products = Softmax().jvp(scores, [[1.0, 0.0]])
    assert library.holds(products, "float64")
    elsewhere = np.array([[1.0, 0.0]])
    assert_allclose(numpy(Softmax().jvp(scores, elsewhere)), numpy(products))
    if library.name == "array_api_strict":
        other = library.xp.asarray(elsewhere, device=library.xp.Device("device2"))
        assert_allclose(numpy(Softmax().jvp(scores, other)), numpy(products))


@pytest.mark.parametrize(
    "function",
    [
        perturb_max,
        PerturbMax(),
        NestedSoftmax([0, 1]),
        Sigmoid(budget=(0, 1)),
        Temperature(PerturbMax(), 2.0),
        gumbel_max,
        Softmax().sample,
        Softmax().relaxed_sample,
        Entmax().alpha_derivative,
        Temperature(Softmax(), 2.0).temperature_derivative,
        PerturbMax("gumbel").scale_derivative,
        PerturbMax("student_t").shape_derivative,
        PerturbMax().potential,
    ],
    ids=lambda function: getattr(function, "__name__", repr(function)),
)
def test_functions_for_numpy_refuse_other_arrays(function, library):
    with pytest.raises(ValueError, match="takes NumPy arrays only"):
        function(library.array([[0.0, 1.0]]))


def test_tensors_that_require_gradients(torch):
    scores = torch.zeros((1, 2), requires_grad=True)
    with config_context(array_api_dispatch=True):
        for call in (softmax, Softmax(), Softmax().potential):
            with pytest.raises(ValueError, match=r"Give scores.detach\(\)"):
                call(scores)
        with pytest.raises(ValueError, match=r"Give direction.detach\(\)"):
            Softmax().jvp(scores.detach(), scores)


def test_arrays_that_cannot_be_changed_are_refused(library, monkeypatch):
    # As those of JAX: an assignment there would be lost without a word.
    is_writeable = "skprob._utils.arrays._libraries.is_writeable_array"
    monkeypatch.setattr(is_writeable, lambda array: False)
    with pytest.raises(ValueError, match="change them in place"):
        softmax(library.array([0.0, 1.0]))


def test_dask_arrays_become_numpy_arrays():
    array = pytest.importorskip("dask.array", reason="needs dask")
    with config_context(array_api_dispatch=True):
        p = softmax(array.from_array(np.array([2.0, 1.0])))
    assert type(p) is np.ndarray


def test_without_dispatch_tensors_become_numpy_arrays(torch):
    scores = torch.tensor([[2.0, 1.0, -1.0]])
    for call in (softmax, Softmax(), perturb_max):
        p = call(scores)
        assert type(p) is np.ndarray
        assert p.dtype == np.float32
