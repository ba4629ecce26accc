"""Sparse softmax against its definition, by sorting and in many digits."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from skprob.mappings import (
    MAPPINGS,
    Softmax,
    SparseSoftmax,
    Temperature,
    entmax,
    softmax,
    sparse_softmax,
)

from ..definitions import definition
from ..precise_derivatives import assert_derivatives, floats, many_digits, row

PARAMETERS = [{"k": 1}, {"k": 3}, {"k": 9}, {"p": 0.3}, {"p": 0.9}, {"p": 1}]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
@many_digits
def test_probabilities(parameters):
    rng = np.random.default_rng(0)
    for n_classes in (1, 2, 5, 100):
        scores = rng.normal(size=(6, n_classes)) * np.geomspace(0.01, 30, 6)[:, None]
        # Exact in both types.
        scores = (scores + 100).astype(np.float32)
        exact = [
            floats(definition(SparseSoftmax(**parameters))(row(z))) for z in scores
        ]
        for dtype, tolerance in ((np.float64, 1e-14), (np.float32, 5e-7)):
            p = sparse_softmax(scores.astype(dtype), **parameters)
            assert p.dtype == dtype
            assert_allclose(p, exact, rtol=0, atol=tolerance)
            if parameters != {"p": 1}:
                assert_array_equal(p > 0, np.asarray(exact) > 0)


@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_kept_classes_with_ties_and_unavailable_classes(data):
    n_classes = data.draw(st.integers(1, 90))
    values = st.sampled_from([0.0, 1.0, 1.5, -2.0, -np.inf])
    scores = data.draw(arrays(float, (3, n_classes), elements=values))
    scores[:, 0] = data.draw(st.sampled_from([0.0, 1.0]))
    k = data.draw(st.integers(1, 100))
    # Ties are kept from the left: what a stable sort puts first.
    rank = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1)
    assert_array_equal(sparse_softmax(scores, k=k) > 0, (rank < k) & (scores > -np.inf))


def test_unavailable_classes():
    z = np.array([[1.0, -np.inf, 0.5, 1.0], [-np.inf, -3.0, -np.inf, -np.inf]])
    for parameters in PARAMETERS:
        p = sparse_softmax(z, **parameters)
        few = sparse_softmax(z[:1, [0, 2, 3]], **parameters)
        assert_array_equal(p[0, [0, 2, 3]], few[0])
        assert_array_equal(p[:, 1], [0, 1])
        log_p = SparseSoftmax(**parameters).log_probabilities(z)
        assert_array_equal(log_p == -np.inf, p == 0)


@pytest.mark.parametrize("p", [1e-3, 0.5, 0.9, 1 - 1e-12])
def test_top_p_of_many_classes(p):
    """Partial ordering grows through several sizes, up to nearly all classes."""
    scores = np.random.default_rng(0).normal(size=(3, 5000)) * [[1e-9], [1], [30]]
    kept = sparse_softmax(scores, p=p) > 0
    mass = softmax(scores)
    inside = np.where(kept, mass, 0).sum(axis=1)
    smallest = np.where(kept, mass, 1).min(axis=1)
    assert (inside >= p - 1e-14).all()
    assert (inside - smallest < p).all()
    assert (smallest > np.where(kept, 0, mass).max(axis=1)).all()


def test_a_mass_that_is_met_exactly_is_enough():
    """0.1 is not a tenth in binary, but one class of ten is."""
    for n_classes in (7, 10, 100):
        for size in range(1, n_classes):
            p = sparse_softmax(np.zeros(n_classes), p=size / n_classes)
            assert_array_equal(p > 0, np.arange(n_classes) < size)


def test_top_k_of_many_classes():
    scores = np.random.default_rng(0).normal(size=(4, 32_000))
    p = sparse_softmax(scores, k=20)
    best = np.sort(scores, axis=1)[:, -20:]
    assert_array_equal((p > 0).sum(axis=1), 20)
    assert_allclose(np.sort(p, axis=1)[:, -20:], softmax(best), rtol=1e-14)


def test_keeping_all_classes_is_softmax():
    scores = np.random.default_rng(0).normal(size=(10, 5))
    for parameters in ({"k": 5}, {"k": 9}, {"p": 1}):
        assert_array_equal(sparse_softmax(scores, **parameters), softmax(scores))


def test_derivatives():
    rng = np.random.default_rng(3)
    scores = [rng.normal(size=4), 3 * rng.normal(size=6), np.array([0.7])]
    for parameters in PARAMETERS:
        mapping = SparseSoftmax(**parameters)
        assert_derivatives(mapping, definition(mapping), scores)


@many_digits
def test_potential_is_the_largest_logsumexp_over_k_classes():
    scores = 3 * np.random.default_rng(0).normal(size=(20, 5)) + 100
    weights = [sorted(map(mp.exp, row(z)), reverse=True) for z in scores]
    for k in (1, 2, 3, 5):
        exact = [float(mp.log(mp.fsum(weight[:k]))) for weight in weights]
        assert_allclose(SparseSoftmax(k=k).potential(scores), exact, rtol=1e-15)


@pytest.mark.parametrize("k", [1, 2, 4, 6])
def test_entropy_is_the_conjugate_of_the_potential(k):
    """-Ω(q) is the least of F(z) - <q, z>, a convex function of z: a local minimum."""
    rng = np.random.default_rng(k)
    mapping = SparseSoftmax(k=k)
    for q in [*rng.dirichlet(np.ones(5), size=9), *rng.dirichlet(np.ones(5) / 5, 9)]:
        best = maximiser(q, k)
        around = [best + s * rng.normal(size=(200, 5)) for s in (1e-6, 1e-3, 1, 30)]
        gap = mapping.potential(np.vstack([best, *around]))
        gap -= np.vstack([best, *around]) @ q
        assert gap[0] == pytest.approx(mapping.entropy(q[None])[0], abs=1e-14)
        assert gap.min() >= gap[0] - 1e-14


def maximiser(q, k):
    """Scores with F(z) - <q, z> = -Ω(q): log q, the lower ones levelled."""
    ordered = np.sort(q)[::-1]
    for r in range(min(k, len(q))):
        level = ordered[r:].sum() / (k - r)
        if level >= ordered[r]:
            break
    # With k at least n_classes no level is reached and z = log q.
    return np.log(np.maximum(q, level if k < len(q) else 0))


def test_entropy_of_few_classes_is_that_of_softmax():
    q = np.array([[0.5, 0.0, 0.5, 0.0], [1.0, 0.0, 0.0, 0.0], [0.2, 0.3, 0.5, 0.0]])
    assert_allclose(SparseSoftmax(k=3).entropy(q), Softmax().entropy(q), rtol=1e-15)
    # The uniform row over all is as good as one over k classes.
    uniform = np.full((1, 5), 0.2)
    assert_allclose(SparseSoftmax(k=3).entropy(uniform), np.log(3), rtol=1e-15)


def test_equal_scores_need_not_get_equal_probabilities():
    assert_array_equal(sparse_softmax([1.0, 1.0], k=1), [1, 0])


def test_top_p_is_not_monotone():
    """⟨p(z) - p(y), z - y⟩ < 0: it is the gradient of no convex function."""
    mapping = SparseSoftmax(p=0.5)
    y, z = np.array([[0.01, -0.5, -3.0]]), np.array([[0.02, -0.5, -0.6]])
    product = ((mapping(z) - mapping(y)) * (z - y)).sum()
    assert product < -1e-3
    assert not mapping.traits.has_potential
    for method, argument in ((mapping.potential, y), (mapping.entropy, mapping(y))):
        with pytest.raises(TypeError, match="SparseSoftmax with p has no"):
            method(argument)


def test_top_k_is_monotone():
    rng = np.random.default_rng(0)
    y, z = rng.normal(size=(2, 2000, 5))
    mapping = SparseSoftmax(k=2)
    assert (((mapping(z) - mapping(y)) * (z - y)).sum(axis=1) >= 0).all()


def test_it_jumps_where_entmax_does_not():
    z = np.array([[0.0, 1e-9, 0.0], [0.0, -1e-9, 0.0]])
    assert np.ptp(sparse_softmax(z, k=1), axis=0).max() == 1
    assert np.ptp(entmax(z, 2), axis=0).max() < 1e-8


def test_defaults_and_names():
    assert MAPPINGS["sparse_softmax"]().traits.has_potential
    scores = np.random.default_rng(0).normal(size=(4, 30))
    assert_array_equal((SparseSoftmax()(scores) > 0).sum(axis=1), 10)
    assert_array_equal(SparseSoftmax()(scores), sparse_softmax(scores, k=10))
    assert SparseSoftmax(k=1).traits.has_zeros
    assert SparseSoftmax(p=0.9).traits.has_zeros
    assert not SparseSoftmax(p=1).traits.has_zeros


def test_bad_parameters_are_refused():
    for k, p in ((None, None), (3, 0.5), (10, 1.0)):
        with pytest.raises(ValueError, match=f"Exactly one of k and p.*k={k}.*p={p}"):
            sparse_softmax([1.0, 2.0], k, p)
    for k in (0, -1, 1.5, np.nan, "all"):
        with pytest.raises(ValueError, match="'k' parameter of SparseSoftmax must be"):
            SparseSoftmax(k=k)([[1.0, 2.0]])
    for p in (0, -0.1, 1.1, np.nan, np.inf, "half"):
        with pytest.raises(ValueError, match="'p' parameter of SparseSoftmax must be"):
            SparseSoftmax(p=p)([[1.0, 2.0]])


def test_scores_that_the_shift_makes_equal():
    """The higher one is kept, in whatever order they come."""
    rows = np.array([[0, 1e-20, 3.0], [1e-20, 0, 3.0], [-1e-20, -2e-20, 1.0]])
    kept = [[1, 2], [0, 2], [0, 2]]
    mappings = (
        SparseSoftmax(2),
        SparseSoftmax(p=0.95),
        Temperature(SparseSoftmax(2), 3),
    )
    for mapping in mappings:
        scores = rows if mapping.get_params().get("p") is None else rows[:2]
        for p, classes in zip(mapping(scores), kept, strict=False):
            assert np.flatnonzero(p).tolist() == classes
    few = np.array([[0, 1e-20, 1e-10, 3.0]], dtype=np.float32)
    assert np.flatnonzero(SparseSoftmax(3)(few)).tolist() == [1, 2, 3]


def test_the_function_has_the_defaults_of_the_class():
    scores = np.random.default_rng(0).normal(size=(3, 20))
    np.testing.assert_array_equal(sparse_softmax(scores), SparseSoftmax()(scores))
    with pytest.raises(ValueError, match="Exactly one of k and p"):
        sparse_softmax(scores, k=None)
