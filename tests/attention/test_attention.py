"""Attention against torch, the entmax package, and loops over queries."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skprob.attention import _attention, attention, attention_vjp, taylor_attention
from skprob.mappings import Entmax, Sparsemax, TaylorSoftmax, softmax

from .queries_and_keys import CASES, arrays, cotangent, numbers

REFERENCE = np.load(Path(__file__).parent / "reference.npz")
MAPPINGS = {"entmax 1.25": Entmax(1.25)}


@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives_are_those_of_torch_and_entmax(name, monkeypatch):
    *given, mask = arrays(name)
    options = {"mapping": MAPPINGS.get(CASES[name][0], CASES[name][0]), "mask": mask}
    for most in (10**6, 10):  # In blocks of one query, too.
        monkeypatch.setattr(_attention, "_MOST_SCORES", most)
        out = attention(*given, **options)
        assert_allclose(out, REFERENCE[f"{name}, out"], rtol=0, atol=1e-12)
        derivatives = attention_vjp(*given, cotangent(out.shape), **options)
        for which, derivative in zip(
            ("query", "key", "value"), derivatives, strict=True
        ):
            expected = REFERENCE[f"{name}, {which}"]
            # entmax_bisect stops at about so much.
            atol = 1e-9 if name == "entmax 1.25" else 1e-12
            assert_allclose(derivative, expected, rtol=0, atol=atol)


def test_queries_without_a_key_give_zero():
    *given, mask = arrays("heads")
    mask = mask.copy()
    mask[2] = False
    out = attention(*given, mask=mask)
    assert (out[..., 2, :] == 0).all()
    of_query, of_key, of_value = attention_vjp(*given, np.ones(out.shape), mask=mask)
    assert (of_query[..., 2, :] == 0).all()
    others = [0, 1, 3]
    fewer = attention_vjp(
        given[0][..., others, :], *given[1:], np.ones((2, 3, 3, 3)), mask=mask[others]
    )
    assert_allclose(of_key, fewer[1], atol=1e-14)
    assert_allclose(of_value, fewer[2], atol=1e-14)
    nothing = attention(given[0], given[1][..., :0, :], given[2][..., :0, :])
    assert_array_equal(nothing, np.zeros((2, 3, 4, 3)))


def test_each_scale_multiplies_the_scores():
    query, key, value, mask = arrays("sparsemax")
    rows = []
    for q, k, v, seen in zip(query, key, value, mask, strict=True):
        for i, one_query in enumerate(q):
            n = seen[i].sum()
            scores = np.log(n) / 4 * (k[seen[i]] @ one_query)
            rows.append(softmax(scores) @ v[seen[i]])
    out = attention(query, key, value, scale="entropy_invariant", mask=mask)
    assert_allclose(out.reshape(-1, 2), rows, atol=1e-14)
    # Derivatives against differences: the factor is the query's own.
    given, along = (query, key, value), cotangent(out.shape)
    options = {"scale": "entropy_invariant", "mask": mask}
    derivatives = attention_vjp(*given, along, **options)
    rng = np.random.default_rng(0)
    for i, derivative in enumerate(derivatives):
        step = 1e-6 * rng.standard_normal(given[i].shape)
        ends = [
            attention(*given[:i], given[i] + s * step, *given[i + 1 :], **options)
            for s in (1, -1)
        ]
        slope = np.vdot(along, ends[0] - ends[1]) / 2
        assert slope == pytest.approx(np.vdot(derivative, step), rel=1e-6)
    assert_allclose(
        attention(query, key, value, scale=0.5), attention(query, key, value)
    )
    assert_allclose(
        attention(query, key, value, scale=0), np.repeat(value.mean(1)[:, None], 5, 1)
    )


def test_single_precision_stays_single():
    query, key, value, _ = arrays("plain")
    single = [array.astype(np.float32) for array in (query, key, value)]
    assert attention(*single).dtype == np.float32
    assert_allclose(attention(*single), attention(query, key, value), atol=1e-6)
    assert attention(single[0], key, value).dtype == np.float64
    assert {a.dtype for a in attention_vjp(*single, np.ones((3, 2)))} == {
        np.dtype(np.float32)
    }
    assert taylor_attention(*single).dtype == np.float32


@pytest.mark.parametrize("order", [2, 4])
def test_taylor_attention_is_attention_with_its_mapping(order):
    query = numbers((2, 1, 300, 3), 1.7)
    key, value = numbers((3, 300, 3), 2.9), numbers((3, 300, 2), 0.7)
    quadratic = {"mapping": TaylorSoftmax(order)}
    for scale in ("sqrt", 0.1):
        expected = attention(query, key, value, scale=scale, **quadratic)
        values = taylor_attention(query, key, value, order=order, scale=scale)
        assert_allclose(values, expected, rtol=0, atol=1e-12)
        mask = np.tril(np.ones((300, 300), dtype=bool))
        expected = attention(query, key, value, scale=scale, mask=mask, **quadratic)
        values = taylor_attention(
            query, key, value, order=order, causal=True, scale=scale
        )
        assert_allclose(values, expected, rtol=0, atol=1e-12)


def test_taylor_attention_forms_no_square():
    """100,000 keys: their products with the queries would take 80 GB."""
    query = numbers((100_000, 2), 1.7)
    for causal in (False, True):
        out = taylor_attention(query, query, query, causal=causal)
        sample, number = slice(99_000, None, 100), np.arange(100_000)
        mask = number <= number[sample, None] if causal else None
        options = {"mapping": "taylor_softmax", "mask": mask}
        expected = attention(query[sample], query, query, **options)
        assert_allclose(out[sample], expected, rtol=0, atol=1e-12)


X = np.ones((3, 2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: attention(X[0], X, X), r"query must have shape \(..., n_rows"),
        (lambda: attention(X, X * np.nan, X), "key must be finite"),
        (lambda: attention(X, X, X * 1j), "value must be real numbers"),
        (lambda: attention(X, X[:, :1], X), "query and key must have the same last"),
        (lambda: attention(X, X, X[:2]), "key and value must have the same number"),
        (lambda: attention(X[None], [X, X, X], [X, X]), "leading axes"),
        (lambda: attention(X, X, X, mask=X), "mask must be booleans"),
        (
            lambda: attention(X, X, X, mask=X[:2] > 0),
            r"mask must have a shape \(..., n_queries, n_keys\) that broadcasts",
        ),
        (lambda: attention(X, X, X, scale="root"), "scale must be 'sqrt'"),
        (lambda: attention(X, X, X, scale=np.inf), "scale must be 'sqrt'"),
        (lambda: attention(X, X, X, scale=True), "scale must be 'sqrt'"),
        (lambda: attention(X, X, X, mapping="max"), "one of the names"),
        (lambda: attention(X, X, X, mapping=Entmax(-1)), "'alpha' parameter"),
        (lambda: attention(1e200 * X, 1e200 * X, X), "scores are finite"),
        (lambda: attention_vjp(X, X, X, X[:2]), "cotangent must have the shape"),
        (lambda: taylor_attention(X, X, X, order=3), "order must be an even number"),
        (lambda: taylor_attention(X, X, X, order=18), "at most 100000"),
        (lambda: taylor_attention(X, X[:2], X[:2], causal=True), "as many queries"),
        (lambda: taylor_attention(X, X[:0], X[:0]), "key must hold at least one key"),
        (lambda: taylor_attention(X, X, X, causal=1), "causal must be True or False"),
        (
            lambda: taylor_attention(X, X, X, scale="entropy_invariant"),
            "scale must be 'sqrt' or a finite number",
        ),
        (lambda: taylor_attention([X, X], [X, X, X], X), "leading axes"),
        (lambda: taylor_attention(1e200 * X, 1e200 * X, X), "weights are finite"),
    ],
)
def test_malformed_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message), np.errstate(all="ignore"):
        call()


def test_a_mapping_or_a_function_is_the_named_mapping():
    query, key, value, _ = arrays("plain")
    by_name = attention(query, key, value, mapping="sparsemax")
    for mapping in (Sparsemax(), lambda scores: Sparsemax()(scores)):
        assert_array_equal(attention(query, key, value, mapping=mapping), by_name)
