"""What is fitted is the minimum of the documented objective, and the same model
however the same data are put."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone

from skprob.losses import FenchelYoungLoss

from .toys import KINDS, distributions, label_sets, labels


def target_matrix(kind, y):
    """The target as a dense matrix of distributions, from its definition."""
    if kind == "class":
        return (y[:, None] == np.unique(y)).astype(float)
    return y / y.sum(axis=1, keepdims=True)


def gradient(model, X, Q, weight):
    """Gradient in the coefficients and intercepts, from the probabilities alone."""
    if isinstance(model.loss_, FenchelYoungLoss):
        residual = model.predict_proba(X) - Q
    else:
        residual = log_loss_residual(model, X, Q)
    if len(model.coef_) == 1:
        residual = (residual[:, 1:] - residual[:, :1]) / 2
    residual = residual * weight[:, None] / weight.sum()
    penalty = model.coef_ / (model.C * weight.sum())
    return residual.T @ X + penalty, residual.sum(axis=0)


def log_loss_residual(model, X, Q, step=1e-6):
    scores = model.decision_function(X)
    if scores.ndim == 1:
        scores = np.stack([-scores / 2, scores / 2], axis=1)
    residual = np.empty_like(scores)
    for k, direction in enumerate(step * np.eye(scores.shape[1])):
        up, down = (
            model.mapping_(scores + direction),
            model.mapping_(scores - direction),
        )
        residual[:, k] = -(Q * (np.log(up) - np.log(down))).sum(axis=1) / (2 * step)
    return residual


@pytest.mark.parametrize("kind", KINDS)
def test_the_objective_is_stationary(linear_classifier, kind):
    X, y = KINDS[kind]()
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
    model = linear_classifier.set_params(tol=1e-6).fit(X, y, sample_weight=weight)
    coef_gradient, intercept_gradient = gradient(
        model, X, target_matrix(kind, y), weight
    )
    assert_allclose(coef_gradient, 0, atol=2e-6)
    assert_allclose(intercept_gradient, 0, atol=2e-6)
    largest = max(np.abs(coef_gradient).max(), np.abs(intercept_gradient).max())
    assert_allclose(model.gradient_norm_, largest, atol=1e-8)
    assert model.n_iter_ > 0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_hot_rows_of_any_kind_are_labels(classifier, n_classes):
    X, y = labels(n_classes)
    one_hot = np.eye(n_classes)[y]
    reference = clone(classifier).set_params(tol=1e-7).fit(X, y)
    for target in (one_hot, sparse.csr_array(one_hot), one_hot.astype(bool)):
        model = clone(reference).fit(X, target)
        assert model.target_type_ == "label_set"
        assert_allclose(model.coef_, reference.coef_, atol=1e-5)
        assert_allclose(model.predict_proba(X), reference.predict_proba(X), atol=1e-5)
    model = clone(reference).set_params(target_type="distribution").fit(X, one_hot)
    assert model.target_type_ == "distribution"
    assert_allclose(model.coef_, reference.coef_, atol=1e-5)
    assert_allclose(model.objective_, reference.objective_, rtol=1e-9)


def test_a_label_set_is_the_uniform_distribution_over_it(classifier):
    X, Y = label_sets()
    sets = classifier.set_params(tol=1e-7).fit(X, Y)
    uniform = clone(classifier).fit(X, Y / Y.sum(axis=1, keepdims=True))
    assert (sets.target_type_, uniform.target_type_) == ("label_set", "distribution")
    assert_allclose(sets.coef_, uniform.coef_, atol=1e-5)


def test_the_layout_of_X_does_not_matter(classifier):
    X, y = labels()
    X[np.abs(X) < 0.3] = 0
    reference = clone(classifier.set_params(tol=1e-7)).fit(X, y)
    layouts = {
        "F": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=1)[:, ::2],
        "list": X.tolist(),
        "csr": sparse.csr_array(X),
        "csr_matrix": sparse.csr_matrix(X),
        "csc": sparse.csc_array(X),
        "coo": sparse.coo_array(X),
    }
    for name, layout in layouts.items():
        model = clone(classifier).fit(layout, y)
        assert_allclose(model.coef_, reference.coef_, atol=1e-5, err_msg=name)
        p = model.predict_proba(layout)
        assert_allclose(p, reference.predict_proba(X), atol=1e-5, err_msg=name)
        assert isinstance(p, np.ndarray)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_float32_stays_float32(classifier, kind, container):
    X, y = KINDS[kind]()
    single = clone(classifier).fit(container(X.astype(np.float32)), y)
    double = classifier.fit(X, y)
    for array in (
        single.coef_,
        single.intercept_,
        single.decision_function(container(X.astype(np.float32))),
        single.predict_proba(container(X.astype(np.float32))),
        single.predict_log_proba(container(X.astype(np.float32))),
    ):
        assert array.dtype == np.float32
    assert double.coef_.dtype == double.predict_proba(X).dtype == np.float64
    assert_allclose(
        single.predict_proba(container(X.astype(np.float32))),
        double.predict_proba(X),
        atol=5e-3,
    )


def test_integers_become_float64(classifier):
    X, y = labels()
    X = np.round(10 * X).astype(np.int32)
    model = classifier.fit(X, y)
    assert model.coef_.dtype == np.float64
    assert_allclose(model.coef_, clone(model).fit(X.astype(float), y).coef_)


@pytest.mark.parametrize("kind", KINDS)
def test_a_weight_is_a_number_of_repetitions(classifier, kind):
    X, y = KINDS[kind]()
    times = np.random.default_rng(0).integers(0, 4, len(X))
    classifier.set_params(tol=1e-7)
    weighted = clone(classifier).fit(X, y, sample_weight=times)
    repeated = classifier.fit(X.repeat(times, axis=0), y.repeat(times, axis=0))
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)
    assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-8)


def test_twice_the_weight_is_twice_C(linear_classifier):
    X, y = labels()
    linear_classifier.set_params(tol=1e-7)
    weighted = clone(linear_classifier).fit(X, y, sample_weight=np.full(len(X), 2.0))
    larger = linear_classifier.set_params(C=2.0).fit(X, y)
    assert_allclose(weighted.coef_, larger.coef_, atol=1e-5)


def test_class_weight_is_a_sample_weight(classifier):
    X, y = labels()
    names = np.array(["a", "b", "c"])[y]
    classifier.set_params(tol=1e-7)
    by_class = clone(classifier).set_params(class_weight={"a": 2.0, "c": 0.5})
    by_class.fit(X, names)
    by_sample = classifier.fit(X, names, sample_weight=np.array([2.0, 1.0, 0.5])[y])
    assert_allclose(by_class.coef_, by_sample.coef_, atol=1e-5)


def test_balanced_gives_every_class_the_same_total_weight(classifier):
    X, y = labels()
    X, y = X[(y > 0) | (np.arange(60) < 20)], y[(y > 0) | (np.arange(60) < 20)]
    classifier.set_params(tol=1e-7)
    balanced = clone(classifier).set_params(class_weight="balanced").fit(X, y)
    weight = len(y) / (3 * np.bincount(y))
    by_sample = classifier.fit(X, y, sample_weight=weight[y])
    assert_allclose(balanced.coef_, by_sample.coef_, atol=1e-5)


def test_class_weights_of_sets_and_distributions_are_means_over_the_target():
    from skprob import EntmaxClassifier

    for X, y in (label_sets(), distributions()):
        Q = y / y.sum(axis=1, keepdims=True)
        weight = {0: 3.0, 1: 0.5}
        of_class = np.array([3.0, 0.5, 1.0, 1.0])[: Q.shape[1]]
        by_class = EntmaxClassifier(class_weight=weight, tol=1e-7).fit(X, y)
        by_sample = EntmaxClassifier(tol=1e-7).fit(X, y, sample_weight=Q @ of_class)
        assert_allclose(by_class.coef_, by_sample.coef_, atol=1e-5)


def test_without_intercept(linear_classifier):
    X, y = labels()
    model = linear_classifier.set_params(fit_intercept=False, tol=1e-6).fit(X, y)
    assert_allclose(model.intercept_, 0, atol=0)
    coef_gradient, _ = gradient(model, X, target_matrix("class", y), np.ones(len(X)))
    assert_allclose(coef_gradient, 0, atol=2e-6)


def test_no_penalty(linear_classifier):
    # Every point has every class, so that a finite optimum exists without penalty.
    X = np.repeat([[0.0], [1.0], [2.0], [4.0]], 4, axis=0)
    y = np.tile([0, 1, 2, 0], 4)
    y[::8] = 1
    model = linear_classifier.set_params(C=np.inf, tol=1e-6).fit(X, y)
    coef_gradient, _ = gradient(model, X, target_matrix("class", y), np.ones(len(X)))
    assert_allclose(coef_gradient, 0, atol=2e-6)
    assert np.isfinite(model.coef_).all()


def test_the_optimum_does_not_depend_on_the_units_of_a_feature(linear_classifier):
    X, y = labels()
    units = np.array([1e-6, 1.0, 1e3, 1e6])
    linear_classifier.set_params(C=np.inf, tol=1e-6, max_iter=10_000)
    # Noise enough that the classes overlap, and the optimum is finite.
    y = np.where(np.arange(60) % 3 == 0, np.arange(60) // 3 % 3, y)
    reference = clone(linear_classifier).fit(X, y)
    model = linear_classifier.fit(X * units, y)
    assert_allclose(
        model.predict_proba(X * units), reference.predict_proba(X), atol=1e-3
    )
