"""Errors about X name its columns, and have one cause."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from skprob import SoftmaxClassifier
from skprob.attention import AttentionClassifier

from ...versions import since_1_9

X = np.arange(24.0).reshape(8, 3)
y = np.array([0, 1] * 4)
NAMES = ["width", "height", "weight"]
FRAME = pd.DataFrame(X, columns=NAMES)
MODELS = [SoftmaxClassifier(), AttentionClassifier()]


def changed(column, value):
    values = X.astype(object)
    values[:, column] = value
    return values


def error_of(call, *arguments):
    with pytest.raises((TypeError, ValueError)) as caught:
        call(*arguments)
    return str(caught.value)


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.nan, "Input X contains NaN, in column {}. Fill the gaps"),
        (None, "Input X contains NaN, in column {}. Fill the gaps"),
        (-np.inf, "contains infinity or a value too large for {}, in column {}."),
        ("tall", "could not convert string to float: 'tall', in column {}. Encode"),
    ],
)
def test_the_column_of_a_wrong_value(model, value, said):
    values = changed(1, value)
    # pandas 2.2 converts infinity to an integer, with a warning.
    with np.errstate(invalid="ignore"):
        nullable = pd.DataFrame(values, columns=NAMES).convert_dtypes()
    frames = [
        (values, "1"),
        (values.tolist(), "1"),
        (pd.DataFrame(values, columns=NAMES), "'height'"),
        (nullable, "'height'"),
        (pl.DataFrame(dict(zip(NAMES, map(list, values.T), strict=True))), "'height'"),
        (pd.DataFrame(values, columns=[1990, 2000, 2010]), "2000"),
    ]
    if not isinstance(value, str | None):
        frames.append((values.astype(np.float32), "1"))
    for bad, column in frames:
        dtype = "dtype('float32')" if bad is frames[-1][0] else "dtype('float64')"
        names = (dtype, column) if "too large" in said else (column,)
        message = error_of(model.fit, bad, y)
        assert message.startswith("X must be finite numbers, dense")
        assert said.format(*names) in message
        assert message.count("X must") == 1
        assert "HistGradientBoosting" not in message


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_the_column_of_a_sparse_matrix(value):
    model = SoftmaxClassifier().fit(X, y)
    bad = sparse.coo_array(changed(2, value).astype(float))
    for call in (lambda: model.fit(bad, y), lambda: model.predict(bad.tocsr())):
        assert ", in column 2." in error_of(call)


def test_several_columns():
    bad = np.zeros((8, 5))
    bad[0, [0, 1, 3, 4]] = np.nan
    message = error_of(SoftmaxClassifier().fit, bad, y)
    assert "contains NaN, in columns 0, 1, 3 and 1 more. Fill" in message


def test_dates_are_not_numbers():
    bad = FRAME.assign(height=pd.Timestamp("2026-01-01"))
    message = error_of(SoftmaxClassifier().fit, bad, y)
    assert message.endswith("Dates and times are not numbers, in column 'height'.")


DATES = np.arange(24).reshape(8, 3).astype("datetime64[D]")


@pytest.mark.parametrize(
    "dates",
    [
        DATES,
        DATES - DATES[0, 0],
        pd.DataFrame(DATES, np.arange(8.0, 0, -1), ["height", "width", "depth"]),
        pl.DataFrame(DATES, schema=["height", "width", "depth"]),
    ],
    ids=["dates", "durations", "pandas", "polars"],
)
def test_dates_alone_are_not_numbers(dates):
    names = "'height', 'width', 'depth'" if hasattr(dates, "columns") else "0, 1, 2"
    expected = f"Dates and times are not numbers, in columns {names}."
    assert error_of(SoftmaxClassifier().fit, dates, y).endswith(expected)
    assert error_of(SoftmaxClassifier().fit(X, y).predict, dates).endswith(expected)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_other_columns_than_in_fit(model):
    model = model.fit(FRAME, y)
    renamed = error_of(model.predict, FRAME.rename(columns={"width": "breadth"}))
    assert renamed.startswith("The feature names should match")
    assert "- breadth" in renamed
    assert "- width" in renamed
    assert "must be finite" not in renamed
    fewer = error_of(model.fit(X, y).predict, X[:, :2])
    assert fewer.startswith("X has 2 features, but")
    assert "must be finite" not in fewer


# Older versions of scikit-learn accept such a frame.
@since_1_9
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_columns_with_the_same_name(model):
    twice = error_of(model.fit, FRAME.set_axis(["a", "b", "a"], axis=1), y)
    assert twice.startswith("Expected unique column names")


@pytest.mark.parametrize("bad", [X[:, 0], X * 1j], ids=["1-D", "complex"])
def test_numbers_are_not_shown(bad):
    message = error_of(SoftmaxClassifier().fit, bad, y)
    assert len(message) < 300
    assert "\n" not in message
