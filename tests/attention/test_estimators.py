"""The classifier and the regressor, against loops over queries."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from skprob.attention import AttentionClassifier, AttentionRegressor, _base
from skprob.mappings import Entmax, get_mapping, softmax, sparsemax


@parametrize_with_checks([AttentionRegressor(similarity="dot", n_neighbors=None)])
def test_checks_of_scikit_learn_with_all_rows(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def weights_by_definition(X, queries, mapping, temperature, scale):
    squares = ((queries[:, None] - X) ** 2).sum(axis=2)
    return mapping(-squares / (temperature * scale))


def test_weights_and_predictions_are_their_definition(iris, monkeypatch):
    X, y = iris
    queries = X[::7] + 0.05
    nearest = np.sort(((X[:, None] - X) ** 2).sum(axis=2), axis=1)[:, 1]
    for mapping in (sparsemax, softmax, Entmax(1.25)):
        for most in (1 << 20, 500):
            monkeypatch.setattr(_base, "_MOST_PAIRS", most)
            given = {"temperature": 5.0, "n_neighbors": None}
            model = AttentionClassifier(mapping, **given).fit(X, y)
            assert model.scale_ == pytest.approx(nearest.mean())
            given = get_mapping(mapping), 5.0, model.scale_
            weights = weights_by_definition(X, queries, *given)
            sparse_weights = model.attention_weights(queries)
            assert sparse.issparse(sparse_weights)
            assert_allclose(sparse_weights.toarray(), weights, atol=1e-12)
            expected = weights @ np.eye(3)[y]
            assert_allclose(model.predict_proba(queries), expected, atol=1e-12)
            assert_array_equal(model.predict(queries), expected.argmax(axis=1))
            regressor = AttentionRegressor(
                mapping, temperature=5.0, n_neighbors=None
            ).fit(X, X[:, ::2])
            assert_allclose(regressor.predict(queries), weights @ X[:, ::2], rtol=1e-12)


def test_neighbours_beyond_the_support_change_nothing(iris):
    X, y = iris
    queries = X[::3] + 0.05
    every = AttentionClassifier(temperature=3.0, n_neighbors=None).fit(X, y)
    largest = np.diff(every.attention_weights(queries).indptr).max()
    few = AttentionClassifier(temperature=3.0, n_neighbors=largest).fit(X, y)
    assert 2 < largest < 40
    assert_allclose(
        few.predict_proba(queries), every.predict_proba(queries), atol=1e-12
    )


def test_inner_products(iris):
    X, y = iris
    weights = softmax(X[:9] @ X.T / (2.0 * 2.0))
    given = {"similarity": "dot", "temperature": 2.0}
    model = AttentionClassifier("softmax", n_neighbors=None, **given).fit(X, y)
    assert model.scale_ == 2.0
    assert_allclose(model.predict_proba(X[:9]), weights @ np.eye(3)[y], rtol=1e-12)
    # The most similar five.
    least = np.sort(X[:9] @ X.T, axis=1)[:, -5]
    few = AttentionClassifier("softmax", n_neighbors=5, **given).fit(X, y)
    chosen = few.attention_weights(X[:9])
    assert (np.diff(chosen.indptr) == 5).all()
    products = np.where(chosen.toarray() > 0, X[:9] @ X.T, np.inf)
    assert (products >= least[:, None] - 1e-9).all()


def test_label_sets_and_distributions(iris):
    X, y = iris
    sets = np.stack([y == 0, y >= 1, y == 2, X[:, 0] > 9], axis=1).astype(int)
    for given in (sets, sparse.csr_matrix(sets)):
        model = AttentionClassifier(temperature=20.0, threshold=0.4).fit(X, given)
        weights = model.attention_weights(X[::5]).toarray()
        assert_allclose(model.predict_proba(X[::5]), weights @ sets, atol=1e-12)
        assert_array_equal(model.predict(X[::5]), (weights @ sets > 0.4).astype(int))
        assert model.score(X, given) > 0.9
    q = np.random.default_rng(0).dirichlet(np.ones(3), size=150)
    model = AttentionClassifier(temperature=20.0).fit(X, q)
    assert model.target_type_ == "distribution"
    weights = model.attention_weights(X[::5]).toarray()
    assert_allclose(model.predict_proba(X[::5]), weights @ q, atol=1e-12)
    assert_array_equal(model.predict(X[::5]), (weights @ q).argmax(axis=1))
    hit = q[np.arange(150), model.predict(X)]
    assert model.score(X, q) == pytest.approx(hit.mean())


def test_bad_arguments_of_score_are_refused(iris):
    X, y = iris
    sets = np.stack([y == 0, y >= 1], axis=1).astype(int)
    shares = np.random.default_rng(0).dirichlet(np.ones(3), size=150)
    for given in (y, sets, shares):
        model = AttentionClassifier().fit(X, given)
        for weight in (-np.ones(150), np.zeros(150), np.ones(3)):
            with pytest.raises(ValueError, match="sample_weight must be finite"):
                model.score(X, given, weight)
        with pytest.raises(ValueError, match=r"y must have .* each of the 150 rows"):
            model.score(X, given[:5])
    frame = pd.DataFrame(sets).astype("Int64")
    model = AttentionClassifier().fit(X, frame)
    assert model.score(X, frame) == model.score(X, sets)


def test_duplicates_and_a_grid(iris):
    X, y = iris
    model = AttentionClassifier().fit(np.zeros((4, 2)), [0, 0, 1, 2])
    assert_allclose(model.predict_proba([[0.0, 0.0]]), [[0.5, 0.25, 0.25]])
    grid = {"temperature": [1.0, 10.0], "mapping": ["sparsemax", "softmax"]}
    search = GridSearchCV(AttentionClassifier(), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.9


def test_bad_input_is_refused(iris):
    X, y = iris
    for parameters, message in (
        ({"mapping": "sigmoid"}, "are marginals"),
        ({"mapping": "max"}, "one of the names"),
        ({"mapping": None}, "'mapping' parameter of AttentionClassifier"),
        ({"temperature": 0}, "'temperature' parameter"),
        ({"n_neighbors": 0}, "'n_neighbors' parameter"),
        ({"similarity": "cosine"}, "'similarity' parameter"),
    ):
        with pytest.raises(ValueError, match=message):
            AttentionClassifier(**parameters).fit(X, y)
    with pytest.raises(ValueError, match="X must be finite numbers"):
        AttentionRegressor().fit(X * np.nan, y)
    for wrong in y.astype(str), y * np.nan, y.astype("datetime64[D]"):
        with pytest.raises(ValueError, match="y must be finite real numbers"):
            AttentionRegressor().fit(X, wrong)
    with pytest.raises(TypeError, match="X must be finite numbers, dense, of shape"):
        AttentionRegressor().fit(sparse.csr_array(X), y)
    for wrong in (X * 1e160, X * 1e-200):
        with pytest.raises(ValueError, match=r"X must .* Scale the features"):
            AttentionClassifier().fit(wrong, y)
    model = AttentionClassifier(similarity="dot").fit(X, y)
    with pytest.raises(ValueError, match=r"X must not exceed .* Scale the features"):
        model.predict(X * 1e160)


def test_scores_do_not_depend_on_the_unit_of_the_weights(iris):
    X, y = iris
    y = (y + (np.arange(150) % 7 == 0)) % 3
    shares = np.random.default_rng(0).dirichlet(np.ones(3), size=150)
    weight = np.arange(150.0)
    for given in (y, np.eye(3)[y], shares):
        model = AttentionClassifier(temperature=50.0).fit(X, given)
        expected = model.score(X, given, weight)
        assert 0 < expected < 1
        assert model.score(X, given, weight * 1e306) == pytest.approx(expected)
