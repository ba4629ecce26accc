"""Average marginal effects, against statsmodels and against finite differences."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import (
    LinearClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.inspection import marginal_effects
from skprob.mappings import Entmax, NestedSoftmax, Sigmoid

from .finite_differences import numerical_derivatives

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=250), RNG.random(250) < 0.4])
SCORES = X @ RNG.normal(size=(2, 3)) + RNG.gumbel(size=(250, 3))
THREE, TWO = SCORES.argmax(axis=1), (SCORES[:, 0] > SCORES[:, 1]).astype(int)
SETS = (SCORES > SCORES.mean()).astype(int)
GROUPS = RNG.integers(40, size=250)


def columns(rows):
    table = pd.DataFrame(rows)
    return table, {name: table[name].to_numpy() for name in table}


# MNLogit of statsmodels 0.15 raises an error for dummies.
@pytest.mark.parametrize(("y", "dummy"), [(TWO, False), (TWO, True), (THREE, False)])
def test_effects_are_those_of_statsmodels(y, dummy):
    sm = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed")
    reference = (sm.MNLogit if y is THREE else sm.Logit)(y, sm.add_constant(X))
    model = SoftmaxClassifier(C=np.inf, tol=1e-9).fit(X, y)
    for given, options in (
        ({}, {}),
        ({"covariance": "sandwich"}, {"cov_type": "HC0"}),
        (
            {"groups": GROUPS},
            {"cov_type": "cluster", "cov_kwds": {"groups": GROUPS}},
        ),
    ):
        fit = reference.fit(method="newton", disp=0, tol=1e-12, **options)
        effects = fit.get_margeff(at="overall", dummy=dummy)
        rows = marginal_effects(model, X, y, dummy=dummy, **given)
        _, table = columns([row for row in rows if y is THREE or row.class_name == 1])
        for name, expected in (
            ("estimate", effects.margeff),
            ("standard_error", effects.margeff_se),
            ("z", effects.tvalues),
            ("p_value", effects.pvalues),
        ):
            # Effects of MNLogit have a row for each feature.
            expected = np.asarray(expected).T.ravel()
            assert_allclose(table[name], expected, atol=1e-6)
        if y is TWO:
            ends = np.column_stack([table["lower"], table["upper"]])
            assert_allclose(ends, effects.conf_int(), atol=1e-6)


def test_numbers_of_statsmodels():
    """The same, where statsmodels is not installed: MNLogit of version 0.15."""
    model = SoftmaxClassifier(C=np.inf, tol=1e-9).fit(X, THREE)
    _, table = columns(marginal_effects(model, X, THREE))
    assert_allclose(table["estimate"], np.ravel(EFFECTS), atol=1e-6)
    assert_allclose(table["standard_error"], np.ravel(ERRORS), atol=1e-6)


EFFECTS = [[-0.056964, -0.0272583], [0.3041871, 0.2149899], [-0.2472231, -0.1877316]]
ERRORS = [[0.0192816, 0.0512047], [0.0105872, 0.0415875], [0.0187831, 0.0489849]]


CASES = {
    "softmax, two classes": ({}, TWO),
    "no intercept, margin": ({"fit_intercept": False, "margin": 0.3}, THREE),
    "nested": ({"mapping": NestedSoftmax([0, 0, 1], 0.6), "loss": "log"}, THREE),
    "class weights": ({"temperature": 0.5, "class_weight": {0: 3.0}}, THREE),
    "not shift invariant": ({"mapping": "taylor_softmax"}, THREE),
    "marginals": ({"mapping": "sigmoid"}, SETS),
    "one-vs-rest": ({"mapping": "sigmoid"}, THREE),
    "choice sets": ({}, THREE),
}


def fitted(parameters, y, is_choice=False):
    """A model without a penalty, the arguments of its rows, and their weights."""
    rng, weight = np.random.default_rng(0), np.linspace(0.5, 2, len(X))
    given = {}
    if is_choice:
        given["available"] = (rng.random((250, 3)) < 0.7) | (np.eye(3)[y] > 0)
        given["offset"] = rng.normal(size=(250, 3))
    model = LinearClassifier(**{"C": np.inf, "tol": 1e-9, **parameters})
    return model.fit(X, y, weight, **given), given, weight


def mean_changes(model, weight, given, h=1e-4):
    """Effects by central differences, and by steps from 0 to 1."""

    def mean(X):
        return weight @ model.predict_proba(X, **given) / weight.sum()

    slopes = [(mean(X + h * e) - mean(X - h * e)) / (2 * h) for e in np.eye(2)]
    on, off = X.copy(), X.copy()
    on[:, 1], off[:, 1] = 1, 0
    return np.array(slopes).T.ravel(), mean(on) - mean(off)


@pytest.mark.parametrize("name", CASES)
def test_effects_and_errors_are_finite_differences(name):
    parameters, y = CASES[name]
    model, given, weight = fitted(parameters, y, name == "choice sets")
    rows = marginal_effects(model, X, y, weight, covariance="sandwich", **given)
    _, table = columns(rows)
    slopes, steps = mean_changes(model, weight, given)
    assert_allclose(table["estimate"], slopes, atol=1e-7)
    dummies = marginal_effects(model, X, sample_weight=weight, dummy=True, **given)
    estimates = [row.estimate for row in dummies]
    assert_allclose(estimates[1::2], steps, atol=1e-12)
    assert np.isnan([row.standard_error for row in dummies]).all()

    # The delta method: differences of effects as the coefficients move.
    n, coef = len(X), np.column_stack([model.coef_, model.intercept_])
    target = np.eye(3)[y] if y is THREE else np.eye(2)[y] if y is TWO else y
    row_weight = np.where(y == 0, 3.0, 1.0) if "class_weight" in parameters else 1.0
    Z = np.column_stack([X, np.ones(n)])
    size = 2 + model.fit_intercept
    M = len(coef)

    def losses(at):
        raw = Z[:, :size] @ at.reshape(M, size).T
        z = np.outer(raw, [-0.5, 0.5]) if M == 1 else raw
        z = np.where(given.get("available", True), z + given.get("offset", 0), -np.inf)
        return weight * row_weight * model.loss_.value(z, target)

    def changed(at):
        full = np.zeros((M, 3))
        full[:, :size] = at.reshape(M, size)
        model.coef_, model.intercept_ = full[:, :2], full[:, 2]
        return mean_changes(model, weight, given)

    at, h = coef[:, :size].ravel(), 1e-4
    G, H = numerical_derivatives(losses, at)
    bread = np.linalg.pinv(H, rcond=1e-6)
    covariance = bread @ G @ G.T @ bread
    moved = [(changed(at + s), changed(at - s)) for s in h * np.eye(len(at))]
    rates = [
        np.array([(up[kind] - down[kind]) / (2 * h) for up, down in moved])
        for kind in (0, 1)
    ]
    model.coef_, model.intercept_ = coef[:, :2], coef[:, 2]
    slope_error, step_error = (
        np.sqrt(np.einsum("ij,ik,kj->j", rate, covariance, rate)) for rate in rates
    )
    assert_allclose(table["standard_error"], slope_error, rtol=2e-3)
    rows = marginal_effects(
        model, X, y, weight, covariance="sandwich", dummy=True, **given
    )
    step_rows = [row.standard_error for row in rows][1::2]
    assert_allclose(step_rows, step_error, rtol=2e-3)


def arctan_mapping(scores):
    weight = 2 + np.arctan(scores)
    return weight / weight.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("mapping", "y"),
    [
        ("sparsemax", THREE),
        (Entmax(1.5), TWO),
        (Sigmoid(2.0), SETS),
        # Rows in which all marginals are zero, among others.
        (Sigmoid(2.0), THREE),
        ("sparse_softmax", THREE),
        (arctan_mapping, THREE),
    ],
)
@pytest.mark.filterwarnings("ignore:LinearClassifier did not converge")
def test_mappings_without_a_covariance(mapping, y):
    loss = "log" if mapping is arctan_mapping else "auto"
    model = LinearClassifier(mapping, loss, C=10.0, max_iter=200).fit(X, y)
    if isinstance(mapping, Sigmoid) and y is THREE:
        model.intercept_ = model.intercept_ - 1.0
        assert (model.mapping_(model.decision_function(X)).sum(axis=1) == 0).any()
    _, table = columns(marginal_effects(model, sparse.csr_array(X)))
    slopes, _ = mean_changes(model, np.ones(len(X)), {}, h=1e-6)
    assert_allclose(table["estimate"], slopes, atol=1e-6)
    with pytest.raises(ValueError, match="positive probabilities, but those of"):
        marginal_effects(model, X, y)


def test_class_of_rows_without_a_label():
    model = SoftmaxClassifier(C=np.inf, tol=1e-8, threshold=0.5).fit(X, SETS)
    assert model.has_none_class_
    rows = marginal_effects(model, X, SETS)
    slopes, _ = mean_changes(model, np.ones(len(X)), {})
    assert [row.class_name for row in rows[-2:]] == [None] * 2
    assert_allclose([row.estimate for row in rows[:-2]], slopes, atol=1e-7)
    by_class = np.reshape([row.estimate for row in rows], (-1, 2))
    assert_allclose(by_class.sum(axis=0), 0, atol=1e-12)


def test_pipelines_names_and_sparse_rows():
    frame = pd.DataFrame(X, columns=["price", "weekend"])
    model = make_pipeline(
        StandardScaler().set_output(transform="pandas"),
        SoftmaxClassifier(C=np.inf, tol=1e-9),
    ).fit(frame, THREE)
    rows = marginal_effects(model, frame, THREE)
    plain = SoftmaxClassifier(C=np.inf, tol=1e-9).fit(X, THREE)
    expected = marginal_effects(plain, sparse.csr_array(X), THREE)
    assert [row.feature for row in rows[:2]] == list(frame)
    scale = np.tile(X.std(axis=0), 3)
    for name in ("estimate", "standard_error"):
        values, other = ([getattr(row, name) for row in r] for r in (rows, expected))
        assert_allclose(values, other * scale, atol=1e-7)


def test_bad_arguments_are_refused():
    model = SigmoidClassifier(C=np.inf).fit(X, THREE)
    for given, message in (
        ({"covariance": "hess"}, "covariance must be one of"),
        ({"covariance": np.eye(3)}, "covariance must be one of"),
        ({"method": "boot"}, "method must be one of"),
        ({"level": 1}, "level must be between 0 and 1"),
        ({"groups": GROUPS[:5]}, r"each of the 250 rows; got shape \(5,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            marginal_effects(model, X, THREE, **given)
    cosine = SoftmaxClassifier(similarity="cosine").fit(X, THREE)
    with pytest.raises(ValueError, match="similarity='cosine'"):
        marginal_effects(cosine, X)
    with pytest.warns(UserWarning, match="biases the coefficients"):
        marginal_effects(SoftmaxClassifier(tol=1e-8).fit(X, THREE), X, THREE)
    model = SoftmaxClassifier(C=np.inf, tol=1e-8).fit(X, THREE)
    with pytest.warns(UserWarning, match="not at the optimum for these rows"):
        marginal_effects(model, X, np.roll(THREE, 7))
    assert marginal_effects(SparsemaxClassifier().fit(X, THREE), X)
