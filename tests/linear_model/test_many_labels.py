"""Sparse output, and that nothing of the size of rows times labels is made."""

import math
import tracemalloc
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import (
    EntmaxClassifier,
    LinearClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.decision import CommonCut, LabelCuts
from skprob.linear_model.predict import _threshold_rule
from skprob.metrics import BrierScorer, SupportSizeScorer
from skprob.objective import Description

from .data_sets import KINDS, cut_for, label_sets

N_SAMPLES, N_CLASSES = 4000, 300
# An array of float64 of all rows and labels.
DENSE = 8 * N_SAMPLES * N_CLASSES


@cache
def _many_labels():
    """X (4000, 10) and CSR sets of three or four of 300 labels, all in some row."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_SAMPLES, 10))
    scores = X[:, :3] @ rng.normal(size=(3, N_CLASSES))
    rows = np.arange(N_SAMPLES)
    Y = np.zeros(scores.shape, dtype=np.int8)
    Y[rows[:, None], np.argsort(-scores, axis=1)[:, :3]] = 1
    Y[rows, rows % N_CLASSES] = 1
    return X, sparse.csr_array(Y)


def many_labels():
    """Copies of that X and Y."""
    X, Y = _many_labels()
    return X.copy(), Y.copy()


def peak_of(call):
    """Result of a call, and the peak of the memory that was allocated during it."""
    tracemalloc.start()
    try:
        result = call()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_numbers(kind):
    X, y = KINDS[kind]()
    check_the_same_numbers(SparsemaxClassifier(), X, y)


def test_the_same_numbers_with_other_fits(sample_classifier):
    check_the_same_numbers(sample_classifier, *label_sets())


def check_the_same_numbers(model, X, y):
    model.fit(X, y)
    p, predicted, score = model.predict_proba(X), model.predict(X), model.score(X, y)
    model.set_params(sparse_output=True)
    sparse_p = model.predict_proba(X)
    assert isinstance(sparse_p, sparse.csr_array)
    assert sparse_p.has_canonical_format
    assert sparse_p.nnz == np.count_nonzero(p)
    assert_array_equal(sparse_p.toarray(), p)
    again = model.predict(X)
    if model.target_type_ == "label_set":
        assert isinstance(again, sparse.csr_array)
        assert (again.dtype, again.nnz) == (predicted.dtype, predicted.sum())
        again = again.toarray()
    assert_array_equal(again, predicted)
    assert model.score(X, y) == score
    # Neither zeros nor minus infinity are left out of these.
    assert isinstance(model.decision_function(X), np.ndarray)
    assert isinstance(model.predict_log_proba(X), np.ndarray)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("sparse_output", [False, True])
def test_the_parameter_and_not_y_decides(container, sparse_output):
    X, Y = label_sets()
    reference = SparsemaxClassifier(threshold=0.2).fit(X, Y)
    model = clone(reference).set_params(sparse_output=sparse_output)
    model.fit(X, container(Y))
    assert_array_equal(model.coef_, reference.coef_)
    for answer in (model.predict(X), model.predict_proba(X)):
        assert sparse.issparse(answer) == sparse_output
    exact = (reference.predict(X) == Y).all(axis=1)
    weight = np.arange(60.0)
    assert 0 < exact.mean() < 1
    assert_allclose(model.score(X, container(Y)), exact.mean())
    assert_allclose(
        model.score(X, container(Y), weight), np.average(exact, weights=weight)
    )
    assert accuracy_score(container(Y), model.predict(X)) == exact.mean()


@pytest.mark.parametrize(
    ("dtype", "container", "similarity"),
    [
        (np.float32, np.asarray, "dot"),
        (np.float64, sparse.csr_array, "dot"),
        (np.float64, np.asarray, "cosine"),
    ],
)
def test_blocks_of_rows_make_no_difference(
    rows_of_a_block, dtype, container, similarity
):
    rows_of_a_block(150)
    X, Y = (array[:1000] for array in many_labels())
    X = container(X.astype(dtype))
    model = EntmaxClassifier(
        similarity=similarity, threshold=0.1, max_iter=3, sparse_output=True
    )
    with pytest.warns(match="max_iter"):
        model.fit(X, Y)
    methods = [model.predict_proba, model.predict, model.decision_function]
    in_blocks = [method(X) for method in methods]
    rows_of_a_block(1000)
    at_once = [method(X) for method in methods]
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    for some, all_rows in zip(in_blocks, at_once, strict=True):
        assert some.shape == (1000, N_CLASSES)
        assert some.dtype == all_rows.dtype
        difference = np.abs(some - all_rows)
        assert difference.max() <= tolerance * np.abs(all_rows).max()


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_in_blocks_of_rows_is_the_same(rows_of_a_block, kind):
    X, y = KINDS[kind]()
    model = EntmaxClassifier(tol=1e-8, threshold=cut_for(kind, 0.2))
    at_once = clone(model).fit(X, y)
    rows_of_a_block(7)
    in_blocks = model.fit(X, y)
    assert_allclose(in_blocks.coef_, at_once.coef_, atol=1e-7)
    assert_allclose(in_blocks.objective_, at_once.objective_, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [
        SparsemaxClassifier(label_smoothing=0.01),
        SoftmaxClassifier(),
        SoftmaxClassifier(threshold="example_f1"),
        SparsemaxClassifier(threshold=LabelCuts(scale="auto")),
        LinearClassifier("sparsemax", loss="log", threshold=0),
        LinearClassifier(similarity="cosine", threshold=0),
    ],
    ids=repr,
)
def test_a_fit_makes_nothing_as_large_as_rows_times_labels(
    rows_of_a_block, plan_with, monkeypatch, model
):
    rows_of_a_block(200)
    monkeypatch.setattr(_threshold_rule, "_ENOUGH_ROWS", 1000)
    plan_with(numbers_kept=math.inf, many_raw_predictions=0)
    monkeypatch.setattr(Description, "keeps_raw_predictions", False)
    X, Y = many_labels()
    _, peak = peak_of(lambda: model.set_params(max_iter=2).fit(X, Y))
    assert peak < DENSE


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_solver_for_many_scores_needs_no_array_of_them(
    rows_of_a_block, plan_with, monkeypatch
):
    X, Y = many_labels()
    rows_of_a_block(200)
    plan_with(numbers_kept=math.inf, many_raw_predictions=0)
    monkeypatch.setattr(Description, "keeps_raw_predictions", False)
    model = SparsemaxClassifier(threshold=0.1, max_iter=3)
    newton_cg = clone(model).set_params(solver="newton-cg")
    _, newton = peak_of(lambda: newton_cg.fit(X, Y))
    _, few = peak_of(lambda: model.fit(X, Y))
    assert few < DENSE / 2 < newton
    lbfgs = clone(model).set_params(solver="lbfgs").fit(X, Y)
    assert_array_equal(model.coef_, lbfgs.coef_)


# The test needs any coefficients, not those of a fit that has converged.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [SparsemaxClassifier(threshold=CommonCut()), SoftmaxClassifier(threshold=0.1)],
    ids=repr,
)
def test_sparse_predictions_take_little_memory(rows_of_a_block, model):
    rows_of_a_block(100)
    X, Y = many_labels()
    model.set_params(max_iter=3, sparse_output=True).fit(X[:500], Y[:500])
    model.coef_ *= 10  # Large scores have small supports.
    calls = [model.predict, lambda X: model.score(X, Y)]
    if model.mapping_.traits.has_zeros:
        calls.append(model.predict_proba)
        calls += [lambda X: BrierScorer()(model, X, Y)]
        calls += [lambda X: SupportSizeScorer()(model, X)]
    for call in calls:
        _, peak = peak_of(lambda call=call: call(X))
        assert peak < DENSE / 4
    # While a dense answer alone takes
    _, peak = peak_of(lambda: model.set_params(sparse_output=False).predict_proba(X))
    assert peak >= DENSE


def test_in_a_pipeline_and_a_search():
    X, Y = label_sets()
    model = make_pipeline(StandardScaler(), SparsemaxClassifier(sparse_output=True))
    p = cross_val_predict(model, X, Y, cv=3, method="predict_proba")
    assert sparse.issparse(p)
    model.set_params(sparsemaxclassifier__sparse_output=False)
    expected = cross_val_predict(model, X, Y, cv=3, method="predict_proba")
    assert_array_equal(p.toarray(), expected)
    scores = {}
    for sparse_output in (False, True):
        search = GridSearchCV(
            EntmaxClassifier(sparse_output=sparse_output, threshold=0.3),
            [{"C": [0.1], "alpha": [1]}, {"C": [1], "alpha": [1.5]}],
            scoring={"f1": "f1_micro", "brier": BrierScorer()},
            refit="f1",
            cv=3,
        ).fit(X, sparse.csr_array(Y))
        results = search.cv_results_
        scores[sparse_output] = [results[f"mean_test_{s}"] for s in ("f1", "brier")]
    assert_allclose(scores[True], scores[False], rtol=1e-14)


def test_rows_are_counted_across_blocks(rows_of_a_block):
    rows_of_a_block(100)
    X, Y = (array[:1500] for array in many_labels())
    with pytest.warns(match="max_iter"):
        model = SparsemaxClassifier(threshold=0, max_iter=1).fit(X, Y)
    model.coef_ *= 1e5
    X[1234] = 1e308
    with pytest.raises(ValueError, match="in row 1234 they overflow float64"):
        model.predict(X)
