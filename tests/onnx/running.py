"""Models converted to ONNX, as onnxruntime runs them."""

import numpy as np
import pytest

onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extra skprob[onnx]")
skl2onnx = pytest.importorskip("skl2onnx", reason="needs the extra skprob[onnx]")


def session(model, X, **options):
    """A runtime session of a fitted model, converted for inputs like X."""
    converted = skl2onnx.to_onnx(model, X[:1], **options)
    return onnxruntime.InferenceSession(
        converted.SerializeToString(), providers=["CPUExecutionProvider"]
    )


def run(model, X, **options):
    """Labels and probabilities of a fitted model, converted."""
    return run_session(session(model, X, **options), X)


def run_session(running, X):
    """Labels and probabilities of rows."""
    if hasattr(X, "columns"):
        feed = {name: X[[name]].to_numpy() for name in X.columns}
    else:
        feed = {"X": X}
    return running.run(["label", "probabilities"], feed)


def assert_same(model, X, rounding=1e-6, **options):
    """Labels and supports are equal, and probabilities within rounding."""
    running = session(model, X, **options)
    labels, p = run_session(running, X)
    expected = model.predict_proba(X)
    assert p.shape == expected.shape
    assert np.abs(p - expected).max() <= rounding
    predicted = model.predict(X)
    assert labels.shape == predicted.shape
    np.testing.assert_array_equal(labels, predicted)
    # Small probabilities may be zero in float32, unless the row has exact zeros.
    has_zeros = (expected == 0).any()
    support = expected if has_zeros else expected.astype(p.dtype)
    np.testing.assert_array_equal(p > 0, support > 0)
    # Some versions of onnxruntime have their own idea of an array without rows.
    for of_none, of_rows in zip(run_session(running, X[:0]), (labels, p), strict=True):
        assert of_none.shape == (0, *of_rows.shape[1:])
        assert of_none.dtype == of_rows.dtype
