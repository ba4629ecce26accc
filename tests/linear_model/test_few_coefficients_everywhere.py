"""Penalties that make coefficients zero, with every kind of data, target and use."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logsumexp, softmax
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.pipeline import make_pipeline

from skprob import (
    EntmaxClassifier,
    LinearClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
    SparseSoftmaxClassifier,
)

from ..versions import needs_callbacks

N_ROWS, N_FEATURES, N_CLASSES = 200, 12, 3
SELECT = "coefficients", "features"


def rows(seed=0):
    """Features of which four matter, and scores."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, N_FEATURES)) * np.linspace(0.5, 2, N_FEATURES) + 1
    X[rng.random(X.shape) < 0.3] = 0
    scores = X[:, :4] @ rng.normal(size=(4, N_CLASSES))
    return X, scores + rng.gumbel(size=scores.shape)


X, SCORES = rows()
Y = SCORES.argmax(axis=1)
SETS = (SCORES > np.median(SCORES)).astype(int)
SETS[np.arange(N_ROWS), Y] = 1
SHARES = softmax(SCORES, axis=1)
WEIGHT = np.random.default_rng(1).uniform(0.5, 2, N_ROWS)


def model_of(kind=SoftmaxClassifier, select="coefficients", **given):
    about = {"C": 0.1, "l1_ratio": 0.8, "tol": 1e-8, "max_iter": 500}
    return kind(select=select, **{**about, **given})


def assert_sparse(model):
    """Some features are used, and some are not."""
    used = model.coef_.any(axis=0)
    assert 0 < used.sum() < N_FEATURES


@pytest.mark.parametrize(
    ("kind", "select"),
    [(SoftmaxClassifier, "coefficients"), (SparsemaxClassifier, "features")],
)
def test_containers(kind, select, tmp_path):
    expected = model_of(kind, select).fit(X, Y, WEIGHT)
    assert_sparse(expected)
    mapped = np.memmap(tmp_path / "X", dtype=float, mode="w+", shape=X.shape)
    mapped[:] = X
    mapped.flush()
    mapped = np.memmap(tmp_path / "X", dtype=float, mode="r", shape=X.shape)
    containers = {
        "csr": sparse.csr_array(X),
        "csc": sparse.csc_matrix(X),
        "memmap": mapped,
        "Fortran": np.asfortranarray(X),
    }
    for name, container in containers.items():
        model = clone(expected).fit(container, Y, WEIGHT)
        assert_allclose(model.coef_, expected.coef_, atol=1e-6, err_msg=name)
        assert_array_equal(model.coef_ == 0, expected.coef_ == 0, err_msg=name)
    single = clone(expected).set_params(tol=1e-4)
    single.fit(X.astype(np.float32), Y, WEIGHT.astype(np.float32))
    assert single.coef_.dtype == np.float32
    assert_allclose(single.coef_, expected.coef_, atol=2e-3)
    assert_sparse(single)


@pytest.mark.parametrize(
    ("size", "select"), [("few columns", "coefficients"), ("many columns", "features")]
)
def test_blocks_of_rows(rows_of_a_block, size, select):
    """Cut into blocks, with a working set where there are many columns."""
    features, C = X, 0.1
    if size == "many columns":
        noise = np.random.default_rng(2).normal(size=(N_ROWS, 600))
        features, C = np.column_stack([X, noise]), 0.05
    expected = model_of(select=select, C=C).fit(features, Y, WEIGHT)
    rows_of_a_block(70)
    for container in (features, sparse.csr_array(features)):
        model = clone(expected).fit(container, Y, WEIGHT)
        assert_allclose(model.coef_, expected.coef_, atol=1e-6)
        assert_array_equal(model.coef_ == 0, expected.coef_ == 0)


@pytest.mark.parametrize(
    ("select", "n_noise"), [("coefficients", 300), ("features", 0)]
)
def test_dask(select, n_noise):
    da = pytest.importorskip("dask.array", reason="needs the extra skprob[dask]")
    noise = np.random.default_rng(2).normal(size=(N_ROWS, n_noise))
    features = np.column_stack([X, noise])
    expected = model_of(SparsemaxClassifier, select).fit(features, Y, WEIGHT)
    chunks = (70, -1)
    given = [
        da.from_array(features, chunks=chunks),
        *(da.from_array(a, chunks=70) for a in (Y, WEIGHT)),
    ]
    model = clone(expected).fit(*given)
    assert_allclose(model.coef_, expected.coef_, atol=1e-6)
    assert_array_equal(model.coef_ == 0, expected.coef_ == 0)
    assert model.objective_ == pytest.approx(expected.objective_, abs=1e-10)


@pytest.mark.parametrize(
    ("select", "n_noise"), [("coefficients", 0), ("features", 300)]
)
def test_array_api(select, n_noise):
    xp = pytest.importorskip("array_api_strict")
    noise = np.random.default_rng(2).normal(size=(N_ROWS, n_noise))
    features = np.column_stack([X, noise])
    expected = model_of(select=select).fit(features, Y)
    with config_context(array_api_dispatch=True):
        model = clone(expected).fit(xp.asarray(features), xp.asarray(Y))
        assert isinstance(model.coef_, type(xp.asarray(features)))
        proba = np.asarray(model.predict_proba(xp.asarray(features)))
    coef = np.asarray(model.coef_)
    assert_allclose(coef, expected.coef_, atol=1e-6)
    assert_array_equal(coef == 0, expected.coef_ == 0)
    assert_allclose(proba, expected.predict_proba(features), atol=1e-6)


def smallest_subgradient(model, features, residual, weight):
    """Smallest subgradient of the objective with a lasso and a ridge on entries."""
    share = weight / weight.sum()
    strength = 1 / (model.C_ * weight.sum())
    lasso, ridge = model.l1_ratio * strength, (1 - model.l1_ratio) * strength
    W = model.coef_
    smooth = (share[:, None] * residual).T @ features + ridge * W
    on = abs(smooth + lasso * np.sign(W))
    violation = np.where(W != 0, on, np.maximum(abs(smooth) - lasso, 0)).max() / lasso
    return max(violation, abs(share @ residual).max() / lasso)


def test_offsets():
    offset = 0.5 * np.random.default_rng(3).normal(size=(N_ROWS, N_CLASSES))
    model = model_of().fit(X, Y, WEIGHT, offset=offset)
    assert_sparse(model)
    scores = X @ model.coef_.T + model.intercept_ + offset
    residual = softmax(scores, axis=1) - np.eye(N_CLASSES)[Y]
    assert smallest_subgradient(model, X, residual, WEIGHT) < 1e-4
    proba = model.predict_proba(X, offset=offset)
    assert_allclose(proba, softmax(scores, axis=1), atol=1e-9)


def test_choice_sets():
    rng = np.random.default_rng(4)
    available = rng.random((N_ROWS, N_CLASSES)) < 0.7
    available[np.arange(N_ROWS), Y] = True
    model = model_of().fit(X, Y, available=available)
    assert_sparse(model)
    scores = X @ model.coef_.T + model.intercept_
    scores = np.where(available, scores, -np.inf)
    residual = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    residual -= np.eye(N_CLASSES)[Y]
    assert smallest_subgradient(model, X, residual, np.ones(N_ROWS)) < 1e-4


TARGETS = {
    "sets": (SigmoidClassifier, {}, SETS),
    "shares": (SparsemaxClassifier, {}, SHARES),
    "sets of softmax": (SoftmaxClassifier, {"threshold": 0.3, "C": 0.05}, SETS),
    "margin": (SoftmaxClassifier, {"margin": 0.3}, Y),
    "smoothed": (SoftmaxClassifier, {"label_smoothing": 0.1}, Y),
    "balanced": (EntmaxClassifier, {"class_weight": "balanced"}, Y),
    "not convex": (LinearClassifier, {"loss": "accuracy", "mapping": "softmax"}, Y),
}


@pytest.mark.parametrize(
    ("name", "select"),
    [
        ("sets", "features"),
        ("shares", "coefficients"),
        ("sets of softmax", "features"),
        ("margin", "coefficients"),
        ("smoothed", "features"),
        ("balanced", "coefficients"),
        ("not convex", "coefficients"),
        ("not convex", "features"),
    ],
)
def test_targets_and_losses(name, select):
    """No change of a few coefficients lowers the objective that is written out."""
    kind, given, y = TARGETS[name]
    if kind is LinearClassifier:
        given = {"tol": 1e-6, "max_iter": 2000, **given}
    model = model_of(kind, select, **given).fit(X, y, WEIGHT)
    assert_sparse(model)
    target = np.eye(N_CLASSES)[y] if y.ndim == 1 else 1.0 * y
    if name == "sets of softmax":
        target /= target.sum(axis=1, keepdims=True)
    if name == "smoothed":
        target = 0.9 * target + 0.1 / N_CLASSES
    weight = WEIGHT.copy()
    if name == "balanced":
        totals = weight @ target
        weight *= (totals.sum() / (N_CLASSES * totals))[y]
    share, strength = weight / weight.sum(), 1 / (model.C_ * weight.sum())

    def objective(W, b):
        size = np.linalg.norm(W, axis=0) if select == "features" else abs(W)
        penalty = 0.1 * (W**2).sum() + 0.8 * size.sum()
        return share @ model.loss_.value(X @ W.T + b, target) + strength * penalty

    best = objective(model.coef_, model.intercept_)
    assert model.objective_ == pytest.approx(best, abs=1e-9)
    rng = np.random.default_rng(5)
    for size in 1e-2, 1e-3:
        for _ in range(50):
            step = rng.normal(size=model.coef_.shape)
            step *= rng.random(step.shape) < 0.2
            moved = objective(model.coef_ + size * step, model.intercept_)
            assert moved > best - 1e-8


@pytest.mark.parametrize(
    ("select", "seeds"),
    [("coefficients", range(10)), ("features", range(10, 20))],
    ids=SELECT,
)
def test_a_label_in_all_rows_in_single_precision(select, seeds):
    """Its weights do not quite sum to one; warnings are errors."""
    labels = SETS.copy()
    labels[:, 0] = 1
    about = {"C": 10.0, "threshold": 0.5, "tol": 1e-6}
    expected = model_of(SigmoidClassifier, select, **about).fit(X, labels)
    for seed in seeds:
        weight = np.random.default_rng(seed).uniform(0.5, 2, N_ROWS).astype(np.float32)
        model = model_of(SigmoidClassifier, select, **about).set_params(tol=1e-4)
        model.fit(X.astype(np.float32), labels, weight)
        assert 0 <= model.duality_gap_ <= 0.05 * model.objective_
        assert model.objective_ == pytest.approx(expected.objective_, rel=0.2)


def test_warm_start_from_another_strength():
    model = model_of(SparsemaxClassifier, warm_start=True)
    for C in 0.01, 0.1, 1.0, 0.03:
        model.set_params(C=C).fit(X, Y)
        cold = model_of(SparsemaxClassifier, C=C).fit(X, Y)
        assert_allclose(model.coef_, cold.coef_, atol=1e-6)
        assert_array_equal(model.coef_ == 0, cold.coef_ == 0)
    # From a ridge, all of whose coefficients are something.
    model = model_of(l1_ratio=0.0, warm_start=True).fit(X, Y)
    assert model.coef_.all()
    model.set_params(l1_ratio=0.8).fit(X, Y)
    assert_array_equal(model.coef_ == 0, model_of().fit(X, Y).coef_ == 0)


def test_sparsify_and_saving():
    model = model_of().fit(X, Y)
    expected = model.predict_proba(X)
    n_stored = np.count_nonzero(model.coef_)
    model.sparsify()
    assert sparse.issparse(model.coef_)
    assert model.coef_.nnz == n_stored
    assert_allclose(model.predict_proba(X), expected, atol=1e-12)
    model.set_params(warm_start=True).fit(X, Y)
    assert not sparse.issparse(model.densify().coef_)
    assert_allclose(model.predict_proba(X), expected, atol=1e-6)


@pytest.mark.parametrize("kind", [SoftmaxClassifier, SparsemaxClassifier])
def test_onnx(kind):
    running = pytest.importorskip("tests.onnx.running", exc_type=ImportError)
    model = model_of(kind, "features").fit(X, Y)
    running.assert_same(model, X.astype(np.float32), rounding=1e-5)


@pytest.mark.parametrize("select", SELECT)
def test_select_from_model(select):
    # Without a threshold it is that of lasso: coefficients that are not zero.
    model = model_of(select=select)
    selector = SelectFromModel(model, threshold=1e-5).fit(X, Y)
    used = model.fit(X, Y).coef_.any(axis=0)
    assert_array_equal(selector.get_support(), used)
    last = SoftmaxClassifier(C=np.inf, tol=1e-6)
    pipeline = make_pipeline(selector, last).fit(X, Y)
    assert pipeline[-1].n_features_in_ == used.sum()


class StopAfter:
    """A callback that keeps the models of the iterations, and stops a fit."""

    def __init__(self, n_iter):
        self.n_iter, self.models = n_iter, []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(
        self, estimator, context, *, X, y, metadata, fitted_estimator=None
    ):
        if context.task_name != "iteration":
            return False
        self.models.append(fitted_estimator)
        return len(self.models) >= self.n_iter


@needs_callbacks
def test_history_and_callbacks():
    model = model_of(SparsemaxClassifier).fit(X, Y)
    history = model.history_
    assert history["iteration"][-1] == model.n_iter_ >= 3
    assert (np.diff(history["objective"]) <= 1e-14).all()
    assert history["objective"][-1] == model.objective_
    assert history["duality_gap"][-1] == model.duality_gap_
    assert (np.diff(history["passes"]) > 0).all()
    callback = StopAfter(2)
    stopped = model_of(SparsemaxClassifier).set_callbacks(callback).fit(X, Y)
    assert stopped.n_iter_ == 2 == len(callback.models)
    at_two = history["objective"][history["iteration"] == 2]
    assert stopped.objective_ == pytest.approx(at_two[0], rel=1e-12)
    assert_allclose(callback.models[-1].coef_, stopped.coef_)


def test_one_iteration_warns_and_names_the_gap():
    model = model_of(SparsemaxClassifier, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model.fit(X, Y)
    best = model_of(SparsemaxClassifier).fit(X, Y)
    assert model.duality_gap_ >= model.objective_ - best.objective_ > 0


@pytest.mark.parametrize("select", SELECT)
def test_sparse_softmax_keeps_few_coefficients(select):
    """No other coefficients nearby have a lower objective, written out.

    It has kinks, where no gradient vanishes: a fit that ends at one warns.
    """
    k, C, ratio = 2, 0.03, 0.7
    model = SparseSoftmaxClassifier(k=k, C=C, l1_ratio=ratio, select=select)
    with pytest.warns(ConvergenceWarning, match="no step lowers the objective"):
        model.fit(X, Y)
    rows = np.arange(len(Y))

    def objective(coef, intercept):
        scores = X @ coef.T + intercept
        loss = logsumexp(np.sort(scores, axis=1)[:, -k:], axis=1) - scores[rows, Y]
        sizes = np.linalg.norm(coef, axis=0) if select == "features" else abs(coef)
        penalty = (1 - ratio) / 2 * np.sum(coef**2) + ratio * np.sum(sizes)
        return loss.mean() + penalty / (C * len(Y))

    W, b = model.coef_, model.intercept_
    least = objective(W, b)
    assert model.objective_ == pytest.approx(least, rel=1e-9)
    assert 0 < np.count_nonzero(W) < W.size
    rng = np.random.default_rng(0)
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(100):
            other = W + size * rng.normal(size=W.shape) * (rng.random(W.shape) < 0.5)
            shift = size * rng.normal(size=b.shape)
            assert objective(other, b + shift) > least - 5e-6
