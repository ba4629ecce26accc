"""What a fitted model answers: shapes, consistency, thresholds and scores."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import accuracy_score

import skprob
from skprob import (
    AMSoftmaxClassifier,
    EntmaxClassifier,
    LinearClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.mappings import MAPPINGS, Mapping, Traits

from ...estimators import CLASSES, class_name
from ..data_sets import KINDS, cut_for, distributions, label_sets, labels


def test_shapes_and_consistency(linear_classifier):
    for kind in KINDS:
        threshold = cut_for(kind, 0.2)
        check_answers(clone(linear_classifier).set_params(threshold=threshold), kind)


def check_answers(model, kind):
    X, y = KINDS[kind]()
    model.fit(X, y)
    n, K = len(X), len(model.classes_)
    p = model.predict_proba(X)
    assert p.shape == model.decision_function(X).shape == (n, K)
    assert (model.coef_.shape, model.intercept_.shape) == ((K, 4), (K,))
    assert (p >= 0).all()
    assert_allclose(p.sum(axis=1), 1, rtol=1e-14)
    assert_allclose(model.decision_function(X), X @ model.coef_.T + model.intercept_)
    # An integral and its logarithm have errors up to the tolerance.
    error = getattr(model.mapping_, "tol", 0)
    assert_allclose(
        np.exp(model.predict_log_proba(X)),
        p,
        rtol=1e-12 + 100 * error,
        atol=1e-300 + error,
    )
    predicted = model.predict(X)
    if kind == "label_set":
        assert predicted.shape == y.shape
        assert_array_equal(predicted, (p > model.threshold_).astype(int))
    else:
        assert_array_equal(predicted, model.classes_[p.argmax(axis=1)])
        assert not hasattr(model, "threshold_")


def test_one_vector_for_two_classes(linear_classifier):
    X, y = labels(n_classes=2)
    model = linear_classifier.fit(X, np.array(["no", "yes"])[y])
    assert (model.coef_.shape, model.intercept_.shape) == ((1, 4), (1,))
    scores = model.decision_function(X)
    assert scores.shape == (60,)
    p = model.predict_proba(X)
    assert p.shape == (60, 2)
    if model.mapping_.traits.is_order_preserving:
        assert_allclose(scores, X @ model.coef_[0] + model.intercept_)
    else:
        assert_allclose(scores, p[:, 1] - p[:, 0])
    assert_array_equal(model.predict(X), np.where(scores > 0, "yes", "no"))
    assert_array_equal(p[:, 1] > 0.5, scores > 0)


@pytest.mark.parametrize("target_type", ["label_set", "distribution"])
def test_two_columns_share_the_vector_but_keep_both_scores(target_type):
    X, y = labels(n_classes=2)
    model = EntmaxClassifier(target_type=target_type).fit(X, np.eye(2)[y])
    assert model.coef_.shape == (1, 4)
    scores = model.decision_function(X)
    assert scores.shape == (60, 2)
    assert_allclose(scores[:, 1] - scores[:, 0], X @ model.coef_[0] + model.intercept_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MAPPINGS)
def test_a_class_is_the_linear_classifier_with_the_mapping_of_its_name(name):
    X, y = labels()
    # The classifier of sparse softmax has its published loss, not the matching one.
    loss = name if name == "sparse_softmax" else "auto"
    model = LinearClassifier(mapping=name, loss=loss).fit(X, y)
    assert model.score(X, y) > 0.6
    named = getattr(skprob, class_name(name), None)
    if named:
        # The classifier and the mapping have different default orders.
        given = {"order": 2} if name == "taylor_softmax" else {}
        other = named(C=1.0, **given).fit(X, y)
        assert_array_equal(other.coef_, model.coef_)
        assert_array_equal(other.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("model", CLASSES, ids=repr)
def test_a_class_is_the_linear_classifier_with_its_parts(model):
    X, y = labels()
    model = clone(model).set_params(label_smoothing=0.1)
    if "margin" in model.get_params():
        model.set_params(margin=0.2)
    if isinstance(model, AMSoftmaxClassifier):
        model.set_params(standardize=False, constant=0, solver="newton-cg")
    model.fit(X, y)
    names = {"similarity", "C", "fit_intercept", "label_smoothing", "solver"}
    shared = {name: getattr(model, name) for name in names & vars(model).keys()}
    shared["C"] = model.C_
    other = LinearClassifier(model.mapping_, model.loss_, **shared).fit(X, y)
    assert_array_equal(other.coef_, model.coef_)
    assert_array_equal(other.predict_proba(X), model.predict_proba(X))


def test_log_probabilities_of_zeros_are_minus_infinity():
    X, y = labels()
    model = SparsemaxClassifier(C=10).fit(X, y)
    p = model.predict_proba(X)
    assert (p == 0).any()
    # Warnings are errors here: taking the logarithm must not give one.
    log_p = model.predict_log_proba(X)
    assert_array_equal(log_p == -np.inf, p == 0)


def test_log_probabilities_do_not_underflow():
    X, y = labels()
    model = SoftmaxClassifier().fit(X, y)
    log_p = model.predict_log_proba(1e4 * X)
    assert (model.predict_proba(1e4 * X) == 0).any()
    assert np.isfinite(log_p).all()


def test_temperature_divides_the_scores():
    X, y = labels()
    for name in ("softmax", "sparsemax"):
        sharp = LinearClassifier(name, temperature=0.25).fit(X, y)
        same = LinearClassifier(name).set_params(max_iter=0)
        with pytest.warns(match="max_iter"):
            same.fit(X, y)
        same.coef_, same.intercept_ = sharp.coef_ / 0.25, sharp.intercept_ / 0.25
        assert_allclose(sharp.predict_proba(X), same.predict_proba(X), atol=1e-12)


class Backwards(Mapping):
    """The lowest score gets the highest probability."""

    traits = Traits(is_order_preserving=False)

    def probabilities(self, scores):
        weight = np.exp(-(scores - scores.min(axis=1, keepdims=True)))
        return weight / weight.sum(axis=1, keepdims=True)

    def linearize(self, scores):
        from skprob.mappings import Linearization

        p = self.probabilities(scores)

        def product(direction):
            return -p * (direction - (p * direction).sum(axis=1, keepdims=True))

        return Linearization(p, product, product)


def test_predict_follows_the_probabilities_not_the_scores():
    X, y = labels()
    model = LinearClassifier(Backwards()).fit(X, y)
    p = model.predict_proba(X)
    assert_array_equal(model.predict(X), p.argmax(axis=1))
    assert_array_equal(model.predict(X), model.decision_function(X).argmin(axis=1))
    assert model.score(X, y) > 0.5


def test_score_of_labels_is_the_accuracy():
    X, y = labels()
    weight = np.random.default_rng(0).uniform(size=60)
    model = EntmaxClassifier().fit(X, y)
    hit = model.predict(X) == y
    assert_allclose(model.score(X, y), hit.mean())
    assert_allclose(model.score(X, y, weight), np.average(hit, weights=weight))


def test_score_of_label_sets_is_the_share_of_exact_sets():
    X, Y = label_sets()
    model = EntmaxClassifier(threshold=0.2).fit(X, Y)
    exact = (model.predict(X) == Y).all(axis=1)
    assert 0 < exact.mean() < 1
    assert_allclose(model.score(X, Y), exact.mean())
    assert_allclose(model.score(X, Y), accuracy_score(Y, model.predict(X)))


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "Float32", ">i2"])
def test_label_sets_of_any_numbers(dtype):
    X, Y = label_sets()
    frame = pd.DataFrame(Y).astype(dtype)
    model = SoftmaxClassifier(threshold=0.3).fit(X, frame)
    reference = SoftmaxClassifier(threshold=0.3).fit(X, Y)
    assert_array_equal(model.coef_, reference.coef_)
    assert model.score(X, frame) == reference.score(X, Y)


def test_score_of_distributions_is_the_expected_accuracy():
    X, D = distributions()
    weight = np.random.default_rng(0).uniform(size=60)
    model = EntmaxClassifier().fit(X, D)
    hit = [row[k] for row, k in zip(D, model.predict(X), strict=True)]
    assert_allclose(model.score(X, D), np.mean(hit))
    assert_allclose(model.score(X, D, weight), np.average(hit, weights=weight))


@pytest.mark.parametrize(
    "names",
    [
        np.array(["b", "c", "a"]),
        np.array(["b", "c", "a"], dtype=object),
        np.array([3, -7, 0]),
        np.array([2.0, -1.0, 5.0]),
        np.array([2, 0, 1], dtype=np.uint8),
        np.array([2, 0, 1], dtype=object),
        np.array([True, False]),
        np.array([True, False], dtype=object),
        np.array([-1, 1]),
    ],
    ids=lambda names: f"{names.dtype}-{len(names)}",
)
def test_labels_of_any_kind(names):
    X, y = labels(n_classes=len(names))
    model = EntmaxClassifier().fit(X, names[y])
    assert_array_equal(model.classes_, np.sort(names))
    assert set(model.predict(X).tolist()) <= set(names.tolist())
    assert model.score(X, names[y]) > 0.6
    # The same model as with numbered classes, its columns in sorted order.
    rank = np.argsort(np.argsort(names))
    reference = clone(model).fit(X, rank[y])
    assert_allclose(model.coef_, reference.coef_)
    assert_array_equal(model.predict(X), model.classes_[reference.predict(X)])
