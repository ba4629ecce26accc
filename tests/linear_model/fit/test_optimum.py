"""A fit ends at the minimum of the documented objective, and is the same for all
forms of the same data."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from skprob import EntmaxClassifier

from ..data_sets import KINDS, cut_for, distributions, label_sets, labels
from .gradients import gradient, target_matrix


def test_the_objective_is_stationary(linear_classifier):
    for kind in KINDS:
        model = clone(linear_classifier).set_params(threshold=cut_for(kind, 0.2))
        check_that_it_is_stationary(model, kind)


def check_that_it_is_stationary(linear_classifier, kind):
    X, y = KINDS[kind]()
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
    model = linear_classifier.set_params(tol=1e-6).fit(X, y, sample_weight=weight)
    coef_gradient, intercept_gradient = gradient(
        model, X, target_matrix(kind, y), weight
    )
    assert_allclose(coef_gradient, 0, atol=2e-6)
    assert_allclose(intercept_gradient, 0, atol=2e-6)
    # The gradient in standardised features; these nearly are standardised.
    assert model.gradient_norm_ <= 1e-6
    largest = max(np.abs(coef_gradient).max(), np.abs(intercept_gradient).max())
    assert largest / 2 - 1e-8 <= model.gradient_norm_ <= 2 * largest + 1e-8
    assert model.n_iter_ > 0


def test_one_hot_rows_are_labels(classifier):
    check_one_hot_rows(classifier, 3)


def test_one_hot_rows_of_two_classes_are_labels(sample_classifier):
    check_one_hot_rows(sample_classifier, 2)


def check_one_hot_rows(classifier, n_classes):
    X, y = labels(n_classes)
    one_hot = np.eye(n_classes)[y]
    reference = clone(classifier.set_params(tol=1e-7)).fit(X, y)
    of_sets = clone(reference).set_params(threshold="support")
    model = of_sets.fit(X, sparse.csr_array(one_hot))
    assert model.target_type_ == "label_set"
    assert_allclose(model.coef_, reference.coef_, atol=1e-5)
    assert_allclose(model.predict_proba(X), reference.predict_proba(X), atol=1e-5)
    model = clone(reference).set_params(target_type="distribution").fit(X, one_hot)
    assert model.target_type_ == "distribution"
    assert_allclose(model.coef_, reference.coef_, atol=1e-5)
    assert_allclose(model.objective_, reference.objective_, rtol=1e-9)


def test_an_indicator_of_any_kind_is_a_label_set():
    X, Y = label_sets()
    reference = EntmaxClassifier().fit(X, sparse.csr_array(Y))
    for target in (Y, Y.astype(bool), Y.astype(float), sparse.csc_matrix(Y)):
        model = clone(reference).fit(X, target)
        assert model.target_type_ == "label_set"
        assert_array_equal(model.coef_, reference.coef_)
        cuts, expected = (each.threshold_.rule_.cuts_ for each in (model, reference))
        assert_array_equal(cuts, expected)


def test_a_label_set_is_the_uniform_distribution_over_it(classifier):
    X, Y = label_sets()
    sets = classifier.set_params(tol=1e-7, threshold=0.2).fit(X, Y)
    classifier = clone(classifier).set_params(threshold="auto")
    uniform = classifier.fit(X, Y / Y.sum(axis=1, keepdims=True))
    assert (sets.target_type_, uniform.target_type_) == ("label_set", "distribution")
    assert_allclose(sets.coef_, uniform.coef_, atol=1e-5)


def test_the_layout_of_X_does_not_matter(sample_classifier):
    X, y = labels()
    X[np.abs(X) < 0.3] = 0
    reference = clone(sample_classifier.set_params(tol=1e-7)).fit(X, y)
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
        model = clone(sample_classifier).fit(layout, y)
        assert_allclose(model.coef_, reference.coef_, atol=1e-5, err_msg=name)
        p = model.predict_proba(layout)
        assert_allclose(p, reference.predict_proba(X), atol=1e-5, err_msg=name)
        assert isinstance(p, np.ndarray)


def test_float32_stays_float32(classifier):
    assert_single_like_double(classifier, *labels(), sparse.csr_array)


def test_float32_stays_float32_with_sets_and_shares(sample_classifier):
    assert_single_like_double(sample_classifier, *label_sets(), sparse.csr_array)
    assert_single_like_double(sample_classifier, *distributions(), np.asarray)


def assert_single_like_double(classifier, X, y, container):
    X_single = container(X.astype(np.float32))
    single = clone(classifier).fit(X_single, y)
    # At the optimum, so that the tolerance is not counted twice.
    double = clone(classifier).set_params(tol=1e-7).fit(X, y)
    for array in (
        single.coef_,
        single.intercept_,
        single.decision_function(X_single),
        single.predict_proba(X_single),
        single.predict_log_proba(X_single),
    ):
        assert array.dtype == np.float32
    assert double.coef_.dtype == double.predict_proba(X).dtype == np.float64
    assert_allclose(single.predict_proba(X_single), double.predict_proba(X), atol=5e-3)


def test_integers_become_float64(sample_classifier):
    X, y = labels()
    X = np.round(10 * X).astype(np.int32)
    model = sample_classifier.fit(X, y)
    assert model.coef_.dtype == np.float64
    assert_allclose(model.coef_, clone(model).fit(X.astype(float), y).coef_)


def test_a_weight_is_a_number_of_repetitions(sample_classifier):
    for kind, load in KINDS.items():
        X, y = load()
        sample_classifier.set_params(tol=1e-7, threshold=cut_for(kind, 0.2))
        times = np.random.default_rng(0).integers(0, 4, len(X))
        weighted = clone(sample_classifier).fit(X, y, sample_weight=times)
        repeated = clone(sample_classifier)
        repeated.fit(X.repeat(times, axis=0), y.repeat(times, axis=0))
        assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)
        assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-8)


def test_twice_the_weight_is_twice_C():
    X, y = labels()
    model = EntmaxClassifier(C=1.0, tol=1e-7)
    weighted = clone(model).fit(X, y, sample_weight=np.full(len(X), 2.0))
    larger = model.set_params(C=2.0).fit(X, y)
    assert_allclose(weighted.coef_, larger.coef_, atol=1e-5)


def test_class_weight_is_a_sample_weight(sample_classifier):
    X, y = labels()
    names = np.array(["a", "b", "c"])[y]
    sample_classifier.set_params(tol=1e-7)
    by_class = clone(sample_classifier).set_params(class_weight={"a": 2.0, "c": 0.5})
    by_class.fit(X, names)
    by_sample = sample_classifier.fit(
        X, names, sample_weight=np.array([2.0, 1.0, 0.5])[y]
    )
    assert_allclose(by_class.coef_, by_sample.coef_, atol=1e-5)


def test_balanced_gives_every_class_the_same_total_weight(sample_classifier):
    X, y = labels()
    X, y = X[(y > 0) | (np.arange(60) < 20)], y[(y > 0) | (np.arange(60) < 20)]
    sample_classifier.set_params(tol=1e-7)
    balanced = clone(sample_classifier).set_params(class_weight="balanced").fit(X, y)
    weight = len(y) / (3 * np.bincount(y))
    by_sample = sample_classifier.fit(X, y, sample_weight=weight[y])
    assert_allclose(balanced.coef_, by_sample.coef_, atol=1e-5)


def test_balanced_counts_the_weights_of_the_rows():
    X, y = labels()
    weight = np.random.default_rng(0).uniform(0.2, 3, len(y))
    model = EntmaxClassifier(tol=1e-7)
    factor = weight.sum() / (3 * np.bincount(y, weight))
    by_sample = clone(model).fit(X, y, sample_weight=weight * factor[y])
    balanced = model.set_params(class_weight="balanced").fit(X, y, sample_weight=weight)
    assert_allclose(balanced.coef_, by_sample.coef_, atol=1e-5)


def test_distributions_that_nearly_sum_to_one_are_made_exact():
    X, D = distributions()
    exact = EntmaxClassifier(tol=1e-9).fit(X, D)
    nearly = EntmaxClassifier(tol=1e-9).fit(X, D * (1 + 5e-6))
    assert_allclose(nearly.coef_, exact.coef_, atol=1e-8)


def test_class_weights_of_sets_and_distributions_are_means_over_the_target():
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
    model = linear_classifier.set_params(C=np.inf, tol=6e-7).fit(X, y)
    coef_gradient, _ = gradient(model, X, target_matrix("class", y), np.ones(len(X)))
    # A raw feature's gradient is at most tol times its scale and its mean: 3.2 tol.
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
