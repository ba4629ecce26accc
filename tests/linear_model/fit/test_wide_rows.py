"""Rows that are fewer than their features, fitted in the space that they span.

The references are the model of a fit in the features, scikit-learn's, and the gradient
of the objective in the features.
"""

from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from skprob import (
    EntmaxClassifier,
    EntmaxClassifierCV,
    LinearClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.data import RowSpace
from skprob.linear_model.fit import _chosen_C, _wide_rows
from skprob.linear_model.fit._wide_rows import suits_row_space

from ...versions import needs_callbacks
from ..data_sets import cut_for
from .gradients import gradient, target_matrix

N_ROWS, N_FEATURES = 24, 150
CONTAINERS = np.asarray, sparse.csr_array


def wide(kind="class", n_classes=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES)) * rng.uniform(0.3, 3, N_FEATURES) + 1
    X[:, 5], X[:, 6] = 0, 4
    scores = X[:, :5] @ rng.normal(size=(5, n_classes)) / 2
    scores += rng.gumbel(size=scores.shape)
    if kind == "class":
        return X, scores.argmax(axis=1)
    if kind == "label_set":
        return X, (scores >= np.sort(scores, axis=1)[:, [1]]).astype(int)
    weight = np.maximum(scores - scores.mean(axis=1, keepdims=True), 0)
    return X, weight / weight.sum(axis=1, keepdims=True)


def n_spaces(fit):
    """The result of a call, and in how many spaces of rows it fitted."""
    spaces, of = [], RowSpace.of.__func__

    def counted(cls, *args):
        spaces.append(of(cls, *args))
        return spaces[-1]

    with patch.object(RowSpace, "of", classmethod(counted)):
        result = fit()
    return result, sum(space is not None for space in spaces)


def fit_in_features(model, X, y, **given):
    """The model of a fit to sparse rows in the features."""
    with patch.object(_wide_rows, "row_space_of", lambda spec, rows, l2: None):
        model, n = n_spaces(lambda: model.fit(sparse.csr_array(X), y, **given))
    assert n == 0
    return model


@contextmanager
def always_in_row_space():
    """A context in which a fit is in the space of the rows, if it can be."""
    with patch.object(_wide_rows, "suits_row_space", lambda *args: True):
        yield


def check_same(model, X, y, rtol=1e-6, containers=CONTAINERS, **given):
    """The models in the space, of dense and of sparse rows, are that of the features.

    The model of dense rows, the first of the containers, is returned.
    """
    model = clone(model).set_params(tol=1e-11, max_iter=5000)
    reference = fit_in_features(clone(model), X, y, **given)
    size, models = np.abs(reference.coef_).max(), []
    for container in containers:
        with always_in_row_space():
            model, n = n_spaces(lambda: clone(model).fit(container(X), y, **given))  # noqa: B023
        assert n >= 1
        assert_allclose(model.coef_, reference.coef_, rtol=0, atol=rtol * size)
        assert_allclose(model.intercept_, reference.intercept_, atol=10 * rtol)
        assert_allclose(model.objective_, reference.objective_, rtol=1e-9)
        models.append(model)
    return models[0]


@pytest.mark.parametrize(
    ("n_classes", "C", "fit_intercept"),
    [(2, 0.01, True), (2, 30.0, False), (3, 1.0, True), (3, 30.0, False)],
)
def test_softmax_is_logistic_regression(n_classes, C, fit_intercept):
    X, y = wide(n_classes=n_classes)
    about = {"C": C, "fit_intercept": fit_intercept, "tol": 1e-11}
    model, n = n_spaces(lambda: SoftmaxClassifier(**about).fit(X, y))
    assert n == 1
    reference = LogisticRegression(solver="newton-cholesky", **about).fit(X, y)
    size = np.abs(reference.coef_).max()
    assert_allclose(model.coef_, reference.coef_, rtol=0, atol=1e-6 * size)
    assert_allclose(model.intercept_, reference.intercept_, atol=1e-6)


def test_the_objective_is_stationary_in_the_features(linear_classifier):
    X, y = wide()
    weight = np.random.default_rng(1).uniform(0.5, 2, N_ROWS)
    model = linear_classifier.set_params(tol=1e-7, max_iter=3000)
    with always_in_row_space():
        model.fit(sparse.csr_array(X), y, sample_weight=weight)
    slopes = gradient(model, X, target_matrix("class", y), weight)
    assert_allclose(slopes[0], 0, atol=5e-6)
    assert_allclose(slopes[1], 0, atol=5e-6)


CLASSIFIERS = [
    SoftmaxClassifier(),
    SparsemaxClassifier(C=100),
    EntmaxClassifier(C="auto"),
    SigmoidClassifier(),
    LinearClassifier("entmax", margin=0.7),
    EntmaxClassifier(fit_intercept=False),
    EntmaxClassifier(class_weight="balanced"),
    SoftmaxClassifier(label_smoothing=0.1),
    SoftmaxClassifier(solver="lbfgs"),
    SoftmaxClassifier(solver="newton-cg"),
    SoftmaxClassifier(solver="newton-cholesky"),
]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_the_model_is_that_of_the_features(model):
    check_same(model, *wide())


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (CLASSIFIERS[0], "label_set"),
        (CLASSIFIERS[1], "distribution"),
        (CLASSIFIERS[2], "label_set"),
        (CLASSIFIERS[2], "distribution"),
        (CLASSIFIERS[3], "label_set"),
    ],
    ids=str,
)
def test_label_sets_and_shares(model, kind):
    model = clone(model).set_params(threshold=cut_for(kind, 0.2))
    check_same(model, *wide(kind))


def test_weights_offsets_and_choice_sets():
    X, y = wide()
    rng = np.random.default_rng(1)
    weight = rng.uniform(0, 2, N_ROWS)
    weight[:3] = 0
    weight[3] = 1e-9
    available = rng.random((N_ROWS, 3)) < 0.7
    available[np.arange(N_ROWS), y] = True
    given = {"offset": rng.normal(size=(N_ROWS, 3)), "available": available}
    for model in (SoftmaxClassifier(), SparsemaxClassifier()):
        check_same(model, X, y, sample_weight=weight)
        check_same(model, X, y, **given)


def test_penalty_factors():
    X, y = wide()
    factors = np.random.default_rng(1).uniform(0.1, 5, N_FEATURES)
    factors[[2, 9]] = np.inf
    model = check_same(EntmaxClassifier(penalty_factors=factors), X, y)
    assert not model.coef_[:, [2, 9]].any()


@pytest.mark.parametrize("container", CONTAINERS)
def test_weights_are_copies(container):
    X, y = wide()
    X[:, ::2], X = 0, container(X)
    counts = np.arange(N_ROWS) % 4
    copies = np.repeat(np.arange(N_ROWS), counts)
    model = SparsemaxClassifier(tol=1e-9, max_iter=5000)
    with always_in_row_space():
        one, n_one = n_spaces(lambda: clone(model).fit(X, y, sample_weight=counts))
        two, n_two = n_spaces(lambda: clone(model).fit(X[copies], y[copies]))
    assert n_one == n_two == 1
    assert_allclose(one.coef_, two.coef_, atol=1e-7)
    assert one.n_iter_ == two.n_iter_


def test_a_mapped_file_and_columns_in_order(tmp_path):
    X, y = wide()
    expected = SparsemaxClassifier().fit(X, y)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    model, n = n_spaces(lambda: SparsemaxClassifier().fit(mapped, y))
    assert n == 1
    assert_array_equal(model.coef_, expected.coef_)
    model, n = n_spaces(lambda: SparsemaxClassifier().fit(np.asfortranarray(X), y))
    assert n == 1
    assert_allclose(model.coef_, expected.coef_, atol=1e-9)


def test_rows_without_a_label_are_left_out():
    X, Y = wide("label_set")
    Y[::5] = 0
    model = SoftmaxClassifier(tol=1e-9, threshold=0.2, none_class=False)
    with pytest.warns(match="5 of 24 rows have no label"):
        model, n = n_spaces(lambda: model.fit(X, Y))
    assert n == 1
    has_label = Y.any(axis=1)
    expected = check_same(clone(model), X[has_label], Y[has_label])
    assert_allclose(model.coef_, expected.coef_, atol=1e-7)


@pytest.mark.parametrize("container", CONTAINERS)
def test_single_precision(container):
    X, y = wide()
    model, of_single = SoftmaxClassifier(tol=1e-7), container(X.astype(np.float32))
    with always_in_row_space():
        single, n = n_spaces(lambda: clone(model).fit(of_single, y))
    assert n == 1
    assert single.coef_.dtype == np.float32
    expected = model.fit(X.astype(np.float32).astype(float), y)
    assert_allclose(single.coef_, expected.coef_, atol=1e-6)


def test_rows_that_are_all_the_same():
    X, y = wide()
    X[:] = X[0]
    check_same(SoftmaxClassifier(fit_intercept=False), X, y, rtol=1e-5)
    with always_in_row_space():  # There is no space: the Gram matrix is zero.
        model, n = n_spaces(lambda: EntmaxClassifier().fit(sparse.csr_array(X), y))
    assert n == 0
    model = SoftmaxClassifier(tol=1e-9).fit(X, y)
    assert not model.coef_.any()
    assert_allclose(model.predict_proba(X[:1])[0], np.bincount(y) / N_ROWS, rtol=1e-8)


def test_a_few_rows():
    X, _ = wide()
    check_same(SoftmaxClassifier(), X[:2], [0, 1])
    shares = np.array([[0.2, 0.3, 0.5]])
    check_same(SoftmaxClassifier(fit_intercept=False), X[:1], shares)


@pytest.mark.parametrize(
    "options",
    [
        {"C": np.inf},
        {"l1_ratio": 0.5},
        {"similarity": "cosine"},
        {"penalty_factors": np.arange(N_FEATURES)},
        {"mapping": "softmax", "loss": "accuracy"},
    ],
    ids=lambda options: ", ".join(options),
)
def test_these_fits_are_in_the_features(options):
    X, y = wide()
    model = LinearClassifier(**({"mapping": "sparsemax", "tol": 1e-2} | options))
    assert n_spaces(lambda: model.fit(X, y))[1] == 0
    with always_in_row_space():
        assert n_spaces(lambda: clone(model).fit(sparse.csr_array(X), y))[1] == 0


@pytest.mark.parametrize("container", CONTAINERS)
def test_columns_that_the_gram_matrix_cannot_resolve(container):
    X, y = wide()
    X[:, 0] *= 1e9
    model = SoftmaxClassifier(tol=1e-9)
    with always_in_row_space():
        model, n = n_spaces(lambda: model.fit(container(X), y))
    assert n == 0
    slopes = gradient(model, X, np.eye(3)[y], np.ones(N_ROWS))
    assert_allclose(slopes[0] / X.std(axis=0).clip(1), 0, atol=1e-7)


@pytest.mark.parametrize(
    ("shape", "n_outputs", "C", "is_sparsemax", "expected"),
    [
        # The faster of both, by the times of whole fits.
        ((100, 200), 1, 10, False, True),
        ((100, 1000), 20, 0.1, True, True),
        ((300, 600), 1, 1, False, True),
        ((300, 6000), 1, 1, False, True),
        ((1000, 1200), 1, 1, False, False),
        ((1000, 1500), 1, 1, False, False),
        ((1000, 5000), 20, 1, False, True),
        ((2000, 3000), 1, 1, False, False),
        ((2000, 6000), 20, 1, False, True),
        # These take too much memory, or are not wide.
        ((2001, 60_000), 20, 1, False, False),
        ((150, 150), 3, 1, True, False),
        ((150, 4), 3, 1, True, False),
    ],
    ids=str,
)
def test_dense_rows_that_suit_their_space(shape, n_outputs, C, is_sparsemax, expected):
    # Features of variance one.
    X = np.broadcast_to(np.ones((1, 1)), shape)
    l2 = 1 / (C * shape[0])
    assert suits_row_space(X, n_outputs, l2, is_sparsemax) is expected


@pytest.mark.parametrize(
    ("n_rows", "n_outputs", "C", "is_sparsemax", "expected"),
    [
        # The faster of both, by the times of whole fits to 20 newsgroups.
        (300, 20, 1, False, True),
        (300, 20, 100, False, True),
        (300, 20, 1, True, True),
        (300, 1, 1, False, False),
        (300, 1, 100, False, True),
        (1000, 20, 1, False, False),
        (1000, 20, 10, False, False),
        (1000, 20, 10, True, True),
        (1000, 20, 100, True, True),
        (1000, 1, 100, False, False),
        (1000, 1, 100, True, False),
        (2000, 20, 1, True, False),
    ],
    ids=str,
)
def test_sparse_rows_that_suit_their_space(
    n_rows, n_outputs, C, is_sparsemax, expected
):
    # Rows of norm one, with 80 of 21,000 words.
    rng = np.random.default_rng(0)
    X = sparse.random_array((n_rows, 21_000), density=80 / 21_000, rng=rng)
    X = sparse.csr_array(X)
    X.data[:] = 1 / np.sqrt(80)
    assert suits_row_space(X, n_outputs, 1 / (C * n_rows), is_sparsemax) is expected


@pytest.mark.parametrize("container", CONTAINERS)
def test_numbers_whose_squares_nearly_overflow(container):
    X, y = wide()
    X = container(X * 1e151)
    model = SoftmaxClassifier().fit(X, y)
    assert model.score(X, y) == 1
    assert model.objective_ < 1e-12


def test_sparse_rows_are_in_their_space_by_themselves():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3000)) * (rng.random((60, 3000)) < 0.02)
    X += rng.random(3000) < 0.001  # Features without zeros.
    y = (X @ rng.normal(size=(3000, 3))).argmax(axis=1)
    model = SparsemaxClassifier(tol=1e-11, max_iter=5000)
    reference = fit_in_features(clone(model), X, y)
    p, size = reference.predict_proba(X), np.abs(reference.coef_).max()
    for container in sparse.csr_matrix, sparse.csc_array:
        rows = container(X)
        model, n = n_spaces(lambda: model.fit(rows, y))  # noqa: B023
        assert n == 1
        slopes = gradient(model, X, np.eye(3)[y], np.ones(len(X)))
        assert_allclose(slopes[0], 0, atol=1e-11)
        assert_allclose(model.coef_, reference.coef_, atol=1e-6 * size)
        assert_allclose(model.predict_proba(X), p, rtol=0, atol=1e-6)


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_fitted_numbers_are_those_of_the_features(container):
    X, y = wide()
    with always_in_row_space():
        model, n = n_spaces(lambda: SparsemaxClassifier(tol=1e-6).fit(container(X), y))
    assert n == 1
    p, Q = model.predict_proba(X), np.eye(3)[y]
    scores = X @ model.coef_.T + model.intercept_
    # Of sparsemax: the conjugate of half the squared norm, less its score.
    losses = (scores * p).sum(axis=1) - np.square(p).sum(axis=1) / 2
    losses += 1 / 2 - (scores * Q).sum(axis=1)
    value = losses.mean() + np.square(model.coef_).sum() / (2 * model.C_ * N_ROWS)
    assert_allclose(model.objective_, value, rtol=1e-9)
    assert_allclose(model.history_["objective"][-1], value, rtol=1e-9)
    least = fit_in_features(SparsemaxClassifier(tol=1e-9), X, y).objective_
    assert least * (1 - 1e-9) <= value <= least + model.duality_gap_ + 1e-12
    assert model.duality_gap_ < 1e-3 * value
    assert model.gradient_norm_ <= 1e-6
    assert_allclose(model.intercept_.mean(), 0, atol=1e-12)


@pytest.mark.parametrize("container", CONTAINERS)
def test_warm_start(container):
    X, y = wide()
    _, _, basis = np.linalg.svd(X - X.mean(axis=0))
    X = container(X)
    with always_in_row_space():
        model = SoftmaxClassifier(tol=1e-6, warm_start=True).fit(X, y)
        coef = model.coef_.copy()
        assert model.fit(X, y).n_iter_ == 0
        assert_allclose(model.coef_, coef, atol=1e-9)
        # Coefficients off the space add to the penalty alone: the start is without
        # them.
        model.coef_ = coef + basis[-1]
        assert model.fit(X, y).n_iter_ == 0
        assert_allclose(model.coef_, coef, atol=1e-9)


@needs_callbacks
def test_callbacks_see_coefficients_of_the_features():
    models = []

    class Recorder:
        def setup(self, estimator, context):
            pass

        teardown = on_fit_task_begin = setup

        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None, **data):
            if context.task_name == "iteration":
                models.append(fitted_estimator)

    X, y = wide()
    model = SoftmaxClassifier().set_callbacks(Recorder())
    model, n = n_spaces(lambda: model.fit(X, y))
    assert n == 1
    assert {each.coef_.shape for each in models} == {(3, N_FEATURES)}
    assert_array_equal(models[-1].coef_, model.coef_)
    Q, losses = np.eye(3)[y], []
    for each in models:
        loss = -(Q * each.predict_log_proba(X)).sum(axis=1).mean()
        losses.append(loss + np.square(each.coef_).sum() / (2 * N_ROWS))
    assert_allclose(losses[-1], model.objective_, rtol=1e-9)
    assert np.all(np.diff(losses) <= 1e-12)


def test_a_search_has_one_space_in_each_fold():
    X, y = wide()
    search = EntmaxClassifierCV(
        alphas=[1.0, 1.5, 2.0], Cs=[0.01, 1.0, 10.0], cv=3, tol=1e-8, max_iter=5000
    )
    reference = fit_in_features(clone(search), X, y)
    size = np.abs(reference.coefs_paths_).max()
    for rows in X, sparse.csr_array(X):
        with always_in_row_space():
            search, n = n_spaces(lambda: search.fit(rows, y))  # noqa: B023
        assert n == 3 + 1  # Three folds and a refit.
        assert_allclose(search.scores_, reference.scores_, rtol=1e-5)
        assert (search.alpha_, search.C_) == (reference.alpha_, reference.C_)
        assert_allclose(search.coefs_paths_, reference.coefs_paths_, atol=1e-5 * size)


@pytest.mark.parametrize(
    ("model", "container"),
    [(model, CONTAINERS[i % 2]) for i, model in enumerate(CLASSIFIERS[:4])],
    ids=lambda value: getattr(value, "__name__", repr(value)),
)
def test_leave_one_out(model, container, monkeypatch):
    X, y = wide("label_set" if isinstance(model, SigmoidClassifier) else "class")
    model = clone(model).set_params(C="loo", tol=1e-8, max_iter=5000)
    # With the tolerance of the choice, scores differ by a hundredth.
    monkeypatch.setattr(_chosen_C, "_TOL", 1e-8)
    reference = fit_in_features(clone(model), X, y)
    with always_in_row_space():
        model, n = n_spaces(lambda: model.fit(container(X), y))
    assert n == 1  # The choice and the fit have the same coordinates.
    assert model.C_ == reference.C_
    is_known = np.isfinite(reference.loo_scores_)
    assert_array_equal(np.isfinite(model.loo_scores_), is_known)
    scores, expected = model.loo_scores_[is_known], reference.loo_scores_[is_known]
    assert_allclose(scores, expected, rtol=1e-5)
    assert_allclose(model.coef_, reference.coef_, atol=1e-5)
