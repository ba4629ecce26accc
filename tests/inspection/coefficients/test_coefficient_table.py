"""Standard errors of coefficients, against other programs and against definitions."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, stats
from scipy.special import expit, log_softmax, softmax
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    StandardScaler,
    scale,
)

from skprob import LinearClassifier, SigmoidClassifier, SoftmaxClassifier
from skprob.inspection import coefficient_table, marginal_effects
from skprob.mappings import NestedSoftmax, PerturbMax

from .finite_differences import numerical_derivatives

NAMES = np.array(["bus", "car", "train"])


def choices(n_classes=3, n_samples=300):
    """Features of different units, and labels that overlap."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n_samples, 2)) * [1.0, 100.0] + [0.0, 500.0]
    units = (X - [0.0, 500.0]) / [1.0, 100.0]
    scores = units @ rng.normal(size=(2, n_classes))
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    return X, y, rng.uniform(0.5, 2, n_samples)


X, Y, WEIGHT = choices()


def fitted(X=X, y=Y, **given):
    return SoftmaxClassifier(C=np.inf, tol=1e-8).fit(X, y, **given)


def columns(rows):
    """The table, and each column as an array."""
    table = pd.DataFrame(rows)
    return table, {name: table[name].to_numpy() for name in table}


def by_definition(p, onehot, X, weight):
    """Inverse Hessian and sandwich of the differences to class 0."""
    Z = np.column_stack([X, np.ones(len(X))])
    K, d = p.shape[1] - 1, Z.shape[1]
    H, meat = np.zeros((K * d, K * d)), np.zeros((K * d, K * d))
    for z, p_i, q_i, w in zip(Z, p[:, 1:], onehot[:, 1:], weight, strict=True):
        H += w * np.kron(np.diag(p_i) - np.outer(p_i, p_i), np.outer(z, z))
        g = w * np.kron(p_i - q_i, z)
        meat += np.outer(g, g)
    inverse = np.linalg.inv(H)
    return inverse, inverse @ meat @ inverse


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_errors_of_softmax_are_their_definition(make):
    model = fitted(make(X), NAMES[Y], sample_weight=WEIGHT)
    inverse, sandwich = by_definition(model.predict_proba(X), np.eye(3)[Y], X, WEIGHT)
    _, table = columns(coefficient_table(model, make(X), NAMES[Y], WEIGHT, level=0.9))
    estimate = np.column_stack([model.coef_, model.intercept_])
    estimate = (estimate[1:] - estimate[0]).ravel()
    assert list(table["class_name"]) == ["car"] * 3 + ["train"] * 3
    assert list(table["feature"]) == ["x0", "x1", "intercept"] * 2
    assert_allclose(table["estimate"], estimate)
    error = np.sqrt(np.diag(inverse))
    assert_allclose(table["standard_error"], error, rtol=1e-6)
    assert_allclose(table["robust_error"], np.sqrt(np.diag(sandwich)), rtol=1e-6)
    assert_allclose(table["z"], estimate / error, rtol=1e-6)
    normal = stats.norm(scale=error)
    assert_allclose(table["p_value"], 2 * normal.cdf(-np.abs(estimate)), rtol=1e-4)
    lower, upper = normal.interval(0.9)
    assert_allclose(table["lower"], estimate + lower, rtol=1e-6)
    assert_allclose(table["upper"], estimate + upper, rtol=1e-6)
    model.sparsify()
    rows = coefficient_table(model, X, NAMES[Y], WEIGHT, covariance="sandwich")
    assert_allclose(
        [row.z for row in rows], estimate / np.sqrt(np.diag(sandwich)), rtol=1e-6
    )


def test_differences_to_each_reference():
    model = fitted(X, NAMES[Y])
    inverse, _ = by_definition(model.predict_proba(X), np.eye(3)[Y], X, np.ones(300))
    # In blocks of three, with that of the first class.
    whole = np.zeros((9, 9))
    whole[3:, 3:] = inverse
    for reference, contrast in (
        ("car", np.eye(3)[[0, 2]] - np.eye(3)[1]),
        ("bus", np.eye(3)[1:] - np.eye(3)[0]),
        ("mean", np.eye(3) - 1 / 3),
    ):
        rows = coefficient_table(model, X, NAMES[Y], reference=reference)
        to = np.kron(contrast, np.eye(3))
        expected = np.sqrt(np.diag(to @ whole @ to.T))
        assert_allclose([row.standard_error for row in rows], expected, rtol=1e-6)
        coef = contrast @ np.column_stack([model.coef_, model.intercept_])
        assert_allclose([row.estimate for row in rows], coef.ravel())
    # With reference="mean" the estimates are the coefficients of the model.
    assert_allclose(coef[:, :2], model.coef_, rtol=1e-9)


def test_tables_are_those_of_statsmodels():
    sm = pytest.importorskip("statsmodels.api", reason="needs statsmodels")
    constant = sm.add_constant(X / [1.0, 100.0])
    model = fitted(X / [1.0, 100.0])
    for covariance, name in ("hessian", "nonrobust"), ("sandwich", "HC0"):
        options = {"method": "newton", "disp": 0, "cov_type": name}
        expected = sm.MNLogit(Y, constant).fit(**options)
        rows = coefficient_table(model, X / [1.0, 100.0], Y, covariance=covariance)
        _, table = columns(rows)
        error = {"hessian": "standard_error", "sandwich": "robust_error"}[covariance]
        for mine, theirs in (
            ("estimate", expected.params),
            (error, expected.bse),
            ("z", expected.tvalues),
            ("p_value", expected.pvalues),
            ("lower", expected.conf_int()[..., 0].T),
        ):
            theirs = np.roll(np.asarray(theirs), -1, axis=0).T.ravel()
            assert_allclose(table[mine], theirs, atol=1e-6)
    two, y, weight = choices(2)
    two = two / [1.0, 100.0]
    constant = sm.add_constant(two)
    family = sm.families.Binomial()
    offset = two[:, 0] ** 2
    expected = sm.GLM(y, constant, family, offset=offset, freq_weights=weight).fit()
    model = fitted(two, y, sample_weight=weight, offset=offset)
    rows = coefficient_table(model, two, y, weight, offset=offset)
    assert_allclose(
        [r.standard_error for r in rows], np.roll(expected.bse, -1), atol=1e-6
    )
    # Probit, whose two noises have the variance two.
    expected = sm.Probit(y, constant).fit(disp=0)
    model = LinearClassifier(
        PerturbMax("normal", scale=np.sqrt(0.5)), loss="log", C=np.inf
    )
    model.set_params(tol=1e-8).fit(two, y)
    rows = coefficient_table(model, two, y)
    assert_allclose([r.estimate for r in rows], np.roll(expected.params, -1), atol=1e-5)
    # Not the expected information: Hessian of the likelihood.
    assert_allclose(
        [r.standard_error for r in rows], np.roll(expected.bse, -1), atol=1e-5
    )


CASES = {
    "two classes, no intercept": (
        {"mapping": "softmax", "fit_intercept": False},
        "two",
    ),
    "no likelihood": (
        {"mapping": "softmax", "temperature": 0.5, "margin": 0.3},
        "three",
    ),
    "nested": (
        {"mapping": NestedSoftmax([0, 0, 1], scales=0.6), "loss": "log"},
        "three",
    ),
    "not shift invariant": ({"mapping": "taylor_softmax", "C": 100.0}, "three"),
    "smoothed": ({"mapping": "softmax", "label_smoothing": 0.2}, "three"),
    "weights": ({"mapping": "softmax", "class_weight": {0: 3.0}}, "three"),
    "a penalty": ({"mapping": "softmax", "C": 0.5}, "three"),
    "marginals": ({"mapping": "sigmoid"}, "sets"),
    "one-vs-rest": ({"mapping": "sigmoid"}, "three"),
    "one-vs-rest, two classes": ({"mapping": "sigmoid"}, "two"),
    "sets with none": ({"mapping": "softmax", "threshold": 0.5}, "sets"),
    "distributions": ({"mapping": "softmax"}, "shares"),
    "choice sets": ({"mapping": "softmax"}, "choices"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:The penalty:UserWarning")
def test_the_hessian_by_finite_differences(name):
    """Hessian and sandwich of any loss and target."""
    parameters, kind = CASES[name]
    parameters = {"C": np.inf, "tol": 1e-9, **parameters}
    features = X / [1.0, 100.0] - [0.0, 5.0]
    rng, given, y = np.random.default_rng(0), {}, Y
    if kind == "two":
        features, y, _ = choices(2)
        features = features / [1.0, 100.0] - [0.0, 5.0]
    target = np.eye(y.max() + 1)[y]
    if kind == "sets":
        y = (rng.random((300, 2)) < 0.4).astype(int)
        target = y
        if parameters["mapping"] == "softmax":
            total = np.maximum(y.sum(axis=1, keepdims=True), 1)
            target = np.column_stack([y / total, ~y.any(axis=1)])
    if kind == "shares":
        y = target = rng.dirichlet(np.ones(3), size=300)
    if kind == "choices":
        given["available"] = (rng.random((300, 3)) < 0.7) | (target > 0)
        given["offset"] = rng.normal(size=(300, 3))
    model = LinearClassifier(**parameters).fit(features, y, **given)
    weight = (
        np.where(Y == 0, 3.0, 1.0) if "class_weight" in parameters else np.ones(300)
    )
    smoothing = model.label_smoothing
    target = (1 - smoothing) * target + smoothing / target.shape[1]
    Z = features
    coef = model.coef_
    if model.fit_intercept:
        Z, coef = (
            np.column_stack([Z, np.ones(300)]),
            np.column_stack([coef, model.intercept_]),
        )
    M, size = coef.shape

    def losses(parameters):
        raw = Z @ parameters.reshape(M, size).T
        z = np.outer(raw, [-0.5, 0.5]) if M == 1 else raw
        z = np.where(given.get("available", True), z + given.get("offset", 0), -np.inf)
        return weight * model.loss_.value(z, target)

    at = coef.ravel()
    G, H = numerical_derivatives(losses, at)
    ridge = np.zeros((M, size))
    ridge[:, :2] = 1 / model.C_
    H += np.diag(ridge.ravel())
    if M > 1 and parameters["mapping"] not in ("taylor_softmax", "sigmoid"):
        contrast = np.kron((np.eye(M) - np.eye(M)[0])[1:], np.eye(size))
    else:
        contrast = np.eye(len(at))
    inverse = np.linalg.pinv(H, rcond=1e-6)
    by_hessian = contrast @ inverse @ contrast.T
    sandwich = contrast @ inverse @ G @ G.T @ inverse @ contrast.T
    rows = coefficient_table(model, features, y, **given)
    errors = np.array([[row.standard_error, row.robust_error] for row in rows]).T
    expected = np.sqrt([np.diag(by_hessian), np.diag(sandwich)])
    assert_allclose(errors, expected, rtol=2e-4)
    assert_allclose([row.estimate for row in rows], contrast @ at, atol=1e-9)
    # Which of them z is in units of.
    is_likelihood = name in (
        *(
            "two classes, no intercept",
            "one-vs-rest, two classes",
            "nested",
            "a penalty",
            "marginals",
            "choice sets",
        ),
        "not shift invariant",
    )
    error = errors[0 if is_likelihood else 1]
    assert_allclose([row.z for row in rows], [row.estimate for row in rows] / error)
    if name == "sets with none":
        assert [row.class_name for row in rows[-3:]] == [None] * 3


def test_names_pipelines_and_searches():
    table = pd.DataFrame(X, columns=["price", "time"])
    model = SoftmaxClassifier(C=np.inf, tol=1e-8)
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), model)
    search = GridSearchCV(pipeline, {"softmaxclassifier__max_iter": [500]}, cv=2)
    search.fit(table, Y)
    rows = coefficient_table(search, table, Y)
    assert [row.feature for row in rows] == ["price", "time", "intercept"] * 2
    expected = coefficient_table(fitted(), X, Y)
    # A test of a coefficient does not depend on its unit.
    for row, other in zip(rows, expected, strict=True):
        if row.feature != "intercept":
            assert row.z == pytest.approx(other.z, rel=1e-6)


def test_names_of_features_that_a_pipeline_makes():
    """They were x0, x1, ... unless transformers were set to return data frames."""
    kinds = np.array(["bus", "car", "rail"])[np.arange(len(Y)) % 3]
    table = pd.DataFrame({"time": X[:, 1], "kind": kinds})
    prepare = make_column_transformer(
        (StandardScaler(), ["time"]), (OneHotEncoder(drop="first"), ["kind"])
    )
    model = make_pipeline(prepare, SoftmaxClassifier(C=np.inf, tol=1e-8))
    model.fit(table, Y)
    rows = coefficient_table(model, table, Y)
    names = prepare.get_feature_names_out().tolist()
    assert names[-1] == "onehotencoder__kind_rail"
    assert [row.feature for row in rows] == [*names, "intercept"] * 2
    for method, target in [("bootstrap", Y), ("asymptotic", Y), ("asymptotic", None)]:
        options = {"method": method, "n_bootstrap": 2, "random_state": 0}
        effects = marginal_effects(model, table, target, **options)
        assert [effect.feature for effect in effects] == names * 3
    # Steps without names: a function, and a pipeline of the classifier alone.
    for steps in ([FunctionTransformer()], []):
        unnamed = make_pipeline(*steps, SoftmaxClassifier(C=np.inf, tol=1e-8))
        rows = coefficient_table(unnamed.fit(X, Y), X, Y)
        assert [row.feature for row in rows] == ["x0", "x1", "intercept"] * 2


def test_errors_shrink_to_the_spread_of_estimates():
    """Over many samples, estimates vary as much as the standard errors say."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(400, 1))
    p = softmax(features * [[0.0, 1.0, -0.5]], axis=1)
    estimates, errors = [], []
    for _ in range(100):
        y = (p.cumsum(axis=1) < rng.random((400, 1))).sum(axis=1)
        rows = coefficient_table(fitted(features, y), features, y)
        estimates.append([row.estimate for row in rows])
        errors.append([row.standard_error for row in rows])
    ratio = np.std(estimates, axis=0) / np.mean(errors, axis=0)
    # The deviation of 100 numbers is known to 7 %.
    assert_allclose(ratio, 1, atol=0.25)


def test_no_variance_is_negative():
    """One species is separable, so that the inverse Hessian is huge."""
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="no optimum"):
        model = SoftmaxClassifier(C=np.inf, tol=1e-8).fit(X[:, :2], y)
    rows = coefficient_table(model, X[:, :2], y, covariance="sandwich")
    assert all(0 <= row.robust_error < np.inf for row in rows)
    assert max(row.standard_error for row in rows) > 1e3


class Shifted(TransformerMixin, BaseEstimator):
    """Like TargetEncoder, transforms the rows of its fit in another way than others."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return X.copy()

    def fit_transform(self, X, y=None):
        self.fit(X)
        return X + [[1.0, 0.0], [-1.0, 0.0]] * (len(X) // 2)


def test_a_step_that_transforms_the_rows_of_its_fit_in_another_way():
    pipeline = make_pipeline(Shifted(), fitted()).fit(X, Y)
    with pytest.warns(UserWarning, match=r"not at the optimum.* such as TargetEncoder"):
        coefficient_table(pipeline, X, Y)
    seen = Shifted().fit_transform(X)
    assert len(coefficient_table(pipeline[-1], seen, Y)) == 6


def test_warnings_and_refusals():
    model = fitted()
    with pytest.warns(UserWarning, match=r"The penalty \(C=1\) biases"):
        coefficient_table(SoftmaxClassifier(tol=1e-8).fit(X, Y), X, Y)
    with pytest.warns(UserWarning, match="not at the optimum for these rows"):
        coefficient_table(model, X, np.roll(Y, 7))
    with pytest.warns(UserWarning, match="not at the optimum"):
        coefficient_table(model, X, Y, 1 + 5 * (Y == 0))
    for other, message in (
        (
            LinearClassifier("sparsemax", C=np.inf),
            "positive probabilities, but those of",
        ),
        (
            LinearClassifier("sparsemax", loss="log"),
            "positive probabilities, but those of",
        ),
        (SoftmaxClassifier(similarity="cosine"), "similarity='cosine'"),
        (LogisticRegression(), "a linear classifier of skprob; got LogisticRegression"),
    ):
        other.set_params(max_iter=10_000).fit(X / [1.0, 100.0], Y)
        with pytest.raises(ValueError, match=message):
            coefficient_table(other, X, Y)
    sets = (X > X.mean(axis=0)).astype(int)
    with pytest.raises(ValueError, match="positive probabilities"):
        marginals = SigmoidClassifier(alpha=2.0, C=1.0, threshold=0.5).fit(X, sets)
        coefficient_table(marginals, X, sets)
    for extra in (X[:, :1] * 2, np.ones((300, 1)), np.zeros((300, 1))):
        wide = np.column_stack([X, extra])
        collinear = fitted(wide, Y)
        with pytest.raises(
            ValueError, match="constant or collinear, or classes separable"
        ):
            coefficient_table(collinear, wide, Y)
    for given, message in (
        (
            {"reference": "ship"},
            "reference must be 'first', 'mean' or one of the classes",
        ),
        ({"covariance": "robust"}, "covariance must be one of"),
        ({"level": 1.0}, "level must be between 0 and 1; got 1.0"),
        ({"level": "high"}, "level must be between 0 and 1; got 'high'"),
        ({"offset": np.ones(300)}, r"offset must have a number for each row and class"),
    ):
        with pytest.raises(ValueError, match=message):
            coefficient_table(model, X, Y, **given)
    with pytest.raises(ValueError, match="X must have 2 features, as in fit; got 1"):
        coefficient_table(model, X[:, :1], Y)
    with pytest.raises(ValueError, match="y must have one entry for each of the 300"):
        coefficient_table(model, X, Y[:9])
    with pytest.raises(ValueError, match=r"X must be .* Masked entries were found"):
        coefficient_table(model, np.ma.masked_less(X, 0), Y)
    lazy_X, lazy_Y = da.from_array(X), da.from_array(Y)
    message = "must be in memory here, not a Dask collection; got Array. Give"
    for call in (coefficient_table, marginal_effects):
        with pytest.raises(ValueError, match=rf"X {message} X.compute\(\), of"):
            call(model, lazy_X, lazy_Y)
        with pytest.raises(ValueError, match=rf"y {message} y.compute\(\), of"):
            call(model, X, lazy_Y)


def breast_cancer_errors(model, rows, X, y, second):
    """Standard errors by the inverse Hessian, written out for two classes."""
    used = np.flatnonzero(model.coef_.any(axis=0))
    assert 0 < len(used) < X.shape[1]
    names = [f"x{j}" for j in used]
    assert [row.feature for row in rows] == [*names, "intercept"]
    Z = np.column_stack([X[:, used], np.ones(len(X))])
    p = expit(Z @ np.append(model.coef_[0, used], model.intercept_))
    hessian = (Z.T * (p * (1 - p))) @ Z + np.diag(np.append(second[used], 0))
    return np.sqrt(np.diag(np.linalg.inv(hessian)))


@pytest.mark.parametrize("l1_ratio", [0.4, 1.0])
def test_coefficients_that_a_penalty_selected(l1_ratio):
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    factors = np.linspace(0.5, 2, 30)
    about = {"C": 0.1, "penalty_factors": factors, "tol": 1e-9}
    model = SoftmaxClassifier(l1_ratio=l1_ratio, **about).fit(X, y)
    message = r"l1_ratio=.* selected .* standard errors after a selection are not valid"
    # No other warning: it is at the optimum of this penalty.
    with pytest.warns(UserWarning, match=message) as caught:
        rows = coefficient_table(model, X, y)
    assert len(caught) == 1
    ridge = (1 - l1_ratio) / 0.1 * factors
    expected = breast_cancer_errors(model, rows, X, y, ridge)
    assert_allclose([row.standard_error for row in rows], expected, rtol=1e-6)
    model.C_ /= 2
    with (
        pytest.warns(UserWarning, match=message),
        pytest.warns(UserWarning, match="not at the optimum"),
    ):
        coefficient_table(model, X, y)


def test_features_selected_for_all_classes():
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    about = {"l1_ratio": 0.8, "select": "features", "C": 0.1, "tol": 1e-9}
    model = SoftmaxClassifier(**about).fit(X, y)
    used = np.flatnonzero(model.coef_.any(axis=0))
    assert 0 < len(used) < 4
    with pytest.warns(UserWarning, match="selection are not valid") as caught:
        rows = coefficient_table(model, X, y, reference="mean")
    assert len(caught) == 1
    Z, size = np.column_stack([X[:, used], np.ones(150)]), len(used) + 1
    W = np.column_stack([model.coef_[:, used], model.intercept_])

    def value(theta):
        theta = theta.reshape(W.shape)
        coef, log_p = theta[:, :-1], log_softmax(Z @ theta.T, axis=1)
        penalty = 0.1 * (coef**2).sum() + 0.8 * np.linalg.norm(coef, axis=0).sum()
        return -log_p[np.arange(150), y].sum() + penalty / 0.1

    step = 1e-3 * np.eye(3 * size)
    theta = W.ravel()
    hessian = [
        [
            value(theta + a + b)
            - value(theta + a - b)
            - value(theta - a + b)
            + value(theta - a - b)
            for a in step
        ]
        for b in step
    ]
    # Equal changes of all intercepts change nothing: they are left out.
    across = np.kron(np.eye(3) - 1 / 3, np.eye(size))
    inverse = np.linalg.pinv(across @ np.array(hessian) / 4e-6 @ across, 1e-9)
    expected = np.sqrt(np.diag(inverse))
    assert_allclose([row.standard_error for row in rows], expected, rtol=1e-4)


def test_features_that_factors_leave_out_or_free():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)[:, :6]
    factors = np.array([1, np.inf, 0, 2, 1, 1])
    model = SoftmaxClassifier(C=0.1, penalty_factors=factors, tol=1e-9).fit(X, y)
    with pytest.warns(UserWarning, match="biases") as caught:
        rows = coefficient_table(model, X, y)
    assert len(caught) == 1
    expected = breast_cancer_errors(model, rows, X, y, factors / 0.1)
    assert_allclose([row.standard_error for row in rows], expected, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:The penalty:UserWarning")
def test_columns_in_another_order_than_in_fit():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = SoftmaxClassifier().fit(X, y)
    for call in (coefficient_table, marginal_effects):
        for other in (X[X.columns[::-1]], X.set_axis(list("abcd"), axis=1)):
            with pytest.raises(ValueError, match="feature names should match those"):
                call(model, other, y)


@pytest.mark.filterwarnings("ignore:The penalty:UserWarning")
def test_weights_whose_squares_overflow_or_vanish():
    X, y = load_iris(return_X_y=True)
    for unit in (1e306, 1e-310):
        weight = np.full(150, unit)
        model = SoftmaxClassifier().fit(X, y, weight)
        for call in (coefficient_table, marginal_effects):
            with pytest.raises(ValueError, match=r"sample_weight, .* whose squares"):
                call(model, X, y, weight)
