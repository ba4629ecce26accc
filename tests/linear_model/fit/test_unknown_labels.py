"""Label sets in which some labels are not known: they have no part in the loss."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from skprob import (
    EntmaxClassifier,
    EntmaxClassifierCV,
    LinearClassifier,
    SigmoidClassifier,
)
from skprob.decision import LabelCuts, Sample, StackedLabels, has_empty, known_only
from skprob.mappings import Sigmoid

from ..assertions import assert_refused

X, Y = make_multilabel_classification(120, 6, n_classes=4, random_state=0)
X = (X - X.mean(axis=0)) / X.std(axis=0)
RNG = np.random.default_rng(0)
HIDDEN = RNG.random(Y.shape) < 0.3
HIDDEN[3] = True
GAPS = np.where(HIDDEN, np.nan, Y)


@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg", "lbfgs"])
def test_each_label_is_learnt_from_the_rows_where_it_is_known(solver):
    weight = RNG.uniform(0.5, 2, len(X))
    model = SigmoidClassifier(solver=solver, tol=1e-9, C=0.7, threshold=0.5)
    model.fit(X, GAPS, sample_weight=weight)
    for k in range(4):
        rows = ~HIDDEN[:, k]
        single = LogisticRegression(C=0.7, tol=1e-10, max_iter=1000)
        single.fit(X[rows], Y[rows, k], sample_weight=weight[rows])
        assert_allclose(model.coef_[k], single.coef_[0], atol=1e-6)
        assert_allclose(model.intercept_[k], single.intercept_[0], atol=1e-6)


@pytest.mark.parametrize("alpha", [1.0, 1.5])
@pytest.mark.parametrize(
    "container",
    [
        sparse.csr_array,
        pd.DataFrame,
        np.float32,
        lambda y: pd.DataFrame(y).astype("Int64"),
    ],
)
def test_however_the_labels_are_put(container, alpha):
    expected = SigmoidClassifier(alpha).fit(X, GAPS)
    model = SigmoidClassifier(alpha).fit(X, container(GAPS))
    assert_allclose(model.coef_, expected.coef_, atol=1e-12)
    assert_array_equal(model.predict(X), expected.predict(X))


def test_entries_that_are_not_available_and_not_known():
    available = RNG.random(Y.shape) < 0.8
    available[Y == 1] = True
    available[:, 0] = True
    both = SigmoidClassifier(threshold=0.5).fit(X, GAPS, available=available)
    known = available & ~HIDDEN
    known[3] = True
    weight = (np.arange(len(X)) != 3).astype(float)
    one = SigmoidClassifier(threshold=0.5)
    one.fit(X, np.nan_to_num(GAPS), weight, available=known)
    assert_allclose(both.coef_, one.coef_, atol=1e-8)


def test_label_smoothing_of_the_known_labels():
    smooth = SigmoidClassifier(label_smoothing=0.2, threshold=0.5, tol=1e-9)
    smooth.fit(X, GAPS)
    p, target = smooth.predict_proba(X), 0.8 * Y + 0.1
    residual = np.where(HIDDEN, 0, p - target)
    total = len(X) - 1
    assert_allclose(residual.sum(axis=0) / total, 0, atol=1e-8)
    assert_allclose((residual.T @ X + smooth.coef_ / smooth.C_) / total, 0, atol=1e-8)


@pytest.mark.parametrize("threshold", ["auto", "cv", LabelCuts("micro"), 0.5])
def test_label_sets_are_about_those_of_complete_labels(threshold):
    x, y = make_multilabel_classification(800, 6, n_classes=4, random_state=0)
    partial = np.where(np.random.default_rng(0).random(y.shape) < 0.3, np.nan, y)
    complete, left_out, absent = (
        SigmoidClassifier(threshold=threshold).fit(x, labels).predict(x)
        for labels in (y, partial, np.nan_to_num(partial))
    )
    scores = [f1_score(y, sets, average="micro") for sets in (complete, left_out)]
    assert scores[1] > scores[0] - 0.02
    if threshold == 0.5:
        assert f1_score(y, absent, average="micro") < scores[0] - 0.1


def test_stacked_labels_correct_by_the_known_labels():
    """The moments have the expectation of complete labels."""
    rng = np.random.default_rng(1)
    first = rng.random(4000)
    labels = np.column_stack([first > 0.5, first <= 0.5]).astype(int)
    p = np.column_stack([first, np.full(4000, 0.5)])
    about = {"polytope": "cube", "may_be_empty": False, "has_none": False}
    weight = np.ones(4000)
    full = StackedLabels().fit_sample(
        Sample([p], sparse.csr_array(labels), weight, sizes=None, **about)
    )
    known = rng.random(p.shape) < 0.7
    some = Sample([p], sparse.csr_array(labels * known), weight, sizes=None, **about)
    partial = StackedLabels().fit_sample(some._replace(known=known))
    assert_allclose(partial.coef_, full.coef_, atol=0.05)
    wrong = StackedLabels().fit_sample(some)
    assert np.abs(wrong.coef_ - full.coef_).max() > 0.2


def test_stacked_labels_where_a_label_is_never_known():
    """The other labels are corrected as without it."""
    rng = np.random.default_rng(1)
    first = rng.random(400)
    labels = np.column_stack([first > 0.5, first <= 0.5, first > 2]).astype(int)
    p = np.column_stack([first, np.full(400, 0.5), np.full(400, 0.3)])
    known = np.ones(p.shape, dtype=bool)
    known[:, 2] = False
    about = {"polytope": "cube", "may_be_empty": False, "has_none": False}
    sample = Sample([p], sparse.csr_array(labels), np.ones(400), sizes=None, **about)
    partial = StackedLabels().fit_sample(sample._replace(known=known))
    two = sample._replace(blocks=[p[:, :2]], labels=sparse.csr_array(labels[:, :2]))
    expected = StackedLabels().fit_sample(two)
    assert_allclose(partial.coef_[:2, :2], expected.coef_, atol=0.05)
    assert np.abs(partial.coef_[:2, 1]).max() > 0.5
    assert np.isfinite(partial.coef_).all()


def test_rows_that_only_seem_to_be_empty():
    rng = np.random.default_rng(0)
    labels = sparse.csr_array(np.eye(5)[rng.integers(5, size=300)])
    known = rng.random((300, 5)) < 0.7
    hidden = sparse.csr_array(labels.toarray() * known)
    assert has_empty(hidden) and not has_empty(hidden, known)
    some_empty = hidden.toarray()
    some_empty[:100] = 0
    assert has_empty(sparse.csr_array(some_empty), known)


def test_blocks_of_known_entries_can_be_read_twice():
    blocks = known_only([np.ones((2, 2)), np.ones((1, 2))], HIDDEN[:3, :2])
    for _ in range(2):
        assert_array_equal(np.vstack(list(blocks)), HIDDEN[:3, :2])


@pytest.mark.parametrize(
    "model",
    [
        EntmaxClassifier(),
        EntmaxClassifierCV(),
        LinearClassifier("softmax"),
        SigmoidClassifier(budget=(1, 2)),
        LinearClassifier(Sigmoid(budget=(0, 2))),
    ],
    ids=str,
)
def test_other_mappings_refuse(model):
    has_budget = "budget" in repr(model)
    advice = "set budget=None" if has_budget else "take SigmoidClassifier"
    message = f"y contains NaN in .* entries.* without a budget: {advice}"
    assert_refused(message, model.fit, X, GAPS)


def test_candidates_that_are_not_known_are_marked():
    """No other mapping leaves them out."""
    message = r"As candidates, y must be 0 or 1; .* NaN in .* with 1\."
    for model in (
        EntmaxClassifier(target_type="candidates"),
        LinearClassifier(Sigmoid(), target_type="candidates"),
    ):
        assert_refused(message, model.fit, X, GAPS)


def test_other_targets_refuse():
    model = SigmoidClassifier()
    for y in (GAPS[:, 0], GAPS[:, :1], GAPS[:, 0].tolist()):
        assert_refused("y must be.*NaN", model.fit, X, y)
    assert_refused("y must be.*distributions", model.fit, X, GAPS / 2)
    fitted = SigmoidClassifier(threshold=0.5).fit(X, GAPS)
    assert_refused("y must be.*NaN", fitted.set_threshold, "cv", X, GAPS)


def test_a_label_that_is_known_in_no_row_is_named():
    labels = GAPS.copy()
    labels[:, 2] = np.nan  # Nothing is known in row 3, which counts as a row of zeros.
    with pytest.warns(UserWarning, match=r"1 of 4 labels .*\[2\].*nothing") as record:
        SigmoidClassifier().fit(X, labels)
    assert len(record) == 1
    labels[0, 2] = 0  # One negative row.
    with pytest.warns(UserWarning, match=r"1 of 4 labels are in no row .*\[2\]"):
        SigmoidClassifier().fit(X, labels)


def test_nothing_is_known():
    message = "must have a positive, finite sum|y must have a label"
    assert_refused(message, SigmoidClassifier().fit, X, np.full(Y.shape, np.nan))
