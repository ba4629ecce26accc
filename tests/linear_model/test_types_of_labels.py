"""Labels in nullable columns of pandas and in NumPy's type of strings."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LogisticRegression

from skprob import EntmaxClassifierCV, SigmoidClassifier, SoftmaxClassifier
from skprob.attention import AttentionClassifier
from skprob.decision import ConformalSets
from skprob.metrics import set_coverage

X, y = load_iris(return_X_y=True)
y[::7] = (y[::7] + 1) % 3  # Not separable.
#: Each with the plain labels. Above 2^53 neighbours are one number in float64.
LABELS = {
    **{
        f"above 2^53 as {dtype}": (y + 2**62, pd.Series(y + 2**62, dtype=dtype))
        for dtype in ("Int64", "int64[pyarrow]")
    },
    **{
        dtype: (y > 0, pd.Series(y > 0, dtype=dtype))
        for dtype in ("boolean", "bool[pyarrow]")
    },
    "StringDType": (
        np.array(["b", "a", "c"], object)[y],
        np.array(["b", "a", "c"], dtype=np.dtypes.StringDType())[y],
    ),
}
SEARCH = EntmaxClassifierCV(alphas=[1], Cs=[1.0], cv=2, tol=1e-8)
RIVAL = LogisticRegression(tol=1e-8, max_iter=10_000)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        *((SoftmaxClassifier(tol=1e-8), name) for name in LABELS),
        # The classifier inside takes numbers of classes for labels, if it is another.
        *((ConformalSets(RIVAL, cv=2), name) for name in LABELS),
        (ConformalSets(SoftmaxClassifier(tol=1e-8), cv=2), "above 2^53 as Int64"),
        (ConformalSets(SoftmaxClassifier(tol=1e-8), cv=2), "StringDType"),
        (SEARCH, "above 2^53 as int64[pyarrow]"),
        (SEARCH, "boolean"),
    ],
    ids=str,
)
def test_the_classes_are_those_of_plain_labels(model, name):
    plain, labels = LABELS[name]
    expected = clone(RIVAL).fit(X, plain)
    model.fit(X, labels)
    assert model.classes_.dtype == expected.classes_.dtype
    assert_array_equal(model.classes_, expected.classes_)
    assert_array_equal(model.predict(X), expected.predict(X))
    assert model.score(X, labels) == expected.score(X, plain)


def test_indicators_of_objects_are_numbers():
    """pandas has objects for columns of several types, categories and gaps."""
    sets = pd.DataFrame(np.eye(3)[y], columns=list("abc"))
    plain = SoftmaxClassifier().fit(X, sets)
    for typed in sets.astype("category"), sets.astype(bool).astype(object):
        assert_array_equal(SoftmaxClassifier().fit(X, typed).coef_, plain.coef_)
        assert plain.score(X, typed) == plain.score(X, sets)
    gaps = sets.copy()
    gaps.iloc[::5] = np.nan
    objects = gaps.astype(object).where(gaps.notna(), None)
    models = [SigmoidClassifier().fit(X, target) for target in (gaps, objects)]
    assert_array_equal(models[0].coef_, models[1].coef_)
    with pytest.raises(ValueError, match="y contains NaN in 90 entries"):
        SoftmaxClassifier().fit(X, objects)
    with pytest.raises(ValueError, match=r"y must be labels.* NaN"):
        AttentionClassifier().fit(X, objects)


@pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]"])
def test_a_frame_with_one_column(dtype):
    frame = pd.DataFrame({"y": pd.Series(y + 2**62, dtype=dtype)})
    for model in SoftmaxClassifier(), ConformalSets(SoftmaxClassifier()):
        with pytest.warns(DataConversionWarning):
            model.fit(X, frame)
        assert_array_equal(model.classes_, np.arange(3) + 2**62)


@pytest.mark.parametrize("name", LABELS)
def test_attention_and_metrics(name):
    plain, labels = LABELS[name]
    model = AttentionClassifier().fit(X, labels)
    expected = AttentionClassifier().fit(X, np.unique(plain, return_inverse=True)[1])
    assert_array_equal(model.classes_, np.unique(plain))
    assert_allclose(model.predict_proba(X), expected.predict_proba(X))
    sets = model.predict_proba(X) > 0.3
    columns = np.searchsorted(np.unique(plain), plain)
    coverage = set_coverage(labels, sets, classes=model.classes_)
    assert coverage == pytest.approx(sets[range(len(y)), columns].mean())


@pytest.mark.parametrize("dtype", ["Int64", "boolean"])
def test_missing_labels_are_refused(dtype):
    labels = pd.Series(y > 0, dtype="boolean").astype(dtype).where(y < 2)
    for model in SoftmaxClassifier(), ConformalSets(SoftmaxClassifier()):
        with pytest.raises(ValueError, match=r"y must be labels.*Input y contains NaN"):
            model.fit(X, labels)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT], ids=str)
@pytest.mark.parametrize("has_text", [True, False])
def test_rows_without_a_label_are_named(missing, has_text):
    labels = y.astype(str if has_text else int).astype(object)
    labels[[7, 9]] = missing
    for data in labels, labels[:, None], pd.Series(labels, dtype=object):
        with pytest.raises(ValueError, match="in row 7 and 1 other row"):
            SoftmaxClassifier().fit(X, data)


def test_text_may_be_the_word_none():
    labels = np.array(["None", "nan", "<NA>"], dtype=object)[y]
    assert set(SoftmaxClassifier().fit(X, labels).classes_) == set(labels)


def test_indicators_of_half_precision():
    sets = np.eye(3)[y]
    plain = SigmoidClassifier().fit(X, sets)
    half = SigmoidClassifier().fit(X, sets.astype(np.float16))
    assert_array_equal(half.coef_, plain.coef_)
    assert half.score(X, sets.astype(np.float16)) == plain.score(X, sets)
