"""What every mapping must satisfy, and what each declares about itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone

from skprob.mappings import PerturbMax, _rows

from .members import each, has_jacobian

finite = st.floats(-1e3, 1e3, allow_subnormal=False)
# Quarters make ties and hit the kinks of sparse mappings exactly.
quarters = st.integers(-12, 12).map(lambda i: i / 4)


@st.composite
def score_rows(draw, values=None, unavailable=True, max_classes=8):
    """A few rows of scores, some classes perhaps unavailable."""
    shape = (draw(st.integers(1, 3)), draw(st.integers(1, max_classes)))
    values = draw(st.sampled_from([finite, quarters])) if values is None else values
    scores = draw(arrays(np.float64, shape, elements=values))
    if unavailable:
        out = draw(arrays(bool, shape))
        out[:, draw(st.integers(0, shape[1] - 1))] = False
        scores[out] = -np.inf
    return scores


def assert_on_simplex(p, scores):
    assert p.shape == scores.shape and p.dtype == scores.dtype
    assert (p >= 0).all()
    eps = np.finfo(p.dtype).eps
    np.testing.assert_allclose(p.sum(axis=1, dtype=np.float64), 1, rtol=0, atol=8 * eps)
    assert (p[scores == -np.inf] == 0).all()


@each()
@given(scores=score_rows())
def test_on_the_simplex(mapping, scores):
    before = scores.copy()
    assert_on_simplex(mapping(scores), scores)
    assert_on_simplex(mapping(scores.astype(np.float32)), scores.astype(np.float32))
    np.testing.assert_array_equal(scores, before)


@each()
@settings(max_examples=25)
@given(scores=score_rows(quarters))
def test_classes_that_are_not_available_are_as_if_not_there(mapping, scores):
    for row in scores:
        there = row > -np.inf
        few, many = row[there][None], row[None]

        def same(found, expected):
            size = 1 + np.abs(expected[np.isfinite(expected)]).max(initial=0)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * size)

        p = mapping(many)[0]
        same(p[there], mapping(few)[0])
        assert (p[~there] == 0).all()
        log_p = mapping.log_probabilities(many)[0]
        same(log_p[there], mapping.log_probabilities(few)[0])
        assert (log_p[~there] == -np.inf).all()
        jacobian = mapping.jacobian(many)[0]
        same(jacobian[np.ix_(there, there)], mapping.jacobian(few)[0])
        assert (jacobian[~there] == 0).all() and (jacobian[:, ~there] == 0).all()
        for product in (mapping.jvp, mapping.vjp):
            along = np.ones_like(many)
            same(product(many, along)[:, there], product(few, along[:, there]))
        if mapping.has_potential:
            same(mapping.potential(many), mapping.potential(few))


@each()
@given(scores=score_rows())
def test_equal_scores_get_equal_probabilities(mapping, scores):
    for row, p in zip(scores, mapping(scores), strict=True):
        for z in np.unique(row):
            assert len(np.unique(p[row == z])) == 1


@each(lambda mapping: mapping.is_order_preserving)
@given(scores=score_rows())
def test_order_preserving(mapping, scores):
    for row, p in zip(scores, mapping(scores), strict=True):
        assert (np.diff(p[np.argsort(row, kind="stable")]) >= 0).all()


@each(lambda mapping: mapping.is_shift_invariant)
@given(scores=score_rows(quarters), shift=st.integers(-(2**30), 2**30))
def test_shift_invariant(mapping, scores, shift):
    # A sum of quarters and an integer is exact.
    np.testing.assert_array_equal(mapping(scores + shift), mapping(scores))


@each()
@given(scores=score_rows(), data=st.data())
def test_permutation_equivariant(mapping, scores, data):
    order = data.draw(st.permutations(range(scores.shape[1])))
    moved = mapping(scores[:, order])
    np.testing.assert_allclose(moved, mapping(scores)[:, order], rtol=0, atol=1e-13)


@each(lambda mapping: mapping.is_order_preserving)
@given(scores=score_rows(quarters))
def test_argmax_limit(mapping, scores):
    top = scores == scores.max(axis=1, keepdims=True)
    expected = top / top.sum(axis=1, keepdims=True)
    # Far enough for noises of heavy tails.
    np.testing.assert_allclose(mapping(scores * 1e14), expected, rtol=0, atol=1e-12)


@each(has_jacobian)
@given(scores=score_rows(quarters), data=st.data())
def test_jvp_and_vjp_are_adjoint(mapping, scores, data):
    u, v = (data.draw(arrays(np.float64, scores.shape, elements=finite)) for _ in "uv")
    size = 1 + np.abs(u).sum() * np.abs(v).sum()
    jacobian = np.abs(mapping.jacobian(scores)).max()
    assert np.abs(
        (mapping.jvp(scores, u) * v).sum(axis=1)
        - (u * mapping.vjp(scores, v)).sum(axis=1)
    ) == pytest.approx(0, abs=1e-13 * size * jacobian)


@each(has_jacobian)
@given(scores=score_rows(quarters), data=st.data())
def test_jacobian_is_what_jvp_multiplies_by(mapping, scores, data):
    v = data.draw(arrays(np.float64, scores.shape, elements=quarters))
    jacobian = mapping.jacobian(scores)
    expected = np.einsum("nij,nj->ni", jacobian, v)
    tolerance = 1e-13 * (1 + np.abs(jacobian).max())
    np.testing.assert_allclose(mapping.jvp(scores, v), expected, rtol=0, atol=tolerance)


@each(lambda mapping: mapping.has_potential and has_jacobian(mapping))
@given(scores=score_rows(quarters))
def test_jacobian_of_a_gradient(mapping, scores):
    for jacobian in mapping.jacobian(scores):
        size = max(1, np.abs(jacobian).max())
        np.testing.assert_allclose(jacobian, jacobian.T, rtol=0, atol=1e-14 * size)
        assert np.linalg.eigvalsh(jacobian).min() >= -1e-14 * size
        if mapping.is_shift_invariant:
            sums = jacobian.sum(axis=1)
            np.testing.assert_allclose(sums, 0, rtol=0, atol=1e-14 * size)


@each(lambda mapping: mapping.has_potential and has_jacobian(mapping))
@given(scores=score_rows(quarters), data=st.data())
def test_all_at_once_is_the_same(mapping, scores, data):
    v = data.draw(arrays(np.float64, scores.shape, elements=quarters))
    standard = _rows.standard_scores(scores, mapping.is_shift_invariant)
    shift = scores.max(axis=1) - standard.max(axis=1)
    linear, potential = mapping.linearize_with_potential(standard)
    tolerance = {"rtol": 1e-13, "atol": 1e-13}
    np.testing.assert_allclose(
        potential + shift, mapping.potential(scores), **tolerance
    )
    np.testing.assert_allclose(linear.probabilities, mapping(scores), **tolerance)
    product = mapping.jvp(scores, v)
    np.testing.assert_allclose(linear.jvp(v), product, **tolerance)


@each(lambda mapping: mapping.has_potential)
@given(scores=score_rows(finite, unavailable=False), data=st.data())
def test_mapping_is_the_gradient_of_its_potential(mapping, scores, data):
    scores = scores / 300
    step = 1e-4
    direction = data.draw(arrays(np.float64, scores.shape, elements=quarters))
    direction /= max(np.abs(direction).max(), 1)
    rise = mapping.potential(scores + step * direction) - mapping.potential(
        scores - step * direction
    )
    # By convexity the slope of the chord is between those at its ends.
    slopes = [
        (mapping(scores + end * direction) * direction).sum(axis=1)
        for end in (-step, step)
    ]
    assert (rise >= 2 * step * slopes[0] - 1e-13).all()
    assert (rise <= 2 * step * slopes[1] + 1e-13).all()


@each(lambda mapping: mapping.has_potential)
@given(scores=score_rows(quarters, unavailable=False), data=st.data())
def test_potential_is_the_conjugate_of_the_entropy(mapping, scores, data):
    potential = mapping.potential(scores)
    p = mapping(scores)
    attained = (p * scores).sum(axis=1) + mapping.entropy(p)
    np.testing.assert_allclose(potential, attained, rtol=0, atol=1e-12)
    q = data.draw(arrays(np.float64, scores.shape, elements=st.floats(0.01, 1)))
    q /= q.sum(axis=1, keepdims=True)
    elsewhere = (q * scores).sum(axis=1) + mapping.entropy(q)
    assert (potential >= elsewhere - 1e-12).all()


@each(lambda mapping: mapping.has_potential)
def test_entropy_of_certainty_and_of_ignorance(mapping):
    certain = mapping.entropy(np.eye(4))
    # The potential of one class alone: what noise adds on average.
    alone = mapping.potential([[0.0]])[0]
    assert certain == pytest.approx(alone, abs=1e-12)
    assert alone == 0 or isinstance(mapping, PerturbMax)
    rng = np.random.default_rng(0)
    mixed = mapping.entropy(rng.dirichlet(np.ones(4), 50))
    uniform = mapping.entropy(np.full((1, 4), 0.25))
    assert (certain.max() <= mixed).all() and (mixed < uniform).all()


@each()
@given(scores=score_rows())
def test_log_probabilities(mapping, scores):
    p = mapping(scores)
    log_p = mapping.log_probabilities(scores)
    # An integral, and its logarithm, come with the error that was asked for.
    tol = getattr(mapping, "tol", 0)
    np.testing.assert_allclose(
        np.exp(log_p), p, rtol=1e-12 + 100 * tol, atol=1e-300 + tol
    )


@each()
def test_zeros_are_declared(mapping):
    scores = np.random.default_rng(0).normal(scale=10, size=(50, 5))
    if mapping.has_zeros:
        assert (mapping(1e9 * scores) == 0).any()
    else:
        assert (mapping(scores) > 0).all()


@each(lambda mapping: not mapping.is_shift_invariant)
def test_a_shift_changes_something(mapping):
    scores = np.random.default_rng(0).normal(size=(50, 5))
    assert np.abs(mapping(scores + 1) - mapping(scores)).max() > 1e-3


@each(lambda mapping: not mapping.is_order_preserving)
def test_some_higher_score_gets_less(mapping):
    scores = np.random.default_rng(0).normal(scale=3, size=(50, 5))
    p = np.take_along_axis(mapping(scores), scores.argsort(axis=1), axis=1)
    assert (np.diff(p) < -1e-3).any()


@each(lambda mapping: not mapping.has_potential and has_jacobian(mapping))
def test_some_jacobian_is_not_symmetric(mapping):
    jacobian = mapping.jacobian(np.random.default_rng(0).normal(size=(50, 5)))
    assert np.abs(jacobian - jacobian.transpose(0, 2, 1)).max() > 1e-3


@each()
@pytest.mark.parametrize("n_classes", [10, 200])
def test_layout_and_blocks_do_not_matter(mapping, n_classes, monkeypatch):
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((77, n_classes))
    whole = mapping(scores)
    np.testing.assert_array_equal(mapping(np.asfortranarray(scores)), whole)
    np.testing.assert_array_equal(mapping(scores[::-1])[::-1], whole)
    kernel = mapping.probabilities
    for order in "CF":
        standard = np.array(scores, order=order)
        if mapping.is_shift_invariant:
            standard -= standard.max(axis=1, keepdims=True)
        p = kernel(standard)
        # Sums in another order, times the sharpest of the mappings.
        np.testing.assert_allclose(p, whole, rtol=0, atol=4e-15)
        assert p.flags[f"{order}_CONTIGUOUS"]
    monkeypatch.setattr(_rows, "_BLOCK_BYTES", 8 * n_classes * 10)
    np.testing.assert_allclose(mapping(scores), whole, rtol=0, atol=1e-15)
    if mapping.has_potential:
        in_blocks = mapping.potential(scores)
        monkeypatch.undo()
        np.testing.assert_allclose(in_blocks, mapping.potential(scores), atol=1e-14)


@each(has_jacobian)
def test_derivatives_keep_float32(mapping):
    scores = np.random.default_rng(0).standard_normal((5, 4)).astype(np.float32)
    direction = np.ones_like(scores)
    assert mapping.jvp(scores, direction).dtype == np.float32
    assert mapping.vjp(scores, direction).dtype == np.float32
    assert mapping.jacobian(scores).dtype == np.float32
    assert mapping.log_probabilities(scores).dtype == np.float32
    if mapping.has_potential:
        assert mapping.potential(scores).dtype == np.float32
        assert mapping.entropy(mapping(scores)).dtype == np.float32


@each(has_jacobian)
def test_nothing_given_is_modified(mapping):
    rng = np.random.default_rng(0)
    for n_classes in (5, 100):
        for order in "CF":
            scores, direction = (
                np.array(rng.standard_normal((9, n_classes)), order=order)
                for _ in range(2)
            )
            kept = scores.copy(), direction.copy()
            for method in (mapping.jvp, mapping.vjp):
                method(scores, direction)
            mapping.jacobian(scores)
            mapping.log_probabilities(scores)
            if mapping.has_potential:
                mapping.potential(scores)
                p = mapping(scores)
                kept_p = p.copy()
                mapping.entropy(p)
                np.testing.assert_array_equal(p, kept_p)
            np.testing.assert_array_equal(scores, kept[0])
            np.testing.assert_array_equal(direction, kept[1])


@each()
@pytest.mark.parametrize("n_classes", [1, 3, 100])
def test_no_samples(mapping, n_classes):
    nothing = np.empty((0, n_classes))
    assert mapping(nothing).shape == (0, n_classes)
    assert mapping.log_probabilities(nothing).shape == (0, n_classes)
    if mapping.has_potential:
        assert mapping.potential(nothing).shape == (0,)
    if has_jacobian(mapping):
        assert mapping.jvp(nothing, nothing).shape == (0, n_classes)


@each()
def test_one_class_is_certain(mapping):
    scores = np.array([[0.0], [-3e5], [1e-300]])
    np.testing.assert_array_equal(mapping(scores), np.ones((3, 1)))


@each()
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.longdouble])
def test_other_numbers_become_float64(mapping, dtype):
    scores = np.array([[0, 1, 1], [1, 0, 0]], dtype=dtype)
    p = mapping(scores)
    assert p.dtype == np.float64
    np.testing.assert_array_equal(p, mapping(scores.astype(np.float64)))
    np.testing.assert_array_equal(p, mapping(scores.tolist()))


@each()
def test_is_an_estimator(mapping):
    assert (
        clone(mapping).get_params(deep=False).keys()
        == mapping.get_params(deep=False).keys()
    )
    assert repr(clone(mapping)) == repr(mapping)
