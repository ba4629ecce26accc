"""Partitions of Dask dataframes: their columns line up by name."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skprob import EntmaxClassifier, SoftmaxClassifier

dd = pytest.importorskip("dask.dataframe", reason="needs the extra skprob[dask]")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

N_ROWS, FEATURES, CLASSES = 120, ["a", "b", "c", "d"], ["u", "v", "w"]


@pytest.fixture(scope="module")
def rows():
    """Features, and shares of the classes, in memory."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, len(FEATURES))) * [1, 2, 3, 4] + [0, 5, 0, -5]
    scores = X @ rng.standard_normal((len(FEATURES), len(CLASSES)))
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return pd.DataFrame(X, columns=FEATURES), pd.DataFrame(shares, columns=CLASSES)


def collection(frame, *changes):
    """Three partitions, of which the later ones are changed."""
    parts = [frame[:50], frame[50:90], frame[90:]]
    for i, change in enumerate(changes, 1):
        parts[i] = change(parts[i])
    return from_parts(parts, frame[:0])


def from_parts(parts, meta):
    return dd.from_map(lambda part: part, parts, meta=meta, enforce_metadata=False)


def backwards(frame):
    return frame[frame.columns[::-1]]


def polars_backwards(frame):
    return pl.from_pandas(backwards(frame))


@pytest.mark.parametrize("other", [backwards, polars_backwards])
def test_a_fit_lines_up_the_columns_of_each_partition(rows, other):
    X, shares = rows
    y = shares.idxmax(axis=1)
    model = SoftmaxClassifier(tol=1e-10)
    expected = model.fit(X, y).coef_
    model.fit(collection(X, other, backwards), collection(y))
    assert_allclose(model.coef_, expected, rtol=0, atol=1e-7)
    assert model.feature_names_in_.tolist() == FEATURES
    expected = model.fit(X, shares).coef_
    model.fit(collection(X, backwards), collection(shares, backwards, other))
    assert_allclose(model.coef_, expected, rtol=0, atol=1e-7)
    assert model.classes_.tolist() == CLASSES


@pytest.mark.parametrize("other", [backwards, polars_backwards])
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.filterwarnings("ignore:X has feature names")
def test_predictions_line_up_the_columns_of_each_partition(rows, other, named):
    X, shares = rows
    in_memory = X if named else X.to_numpy()
    model = EntmaxClassifier().fit(in_memory, shares)
    lazy = collection(X, backwards, other)
    for method in ("predict", "predict_proba", "predict_log_proba"):
        computed = getattr(model, method)(lazy).compute()
        expected = getattr(model, method)(in_memory)
        assert_array_equal(computed == expected, True)
    score = model.score(lazy, collection(shares, backwards, other))
    assert_allclose(score, model.score(in_memory, shares))


@pytest.mark.filterwarnings("ignore:X has feature names")
def test_other_names_are_refused(rows):
    X, shares = rows
    other, y = collection(X, lambda part: part.rename(columns={"b": "e"})), shares
    message = re.escape(
        "X must have the columns of the collection in all partitions; one lacks ['b'] "
        "and has ['e'] besides."
    )
    model = SoftmaxClassifier()
    with pytest.raises(ValueError, match=message):
        model.fit(other, collection(y))
    assert not hasattr(model, "coef_")
    for in_memory in (X, X.to_numpy()):
        model.fit(in_memory, y)
        for method in ("predict", "predict_proba", "decision_function"):
            lazy = getattr(model, method)(other)
            with pytest.raises(ValueError, match=message):
                lazy.compute()
        with pytest.raises(ValueError, match=message):
            model.score(other, collection(y))
    for change, difference in (
        (lambda part: part[["u", "v"]], "lacks ['w'] and has []"),
        (lambda part: part.assign(x=0.0), "lacks [] and has ['x']"),
        (lambda part: part.set_axis(list("uvv"), axis=1), "lacks ['w'] and has ['v']"),
    ):
        message = f"y must have the columns .*{re.escape(difference)}"
        with pytest.raises(ValueError, match=message):
            model.fit(collection(X), collection(y, change))
        model.fit(X, y)
        with pytest.raises(ValueError, match=message):
            model.score(collection(X), collection(y, change))


def test_columns_of_labels_are_in_the_order_of_class_names(rows):
    X, shares = rows
    model = SoftmaxClassifier(class_names=["w", "u", "v"], tol=1e-10)
    expected = model.fit(X, shares).coef_
    model.fit(collection(X), collection(shares, backwards))
    assert_allclose(model.coef_, expected, rtol=0, atol=1e-7)
    assert model.classes_.tolist() == ["w", "u", "v"]
    plain = SoftmaxClassifier(tol=1e-10).fit(X, shares)
    assert_allclose(model.coef_, plain.coef_[[2, 0, 1]], atol=1e-7)


def test_names_that_are_not_distinct_are_refused(rows):
    X, shares = rows
    twice = shares.set_axis(["u", "v", "v"], axis=1)
    for change in (lambda part: part, backwards):
        with pytest.raises(
            ValueError, match=r"y must .*(unique column|distinct) names"
        ):
            SoftmaxClassifier().fit(collection(X), collection(twice, change))


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_nullable_columns_are_those_in_memory(rows, backend):
    if backend == "pyarrow":
        pytest.importorskip("pyarrow")
    X, shares = rows
    X, y = X.assign(a=X["a"] > 0), shares.idxmax(axis=1)
    expected = SoftmaxClassifier().fit(X, y)
    lazy = collection(X.convert_dtypes(dtype_backend=backend))
    model = SoftmaxClassifier().fit(lazy, collection(y))
    assert_allclose(model.coef_, expected.coef_, rtol=0, atol=1e-4)
    p = expected.predict_proba(lazy).compute()
    assert_array_equal(p, expected.predict_proba(X))


def test_a_partition_without_rows_may_lack_columns(rows):
    X, shares = rows
    y = shares.idxmax(axis=1)
    split = from_parts([X, pd.DataFrame()], X[:0])
    labels = from_parts([y, y[:0]], y[:0])
    model = SoftmaxClassifier().fit(split, labels)
    assert_allclose(model.coef_, SoftmaxClassifier().fit(X, y).coef_, atol=1e-4)
    assert_array_equal(model.predict(split).compute(), model.predict(X))
