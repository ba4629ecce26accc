"""Properties of every mapping, and those that it declares."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skprob._utils.scores import standard_scores
from skprob.mappings import PerturbMax, _row_blocks

from .all_mappings import each, has_jacobian

finite = st.floats(-1e3, 1e3, allow_subnormal=False)
# Quarters make ties and hit the kinks of sparse mappings exactly.
quarters = st.integers(-12, 12).map(lambda i: i / 4)


@st.composite
def score_rows(draw):
    """A few rows of scores, some classes perhaps unavailable."""
    shape = (draw(st.integers(1, 3)), draw(st.integers(1, 8)))
    values = draw(st.sampled_from([finite, quarters]))
    scores = draw(arrays(np.float64, shape, elements=values))
    out = draw(arrays(bool, shape))
    out[:, draw(st.integers(0, shape[1] - 1))] = False
    scores[out] = -np.inf
    return scores


def rows_of_quarters(unavailable=True, sizes=(1, 2, 3, 8)):
    """Arrays of rows of quarters, of few classes and of more."""
    for n_classes in sizes:
        rng = np.random.default_rng(n_classes)
        scores = rng.integers(-12, 13, (16, n_classes)) / 4
        if unavailable:
            out = rng.random(scores.shape) < 0.4
            out[:4] = False
            out[np.arange(16), rng.integers(n_classes, size=16)] = False
            scores[out] = -np.inf
        yield scores


def assert_allowed(traits, p, scores):
    """Probabilities are in the polytope of the traits, with a sum in their range."""
    assert p.shape == scores.shape and p.dtype == scores.dtype
    assert (p >= 0).all()
    eps = np.finfo(p.dtype).eps
    least, most = traits.sum_range
    assert least == most == 1 or traits.polytope == "cube"
    sums = p.sum(axis=1, dtype=np.float64)
    assert (least - 8 * eps <= sums).all() and (sums <= most + 8 * eps).all()
    assert (p <= 1 + 8 * eps).all()
    assert (p[scores == -np.inf] == 0).all()


@each()
@settings(max_examples=settings().max_examples // 8)
@given(scores=score_rows())
def test_probabilities(mapping, scores):
    p = mapping(scores)
    assert_allowed(mapping.traits, p, scores)
    single = scores.astype(np.float32)
    assert_allowed(mapping.traits, mapping(single), single)
    # In the order of the scores, equal ones are equally probable, or more is more.
    order = scores.argsort(axis=1, kind="stable")
    z, ordered = (np.take_along_axis(a, order, axis=1) for a in (scores, p))
    rise = ordered[:, 1:] - ordered[:, :-1]
    assert (rise[z[:, 1:] == z[:, :-1]] == 0).all()
    if mapping.traits.is_order_preserving:
        assert (rise >= 0).all()
    for classes in (slice(None, None, -1), np.roll(range(scores.shape[1]), 2)):
        assert_allclose(mapping(scores[:, classes]), p[:, classes], rtol=0, atol=1e-13)
    # The error of an integral, and of its logarithm, is within the tolerance.
    tol = getattr(mapping, "tol", 0)
    p_of_log = np.exp(mapping.log_probabilities(scores))
    assert_allclose(p_of_log, p, rtol=1e-12 + 100 * tol, atol=1e-300 + tol)


@each()
def test_classes_that_are_not_available_are_as_if_not_there(mapping):
    for scores in rows_of_quarters(sizes=(2, 8)):
        for row in scores[-4:]:
            kept = row > -np.inf
            few, many = row[kept][None], row[None]

            def same(result, expected):
                size = 1 + np.abs(expected[np.isfinite(expected)]).max(initial=0)
                assert_allclose(result, expected, rtol=0, atol=1e-13 * size)

            p = mapping(many)[0]
            same(p[kept], mapping(few)[0])
            assert (p[~kept] == 0).all()
            log_p = mapping.log_probabilities(many)[0]
            same(log_p[kept], mapping.log_probabilities(few)[0])
            assert (log_p[~kept] == -np.inf).all()
            jacobian = mapping.jacobian(many)[0]
            same(jacobian[np.ix_(kept, kept)], mapping.jacobian(few)[0])
            assert (jacobian[~kept] == 0).all() and (jacobian[:, ~kept] == 0).all()
            for product in (mapping.jvp, mapping.vjp):
                along = np.arange(1.0, 1 + len(row))[None]
                same(
                    product(many, along)[:, kept],
                    product(few, along[:, kept]),
                )
            if mapping.traits.has_potential:
                same(mapping.potential(many), mapping.potential(few))


def has_argmax_limit(mapping):
    """Whether the largest scores get all probability as differences grow.

    Values of a function, divided by their sum, can be in order and have no such limit.
    """
    traits = mapping.traits
    is_of_differences = traits.is_shift_invariant or traits.polytope == "cube"
    return traits.is_order_preserving and is_of_differences


@each(has_argmax_limit)
def test_the_largest_scores_get_all_probability(mapping):
    for scores in rows_of_quarters():
        top = scores == scores.max(axis=1, keepdims=True)
        expected = top / top.sum(axis=1, keepdims=True)
        if mapping.traits.sum_range == (0, np.inf):
            expected = (np.sign(scores) + 1) / 2
        elif mapping.traits.polytope == "cube":
            # At most one, which the top shares; half for a score of zero.
            half = (np.sign(scores.max(axis=1, keepdims=True)) + 1) / 2
            share = half * np.where(half < 1, top.sum(axis=1, keepdims=True), 1)
            expected *= share.clip(*mapping.traits.sum_range)
        # Far enough for noises of heavy tails.
        assert_allclose(mapping(scores * 1e14), expected, rtol=0, atol=1e-12)


@each()
def test_what_is_declared_is_so(mapping):
    for scores in rows_of_quarters():
        if mapping.traits.is_shift_invariant:
            rng = np.random.default_rng(0)
            shift = rng.integers(-(2**30), 2**30, (len(scores), 1))
            # A sum of quarters and an integer is exact.
            assert_array_equal(mapping(scores + shift), mapping(scores))
    base = mapping(np.full((1, 4), mapping.traits.base_score))
    assert np.ptp(base) == 0 and base[0, 0] > 0
    assert_what_is_denied_is_not_so(mapping)


def assert_what_is_denied_is_not_so(mapping):
    # Scores whose exponentials do not underflow.
    large = np.random.default_rng(0).normal(scale=8, size=(50, 12))
    assert (mapping(large) == 0).any() == mapping.traits.has_zeros
    scores = np.random.default_rng(0).normal(scale=3, size=(50, 5))
    p = mapping(scores)
    doubled = np.abs(mapping(2 * scores) - p).max()
    assert doubled < 1e-12 if mapping.traits.is_scale_invariant else doubled > 1e-3
    if not mapping.traits.is_shift_invariant:
        assert np.abs(mapping(scores + 1) - p).max() > 1e-3
    if not mapping.traits.is_order_preserving:
        ordered = np.take_along_axis(p, scores.argsort(axis=1), axis=1)
        assert (np.diff(ordered) < -1e-3).any()
    if not mapping.traits.has_potential and has_jacobian(mapping):
        jacobian = mapping.jacobian(scores / 3)
        assert np.abs(jacobian - jacobian.transpose(0, 2, 1)).max() > 1e-3


@each()
def test_probabilities_have_no_steep_slopes_if_it_is_declared_so(mapping):
    """A class rises a little among others with the same score, of all heights."""
    step = 1e-3
    scores = np.zeros((601, 12))
    scores[:, 1:] = -np.linspace(0, 3, 601)[:, None]
    raised = scores.copy()
    raised[:, -1] += step
    steepest = np.abs(mapping(raised) - mapping(scores)).max() / step
    assert (steepest < 4) == mapping.traits.is_lipschitz


@each(has_jacobian)
def test_jacobian_and_its_products(mapping):
    for scores in rows_of_quarters():
        rng = np.random.default_rng(0)
        u = rng.uniform(-1e3, 1e3, scores.shape)
        v = rng.integers(-12, 13, scores.shape) / 4
        jacobian, jvp = mapping.jacobian(scores), mapping.jvp(scores, v)
        expected = np.einsum("nij,nj->ni", jacobian, v)
        tolerance = 1e-13 * (1 + np.abs(jacobian).max())
        assert_allclose(jvp, expected, rtol=0, atol=tolerance)
        off = (jvp * u).sum(axis=1) - (v * mapping.vjp(scores, u)).sum(axis=1)
        size = 1 + np.abs(u).sum() * np.abs(v).sum()
        assert off == pytest.approx(0, abs=1e-13 * size * np.abs(jacobian).max())
        if not isinstance(mapping, PerturbMax):  # These are integrals of their own.
            standard = standard_scores(scores, mapping.traits.is_shift_invariant)
            log_jvp = mapping.log_linearize(standard).jvp(v.copy())
            assert_allclose(mapping(scores) * log_jvp, jvp, rtol=0, atol=tolerance)
        if mapping.traits.has_potential:
            assert_jacobian_of_a_gradient(mapping, jacobian)
            assert_all_at_once_is_the_same(mapping, scores, v, jvp)


def assert_jacobian_of_a_gradient(mapping, jacobian):
    for matrix in jacobian:
        size = max(1, np.abs(matrix).max())
        assert_allclose(matrix, matrix.T, rtol=0, atol=1e-14 * size)
        assert np.linalg.eigvalsh(matrix).min() >= -1e-14 * size
        if mapping.traits.is_shift_invariant:
            assert_allclose(matrix.sum(axis=1), 0, rtol=0, atol=1e-14 * size)


def assert_all_at_once_is_the_same(mapping, scores, v, jvp):
    standard = standard_scores(scores, mapping.traits.is_shift_invariant)
    shift = scores.max(axis=1) - standard.max(axis=1)
    if not mapping.traits.is_shift_invariant:
        shift = np.maximum(scores, 0).sum(axis=1)
    linear, potential = mapping.linearize_with_potential(standard)
    close = {"rtol": 1e-13, "atol": 1e-13}
    assert_allclose(potential + shift, mapping.potential(scores), **close)
    assert_allclose(linear.probabilities, mapping(scores), **close)
    assert_allclose(linear.jvp(v.copy()), jvp, **close)


@each(lambda mapping: mapping.traits.has_potential)
def test_mapping_is_the_gradient_of_its_potential(mapping):
    for quarters in rows_of_quarters(unavailable=False):
        rng = np.random.default_rng(0)
        direction = rng.uniform(-1, 1, quarters.shape)
        # Ties among them, and none.
        for scores in (quarters, rng.uniform(-3, 3, quarters.shape)):
            ends = [scores + step * direction for step in (-1e-4, 1e-4)]
            rise = mapping.potential(ends[1]) - mapping.potential(ends[0])
            # By convexity the slope of the chord is between those at its ends.
            low, high = (2e-4 * (mapping(z) * direction).sum(axis=1) for z in ends)
            assert (rise >= low - 1e-13).all() and (rise <= high + 1e-13).all()


@each(lambda mapping: mapping.traits.has_potential)
def test_potential_is_the_conjugate_of_the_entropy(mapping):
    for scores in rows_of_quarters(unavailable=False):
        potential, p = mapping.potential(scores), mapping(scores)
        attained = (p * scores).sum(axis=1) + mapping.entropy(p)
        assert_allclose(potential, attained, rtol=0, atol=1e-12)
        q = np.random.default_rng(0).uniform(0.01, 1, scores.shape)
        q /= q.sum(axis=1, keepdims=True)
        elsewhere = (q * scores).sum(axis=1) + mapping.entropy(q)
        assert (potential >= elsewhere - 1e-12).all()
    if mapping.traits.polytope == "cube":  # See test_sigmoid.
        return
    certain = mapping.entropy(np.eye(4))
    # The potential of one class alone: what noise adds on average.
    alone = mapping.potential([[0.0]])[0]
    assert certain == pytest.approx(alone, abs=1e-12)
    assert alone == 0 or isinstance(mapping, PerturbMax)
    mixed = mapping.entropy(np.random.default_rng(0).dirichlet(np.ones(4), 50))
    uniform = mapping.entropy(np.full((1, 4), 0.25))
    assert (certain.max() <= mixed).all() and (mixed < uniform).all()


@each()
def test_layout_and_blocks_do_not_matter(mapping, monkeypatch):
    for n_classes in (10, 200):
        scores = np.random.default_rng(0).standard_normal((23, n_classes))
        whole = mapping(scores)
        assert_array_equal(mapping(np.asfortranarray(scores)), whole)
        assert_array_equal(mapping(scores[::-1])[::-1], whole)
        for order in "CF":
            standard = np.array(scores, order=order)
            if mapping.traits.is_shift_invariant:
                standard -= standard.max(axis=1, keepdims=True)
            p = mapping.probabilities(standard)
            # Sums in another order, times the sharpest of the mappings.
            assert_allclose(p, whole, rtol=0, atol=4e-15)
            assert p.flags[f"{order}_CONTIGUOUS"]
        methods = [mapping.potential] if mapping.traits.has_potential else []
        at_once = [method(scores) for method in methods]
        with monkeypatch.context() as patch:
            patch.setattr(_row_blocks, "_BLOCK_BYTES", 8 * n_classes * 10)
            assert_allclose(mapping(scores), whole, rtol=0, atol=1e-15)
            in_blocks = [method(scores) for method in methods]
        assert_allclose(in_blocks, at_once, atol=1e-14)


@each(has_jacobian)
def test_types_are_kept_and_nothing_given_is_modified(mapping):
    rng = np.random.default_rng(0)
    for n_classes in (4, 70):
        for order, dtype in (("C", np.float32), ("F", np.float64)):
            given = [
                np.array(rng.standard_normal((5, n_classes)), dtype, order=order)
                for _ in "zv"
            ]
            p = mapping(given[0])
            kept = [*(array.copy() for array in given), p.copy()]
            results = [
                mapping.jvp(*given),
                mapping.vjp(*given),
                mapping.jacobian(given[0]),
                mapping.log_probabilities(given[0]),
            ]
            if mapping.traits.has_potential:
                results.append(mapping.potential(given[0]))
                entropy = mapping.entropy(p)
                if n_classes == 4:
                    results.append(entropy)
            assert {result.dtype for result in results} == {np.dtype(dtype)}
            for array, copy in zip([*given, p], kept, strict=True):
                assert_array_equal(array, copy)


@each()
def test_an_estimator_of_numbers_of_all_kinds(mapping):
    copy = clone(mapping)
    assert copy.get_params(deep=False).keys() == mapping.get_params(deep=False).keys()
    assert repr(copy) == repr(mapping)
    for n_classes in (1, 3, 100):
        nothing = np.empty((0, n_classes))
        assert mapping(nothing).shape == (0, n_classes)
        assert mapping.log_probabilities(nothing).shape == (0, n_classes)
        if mapping.traits.has_potential:
            assert mapping.potential(nothing).shape == (0,)
        if has_jacobian(mapping):
            assert mapping.jvp(nothing, nothing).shape == (0, n_classes)
    if mapping.traits.polytope == "simplex":  # One class is certain.
        assert_array_equal(mapping([[0.0], [-3e5], [1e-300]]), np.ones((3, 1)))
    expected = mapping([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    for dtype in (bool, np.int8, np.uint64, np.float16, np.longdouble, object):
        scores = np.array([[0, 1, 1], [1, 0, 0]], dtype=dtype)
        p = mapping(scores.tolist() if dtype is object else scores)
        assert p.dtype == np.float64
        assert_array_equal(p, expected)
