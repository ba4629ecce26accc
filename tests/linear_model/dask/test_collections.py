"""Dask collections of every kind, on Dask's own scheduler: no cluster is needed."""

import pickle
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from skprob import (
    AMSoftmaxClassifier,
    EntmaxClassifier,
    EntmaxClassifierCV,
    LinearClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
)
from skprob.decision import TopK

dask = pytest.importorskip("dask", reason="needs the extra skprob[dask]")
da = pytest.importorskip("dask.array", reason="needs the extra skprob[dask]")
dd = pytest.importorskip("dask.dataframe", reason="needs the extra skprob[dask]")
pd = pytest.importorskip("pandas")

N_ROWS, N_FEATURES, N_CLASSES = 240, 5, 3


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, N_FEATURES)) * [1, 2, 3, 4, 5] + 1
    W = rng.standard_normal((N_CLASSES, N_FEATURES))
    scores = X @ W.T + rng.gumbel(size=(N_ROWS, N_CLASSES))
    return X, scores, rng.uniform(0.5, 2, N_ROWS)


def targets(scores):
    """One y for each kind of target."""
    y = scores.argmax(axis=1)
    sets = (scores > np.sort(scores, axis=1)[:, [1]] - 1).astype(int)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares = shares / shares.sum(axis=1, keepdims=True)
    # Rows of zeros and ones first: a partition alone looks like label sets.
    shares[:60] = np.eye(N_CLASSES)[y[:60]]
    return {
        "class": y,
        "names": np.array(["c", "a", "b"])[y],
        "sets": sets,
        "q": shares,
    }


def unknown(array):
    """A Dask array whose chunks have unknown sizes."""
    array = da.from_array(array, chunks=(60, -1)[: array.ndim])
    return array.map_blocks(np.asarray, chunks=((np.nan,) * 4, *array.chunks[1:]))


def frame(array):
    columns = [f"x{i}" for i in range(array.shape[1])]
    return dd.from_pandas(pd.DataFrame(array, columns=columns), npartitions=4)


def sparse_blocks(array):
    return da.from_array(array, chunks=(60, -1)).map_blocks(
        sparse.csr_array, meta=sparse.csr_array((0, 0))
    )


def assert_same_model(fitted, expected, atol=1e-8):
    assert_allclose(fitted.coef_, expected.coef_, rtol=0, atol=atol)
    assert_allclose(fitted.intercept_, expected.intercept_, rtol=0, atol=atol)
    assert_array_equal(fitted.classes_, expected.classes_)
    assert fitted.coef_.dtype == expected.coef_.dtype
    assert type(fitted.coef_) is np.ndarray


def test_every_classifier_is_that_of_the_rows_in_memory(linear_classifier, rows):
    X, scores, weight = rows
    y, model = scores.argmax(axis=1), clone(linear_classifier)
    expected = clone(model).fit(X, y, weight)
    split = [da.from_array(each, chunks=100) for each in (X, y, weight)]
    fitted = clone(model).fit(*split)
    assert fitted.n_iter_ == expected.n_iter_
    assert_same_model(fitted, expected, atol=1e-6)
    assert_allclose(fitted.score(*split), expected.score(X, y, weight))
    for method in ("predict", "predict_proba", "decision_function"):
        lazy = getattr(fitted, method)(split[0])
        assert isinstance(lazy, da.Array) and lazy.numblocks[0] == 3
        computed, in_memory = lazy.compute(), getattr(fitted, method)(X)
        assert_allclose(computed, in_memory, rtol=1e-13)
        assert (lazy.dtype, lazy.shape) == (in_memory.dtype, in_memory.shape)


@pytest.mark.parametrize(
    ("container", "kind"),
    [
        *((da.from_array, kind) for kind in ("class", "names", "sets", "q")),
        *((unknown, "sets"), (frame, "names"), (frame, "q"), (sparse_blocks, "class")),
    ],
)
def test_every_kind_of_target_and_collection(container, kind, rows):
    X, scores, weight = rows
    y = targets(scores)[kind]
    threshold = 0.4 if kind == "sets" else "auto"
    model = SoftmaxClassifier(tol=1e-10, class_weight="balanced", threshold=threshold)
    expected = clone(model).fit(X, y, weight)
    if container is da.from_array:
        # Chunks across columns, and others of rows.
        given = (
            da.from_array(X, chunks=(50, 2)),
            da.from_array(y, chunks=(70, -1)[: y.ndim]),
        )
    else:
        given = container(X), unknown(y)
    weights = da.from_array(weight, chunks=60) if container is da.from_array else None
    weights = unknown(weight) if weights is None else weights
    fitted = clone(model).fit(*given, weights)
    assert_same_model(fitted, expected)
    assert fitted.target_type_ == expected.target_type_
    assert fitted.n_features_in_ == N_FEATURES
    assert hasattr(fitted, "feature_names_in_") == (container is frame)
    assert_allclose(
        fitted.score(*given, weights), expected.score(X, y, weight), rtol=1e-12
    )
    predicted = fitted.predict(given[0])
    assert_array_equal(predicted.compute(), expected.predict(X))
    served = pickle.loads(pickle.dumps(fitted))
    if container is frame:
        X = pd.DataFrame(X, columns=fitted.feature_names_in_)
    assert_array_equal(served.predict(X), expected.predict(np.asarray(X)))


def test_series_of_strings_and_columns_with_names(rows):
    X, scores, _ = rows
    table = pd.DataFrame(X, columns=list("abcde"))
    table["y"] = np.array(["no", "yes"])[(scores[:, 0] > 0).astype(int)]
    split = dd.from_pandas(table, npartitions=3)
    fitted = SoftmaxClassifier(tol=1e-10).fit(split[list("abcde")], split["y"])
    expected = SoftmaxClassifier(tol=1e-10).fit(table[list("abcde")], table["y"])
    assert_same_model(fitted, expected)
    assert fitted.classes_.tolist() == ["no", "yes"]
    sets = dd.from_pandas(
        pd.DataFrame(targets(scores)["sets"], columns=["u", "v", "w"]), npartitions=3
    )
    fitted = SigmoidClassifier(threshold=0.5).fit(split[list("abcde")], sets)
    assert fitted.classes_.tolist() == ["u", "v", "w"]
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(split[list("edcba")])
    with pytest.raises(ValueError, match="could not convert"):
        fitted.fit(split, sets)


def test_scores_leave_out_partitions_without_weight(rows):
    X, scores, weight = rows
    y, weight = scores.argmax(axis=1), np.where(np.arange(N_ROWS) < 120, 0, weight)
    model = SoftmaxClassifier().fit(X, y)
    split = [da.from_array(each, chunks=60) for each in (X, y, weight)]
    hit = model.predict(X) == y
    assert model.score(*split) == pytest.approx(np.average(hit, weights=weight))
    with pytest.raises(ValueError, match="sample_weight must have a positive sum"):
        model.score(*split[:2], 0 * split[2])
    with pytest.raises(ValueError, match="expecting 5 features"):
        model.score(split[0][:, :4], split[1])


def test_fits_with_options_are_those_in_memory(rows):
    X, scores, weight = rows
    y = scores.argmax(axis=1)
    options = [
        AMSoftmaxClassifier(tol=1e-7),
        LinearClassifier(label_smoothing=0.2, margin=0.3, class_weight={1: 3.0}),
        EntmaxClassifier(fit_intercept=False, temperature=0.5),
        LinearClassifier(
            lambda scores: np.exp(scores) / np.exp(scores).sum(1)[:, None]
        ),
    ]
    for model in options:
        expected = clone(model).fit(X, y, weight)
        split = [da.from_array(each, chunks=100) for each in (X, y, weight)]
        assert_same_model(clone(model).fit(*split), expected, atol=1e-5)
    model = SoftmaxClassifier(warm_start=True).fit(*split)
    assert model.fit(*split).n_iter_ <= 1
    single = clone(model).fit(split[0].astype("f4"), y)
    assert (
        single.coef_.dtype == single.predict_proba(split[0].astype("f4")).dtype == "f4"
    )


def test_partitions_without_rows_or_labels_or_with_one_class(rows):
    X, scores, weight = rows
    order = np.argsort(scores.argmax(axis=1), kind="stable")
    X, scores, weight = X[order], scores[order], weight[order]
    chunks = ((0, 50, 0, 190),)
    y = targets(scores)
    sets = y["sets"].copy()
    sets[:60] = 0
    model = SoftmaxClassifier(tol=1e-10, none_class=False)
    for labels in (y["class"], y["q"]):
        parts = (da.from_array(X, chunks=(*chunks, -1)), labels)
        assert_same_model(clone(model).fit(*parts), clone(model).fit(X, labels))
        assert_array_equal(model.fit(*parts).predict(parts[0]), model.predict(X))
    model.set_params(threshold=0.5)
    with pytest.warns(UserWarning, match="60 of 240 rows have no label") as record:
        fitted = clone(model).fit(parts[0], sets)
    assert record[0].filename == __file__
    with pytest.warns(UserWarning, match="60 of 240 rows have no label"):
        assert_same_model(fitted, clone(model).fit(X, sets))
    sets[:, 1] = 0
    sets[60:, 0] = 1
    with pytest.warns(UserWarning, match="1 of 3 labels are in no row"):
        with pytest.warns(UserWarning, match="60 of 240"):
            clone(model).fit(parts[0], sets)


def _with_index_beyond(block):
    """The rows as a CSR array, with the number of a column that they do not have."""
    rows = sparse.csr_array(block)
    rows.indices[3:4] = block.shape[1]
    return rows


def bad_input(X, scores, weight):
    y, A = scores.argmax(axis=1), da.from_array
    split = A(X, chunks=(60, -1)), A(y, chunks=60)
    wrong = X.copy()
    wrong[100, 2] = np.inf
    objects = dd.from_pandas(pd.DataFrame({"a": X[:, 0], "b": ["x"] * N_ROWS}), 4)
    yield (X, split[1]), "X must be a Dask collection where y"
    yield (split[0], y[:-1]), "y must have one entry for each of the 240 rows"
    yield (split[0], A(y[:-1], chunks=60)), "y must have one entry for each of the 240"
    yield (unknown(X), y), "y must be a Dask collection with the partitions of X"
    yield (unknown(X), A(y, chunks=100)), "X and y must have the same partitions; got 4"
    longer = unknown(y).map_blocks(lambda block: np.append(block, 0), dtype=int)
    yield (unknown(X), longer), "y must have one entry for each of the 60 rows"
    yield (A(y, chunks=60), split[1]), "Expected 2D array, got 1D"
    columns = unknown(X).map_blocks(np.copy, chunks=((60,) * 4, (np.nan,)))
    yield (columns, split[1]), "X must have a known number of columns"
    yield (objects, split[1]), "could not convert string"
    yield (A(wrong, chunks=60), split[1]), "X must be finite numbers.*infinity"
    yield (split[0], A(np.where(y > 0, y, np.nan), chunks=60)), "y .*NaN.*partition"
    yield (split[0], A(np.zeros(N_ROWS, int), chunks=60)), "only one class: 0"
    yield (split[0], A(y + 0.5, chunks=60)), "y must be labels.*row 0.*partition"
    halves = A(np.full((N_ROWS, 2), 0.4), chunks=(60, -1))
    yield (split[0], halves), "row 0 has sum 0.8.*partition"
    yield (*split, A(-weight, chunks=60)), "sample_weight must be finite, non-neg"
    yield (*split, A(0 * weight, chunks=60)), "must have a positive, finite sum"
    yield (split[0][:0], split[1][:0]), "Found array with 0 sample"
    frames = frame(X), dd.from_pandas(pd.Series(y), npartitions=4)
    yield (frames[0], frames[1].repartition(divisions=(0, 90, 239))), "same divisions"
    mixed = A(y.astype(object), chunks=60).map_blocks(_strings_first, dtype=object)
    yield (split[0], mixed), "some partitions have strings"
    narrow = split[0].astype("f4").map_blocks(lambda b: b.astype("f8"), dtype="f4")
    yield (narrow, split[1]), "5 columns of float32 in all partitions"
    dates = A(np.zeros((N_ROWS, 2), "datetime64[D]"), chunks=(60, -1))
    yield (dates, split[1]), "X must be finite numbers.*Dates and times are not"
    durations = A(np.ones(N_ROWS, "timedelta64[s]"), chunks=60)
    yield (*split, durations), "sample_weight must .*Dates and times are not numbers"
    beyond = split[0].map_blocks(_with_index_beyond, meta=sparse.csr_array((0, 0)))
    yield (beyond, split[1]), "X must .*indices must be from 0 to 4; got .* 0 to 5"
    for position, name in enumerate(["X", "y", "sample_weight"]):
        given = [*split, A(weight, chunks=60)]
        value = (X[7, 0], y[7], weight[7])[position]
        given[position] = da.ma.masked_equal(given[position], value)
        yield given, f"{name} must be .* Masked entries were found"
    other = dask.delayed(X), dask.delayed(y)
    yield other, "X must be a Dask array, DataFrame or Series.*got Delayed"
    sets = (scores > 0).astype(int)
    lazy_sets = A(sets, chunks=(60, -1))
    yield (split[0], lazy_sets), "threshold must be a number, one for each label"
    gaps = A(np.where(scores > 1, np.nan, sets), chunks=(60, -1))
    yield (split[0], gaps), "contains NaN in .* need X and y in memory"


def _strings_first(block, block_info=None):
    first = block_info and block_info[0]["chunk-location"][0] == 0
    return np.array(["a"] * len(block), dtype=object) if first else block


def test_bad_input_is_refused_in_words(rows):
    for given, message in bad_input(*rows):
        model = SoftmaxClassifier()
        with pytest.raises(ValueError, match=message):
            model.fit(*given)
        assert not hasattr(model, "coef_")
        assert not hasattr(model, "n_features_in_")


def test_calls_for_arrays_in_memory_are_refused(rows):
    X, scores, _ = rows
    y = scores.argmax(axis=1)
    split, lazy_y = da.from_array(X, chunks=60), da.from_array(y, chunks=60)
    with pytest.raises(ValueError, match="X must be in memory here"):
        EntmaxClassifierCV().fit(split, lazy_y)
    with pytest.raises(ValueError, match="X must be a Dask collection where y"):
        SoftmaxClassifier().fit(X, lazy_y)
    with pytest.raises(NotFittedError):
        SoftmaxClassifier().predict(split)
    with pytest.raises(ValueError, match="got distributions"):
        shares = da.from_array(np.full((len(X), 2), 0.5), chunks=60)
        SigmoidClassifier(threshold=0.5).fit(split, shares)
    sets = (scores > 0).astype(int)
    with pytest.raises(ValueError, match="'candidates' needs X and y in memory"):
        lazy_sets = da.from_array(sets | [1, 0, 0], chunks=(60, -1))
        SoftmaxClassifier(target_type="candidates").fit(split, lazy_sets)
    model = SoftmaxClassifier(threshold="support").fit(
        split[:100], sets[:100] | [1, 0, 0]
    )
    with pytest.raises(ValueError, match="X must be in memory here"):
        model.set_threshold("auto", split, sets)
    model.set_threshold("auto", X, sets)
    assert_array_equal(model.predict(split), model.predict(X))
    model = SoftmaxClassifier(threshold=TopK(2)).fit(split, lazy_sets)
    assert_array_equal(model.predict(split), TopK(2).predict(model.predict_proba(X)))
    with pytest.raises(ValueError, match="expecting 5 features"):
        model.predict(split[:, :4])
    with pytest.raises(ValueError, match=rf"class_names .* shape \({len(X)},\)"):
        SoftmaxClassifier(class_names=["u", "v", "w"]).fit(split, lazy_y)


def test_sparse_predictions_are_lazy_too(rows):
    X, scores, _ = rows
    model = EntmaxClassifier(sparse_output=True).fit(X, scores.argmax(axis=1))
    lazy = model.predict_proba(da.from_array(X, chunks=(100, 2)))
    computed = sparse.vstack([block.compute() for block in lazy.blocks.ravel()])
    assert_array_equal(computed.toarray(), model.predict_proba(X).toarray())


def test_gaps_are_scored_in_memory_only(rows):
    """A partition of which nothing is known would count as its rows do."""
    X, scores, _ = rows
    sets = (scores > 0).astype(float)
    model = SigmoidClassifier(threshold=0.5).fit(X, sets)
    sets[:60] = np.nan
    lazy = da.from_array(X, chunks=60), da.from_array(sets, chunks=(60, -1))
    with pytest.raises(ValueError, match=r"contains NaN in .* need X and y in memory"):
        model.score(*lazy)
    assert model.score(X, sets) == model.score(X[60:], sets[60:])


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_huge_value_that_hides_a_feature_is_named(container):
    """A fit that such a value ended far above the minimum said nothing."""
    X, y = load_wine(return_X_y=True)
    X[136, 0] = 1e15
    in_memory = LinearClassifier(C=100)
    number = r"[0-9.]+(e-[0-9]+)?"
    match = (
        rf"the objective, {number}, can fall by {number} along feature 0\. Its values"
    )
    with pytest.warns(ConvergenceWarning, match=match) as expected:
        in_memory.fit(container(X), y)
    X, y = da.from_array(X, chunks=(50, 13)), da.from_array(y, chunks=50)
    model = LinearClassifier(C=100)
    with pytest.warns(ConvergenceWarning, match=match) as record:
        model.fit(X.map_blocks(container), y)
    assert model.objective_ == pytest.approx(in_memory.objective_, rel=1e-3)
    falls = [
        float(re.search(r"can fall by ([0-9.e-]+) ", str(warning[0].message))[1])
        for warning in (expected, record)
    ]
    assert falls[1] == pytest.approx(falls[0], rel=0.05)


def test_the_column_of_a_dask_frame_with_a_huge_value_is_named():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X.loc[136, "alcohol"] = 1e15
    X, y = dd.from_pandas(X, npartitions=3), dd.from_pandas(y, npartitions=3)
    with pytest.warns(ConvergenceWarning, match="along feature 'alcohol'"):
        LinearClassifier(C=100).fit(X, y)
