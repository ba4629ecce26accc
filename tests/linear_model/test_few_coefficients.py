"""Penalties that make coefficients, or whole features, exactly zero."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import log_softmax, softmax
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    make_classification,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from skprob import (
    EntmaxClassifier,
    LinearClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
    TaylorSoftmaxClassifier,
)
from skprob.linear_model import smallest_C

from ..versions import elastic_net

TIGHT = {"tol": 1e-9, "max_iter": 500}


def digits(n_rows=400):
    X, y = load_digits(return_X_y=True)
    return X[:n_rows] / 16, y[:n_rows]


@pytest.mark.parametrize("l1_ratio", [0.3, 0.9])
def test_as_logistic_regression(l1_ratio):
    X, y = digits(100)
    theirs = elastic_net(C=0.3, l1_ratio=l1_ratio).fit(X, y)
    model = SoftmaxClassifier(C=0.3, l1_ratio=l1_ratio, **TIGHT).fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-6)
    assert 0 < np.count_nonzero(model.coef_) < 0.6 * model.coef_.size
    assert not model.coef_[abs(theirs.coef_) < 1e-12].any()


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_two_classes_have_one_row(l1_ratio):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = scale(X)[::3, :10], y[::3]
    theirs = elastic_net(C=0.2, l1_ratio=l1_ratio).fit(X, y)
    for select in ("coefficients", "features"):
        model = SoftmaxClassifier(C=0.2, l1_ratio=l1_ratio, select=select, **TIGHT)
        model.fit(X, y)
        assert model.coef_.shape == (1, 10)
        np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-5, err_msg=select)
        np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=1e-5)


def proximal_gradient(X, y, strength, l1_ratio, factors, by_feature, n_steps=60_000):
    """The optimum for softmax by accelerated steps, without standardised features."""
    n_rows, n_features = X.shape
    target = np.eye(y.max() + 1)[y]
    Z = np.column_stack([X, np.ones(n_rows)])
    length = 1 / (np.linalg.norm(Z, 2) ** 2 / (2 * n_rows) + strength * factors.max())
    ridge = np.append((1 - l1_ratio) * strength * factors, 0)
    lasso = np.append(l1_ratio * strength * factors, 0)
    W = before = np.zeros((target.shape[1], n_features + 1))
    t = 1.0
    for _ in range(n_steps):
        after = (1 + np.sqrt(1 + 4 * t * t)) / 2
        V, t = W + (t - 1) / after * (W - before), after
        before = W
        gradient = (softmax(Z @ V.T, axis=1) - target).T @ Z / n_rows + ridge * V
        U = V - length * gradient
        size = np.linalg.norm(U, axis=0) if by_feature else abs(U)
        kept = np.maximum(size - length * lasso, 0) / np.where(size > 0, size, 1)
        W = kept * U
        if abs(W - before).max() < 1e-15:
            break
        if np.vdot(V - W, W - before) > 0:
            t = 1.0
    loss = -(log_softmax(Z @ W.T, axis=1) * target).sum(axis=1).mean()
    sizes = np.linalg.norm(W, axis=0) if by_feature else abs(W).sum(axis=0)
    value = loss + (ridge * W**2).sum() / 2 + lasso @ sizes
    return W[:, :-1], value


@pytest.mark.parametrize("by_feature", [False, True])
@pytest.mark.parametrize("l1_ratio", [0.6, 1.0])
def test_as_proximal_gradient(by_feature, l1_ratio):
    X, y = load_iris(return_X_y=True)
    # Units that differ: the penalty is that of the coefficients of these.
    X = scale(X) * [1, 2, 0.5, 1] + [0, 1, 0, -1]
    factors = np.array([1.0, 0.5, 2.0, 1.0])
    expected, value = proximal_gradient(
        X, y, 1 / (0.4 * len(y)), l1_ratio, factors, by_feature, 20_000
    )
    model = SoftmaxClassifier(
        C=0.4,
        l1_ratio=l1_ratio,
        select="features" if by_feature else "coefficients",
        penalty_factors=factors,
        **TIGHT,
    ).fit(X, y)
    assert model.objective_ == pytest.approx(value, abs=1e-10)
    if l1_ratio < 1:
        np.testing.assert_allclose(model.coef_, expected, atol=1e-6)
    if by_feature:
        used = model.coef_.any(axis=0)
        assert model.coef_[:, used].all()


@pytest.mark.parametrize(
    ("dtype", "unit", "C", "by_feature"),
    [
        (np.float64, 1e7, 1.0, True),
        (np.float64, 1e10, 0.3, False),
        (np.float32, 1e3, 1e3, False),
        (np.float32, 1e3, 1e3, True),
    ],
)
def test_large_units(dtype, unit, C, by_feature):
    """The penalty of large numbers is less than the rounding errors of a gradient."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 4)).astype(dtype)
    y = (X[:, :2] @ rng.normal(size=(2, 3)) + rng.gumbel(size=(1000, 3))).argmax(axis=1)
    units = np.array([1, unit, 1, unit], dtype=dtype)
    # A lasso of a feature in these units has a factor of one over the unit.
    Z = (X * units).astype(float) / units
    _, value = proximal_gradient(Z, y, 1 / (C * 1000), 1.0, 1 / units, by_feature, 1000)
    select = "features" if by_feature else "coefficients"
    # Warnings are errors: each fit reports success.
    model = SoftmaxClassifier(C=C, l1_ratio=1.0, select=select).fit(X * units, y)
    assert model.objective_ == pytest.approx(value, rel=1e-6)


CONVEX = [
    SoftmaxClassifier(),
    SparsemaxClassifier(C=1.0),
    EntmaxClassifier(1.5, C=1.0),
    SigmoidClassifier(),
    SoftmaxClassifier(margin=0.5),
]


def subgradient(model, X, y, by_feature):
    """The largest violation of the optimality conditions, in units of the lasso."""
    n_rows = len(X)
    gradient = model.loss_.value_and_gradient(
        X @ model.coef_.T + model.intercept_, np.eye(len(model.classes_))[y]
    )[1]
    strength = 1 / (model.C_ * n_rows)
    lasso, ridge = model.l1_ratio * strength, (1 - model.l1_ratio) * strength
    W = model.coef_
    smooth = gradient.T @ X / n_rows + ridge * W
    if by_feature:
        size = np.linalg.norm(W, axis=0)
        inside = np.maximum(np.linalg.norm(smooth, axis=0) - lasso, 0)
        on = np.abs(smooth + lasso * W / np.where(size > 0, size, 1)).max(axis=0)
        violation = np.where(size > 0, on, inside)
    else:
        on = np.abs(smooth + lasso * np.sign(W))
        violation = np.where(W != 0, on, np.maximum(np.abs(smooth) - lasso, 0))
    assert abs(gradient.mean(axis=0)).max() < 1e-6
    return violation.max() / lasso


@pytest.mark.parametrize(
    ("model", "select"),
    [
        (CONVEX[0], "coefficients"),
        *zip(CONVEX, ["features", "coefficients"] * 2 + ["features"], strict=True),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_optimality_conditions(model, select):
    X, y = digits(300)
    model = type(model)(**model.get_params())
    model.set_params(l1_ratio=0.7, select=select, tol=1e-8)
    model.fit(X, y)
    assert 0 < np.count_nonzero(model.coef_) < model.coef_.size
    assert subgradient(model, X, y, select == "features") < 1e-4


@pytest.mark.parametrize("select", ["coefficients", "features"])
def test_curvature_without_bound_is_computed_where_it_costs_little(select):
    """With single coefficients L-BFGS takes more than 1,000 iterations."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 30)), rng.integers(0, 3, 60)
    model = EntmaxClassifier(5, l1_ratio=1.0, select=select, tol=1e-8, max_iter=300)
    model.set_params(C=100 * smallest_C(model, X, y)).fit(X, y)
    assert model.n_iter_ < 300
    assert model.solver_ == "proximal-newton"
    assert subgradient(model, X, y, select == "features") < 1e-7


def test_a_loss_that_is_not_convex_ends_at_a_local_minimum():
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    model = LinearClassifier(
        "softmax", loss="accuracy", l1_ratio=0.8, C=1.0, tol=1e-6, max_iter=2000
    ).fit(X, y)
    assert model.solver_ == "proximal-lbfgs"
    assert model.duality_gap_ == np.inf
    assert 0 < np.count_nonzero(model.coef_) < model.coef_.size
    assert subgradient(model, X, y, False) < 1e-2


def test_taylor_softmax_by_lbfgs():
    X, y = load_iris(return_X_y=True)
    model = TaylorSoftmaxClassifier(l1_ratio=0.8, tol=1e-6).fit(scale(X), y)
    assert 0 < np.count_nonzero(model.coef_) < model.coef_.size
    assert subgradient(model, scale(X), y, False) < 1e-2


@pytest.mark.parametrize(
    ("solver", "select"),
    [
        ("lbfgs", "coefficients"),
        ("lbfgs", "features"),
        ("newton-cg", "features"),
        ("newton-cholesky", "coefficients"),
    ],
)
def test_solvers_agree(solver, select):
    X, y = digits(300)
    about = {"l1_ratio": 0.8, "select": select, "C": 0.5, **TIGHT}
    expected = SoftmaxClassifier(**about).fit(X, y)
    model = SoftmaxClassifier(solver=solver, **about).set_params(tol=1e-7).fit(X, y)
    assert model.solver_ == f"proximal-{'lbfgs' if solver == 'lbfgs' else 'newton'}"
    assert model.objective_ == pytest.approx(expected.objective_, abs=1e-9)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-4)


def test_without_it_the_fit_is_the_same_bit_for_bit():
    X, y = digits(200)
    plain = SparsemaxClassifier().fit(X, y)
    other = SparsemaxClassifier(
        l1_ratio=0.0, select="features", penalty_factors=np.ones(64)
    ).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, other.coef_)
    np.testing.assert_array_equal(plain.intercept_, other.intercept_)
    assert plain.solver_ == other.solver_


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_factors_are_multiples_of_the_penalty(l1_ratio):
    # A factor f has the effect of a feature that is multiplied by 1/√f for a ridge, and
    # by 1/f for a lasso.
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)[:, :8]
    factors = np.array([1, 4, 0.25, 1, 1, 9, 1, 2.0])
    model = SoftmaxClassifier(
        C=0.2, l1_ratio=l1_ratio, penalty_factors=factors, **TIGHT
    ).fit(X, y)
    if l1_ratio == 0.5:
        assert subgradient_of_factors(model, X, y, factors) < 1e-8
        return
    unit = factors if l1_ratio == 1 else np.sqrt(factors)
    scaled = SoftmaxClassifier(C=0.2, l1_ratio=l1_ratio, **TIGHT).fit(X / unit, y)
    np.testing.assert_allclose(model.coef_, scaled.coef_ / unit, atol=1e-7)


def subgradient_of_factors(model, X, y, factors):
    p = model.predict_proba(X)[:, 1]
    lasso = ridge = 0.5 * factors / (model.C_ * len(X))
    (w,) = model.coef_
    smooth = (p - y) @ X / len(X) + ridge * w
    on = abs(smooth + lasso * np.sign(w))
    return np.where(w != 0, on, np.maximum(abs(smooth) - lasso, 0)).max()


@pytest.mark.parametrize("l1_ratio", [0.0, 0.7])
def test_free_features_and_features_left_out(l1_ratio):
    X, y = load_iris(return_X_y=True)
    factors = [0.0, 1.0, np.inf, 1.0]
    model = SoftmaxClassifier(
        C=1e-6, l1_ratio=l1_ratio, penalty_factors=factors, **TIGHT
    ).fit(X, y)
    # Under so strong a penalty only the free feature is left.
    alone = SoftmaxClassifier(C=np.inf, **TIGHT).fit(X[:, :1], y)
    np.testing.assert_allclose(model.coef_[:, :1], alone.coef_, atol=2e-3)
    assert not model.coef_[:, 2].any()
    assert model.coef_.shape == (3, 4)
    without = SoftmaxClassifier(
        C=1.0, l1_ratio=l1_ratio, penalty_factors=[1, 1, np.inf, 1], **TIGHT
    ).fit(X, y)
    fewer = SoftmaxClassifier(C=1.0, l1_ratio=l1_ratio, **TIGHT)
    fewer.fit(X[:, [0, 1, 3]], y)
    np.testing.assert_allclose(without.coef_[:, [0, 1, 3]], fewer.coef_, atol=1e-7)
    assert not without.coef_[:, 2].any()


@pytest.mark.parametrize("by_feature", [False, True])
def test_a_free_feature_leaves_the_others_few_coefficients(by_feature):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    y = (X[:, :2] @ rng.normal(size=(2, 3)) + rng.gumbel(size=(80, 3))).argmax(axis=1)
    factors = np.array([0.0, 1.0, 1.0, 1.0, np.inf])
    coef, value = proximal_gradient(
        X[:, :4], y, 1 / (0.2 * len(y)), 1.0, factors[:4], by_feature, 5000
    )
    select = "features" if by_feature else "coefficients"
    model = SoftmaxClassifier(
        C=0.2, l1_ratio=1.0, select=select, penalty_factors=factors, **TIGHT
    ).fit(X, y)
    assert model.objective_ == pytest.approx(value, abs=1e-10)
    # The same added to the free coefficients of all classes changes nothing.
    coef[:, 0] -= coef[:, 0].mean()
    np.testing.assert_allclose(model.coef_[:, :4], coef, atol=1e-6)
    assert not model.coef_[:, :4][coef == 0].any()
    assert 0 < np.count_nonzero(coef[:, 1:]) < coef[:, 1:].size


def test_factors_by_name():
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    about = {"l1_ratio": 0.5, "C": 0.1}
    by_name = SoftmaxClassifier(penalty_factors={"c": 3, "a": np.inf}, **about)
    array = SoftmaxClassifier(penalty_factors=[np.inf, 1, 3, 1], **about)
    by_name.fit(frame, y)
    np.testing.assert_allclose(by_name.coef_, array.fit(X, y).coef_, atol=1e-12)
    # Label sets are fitted to folds without names, too.
    Y = np.eye(3, dtype=int)[y]
    by_name.set_params(threshold="micro").fit(frame, Y)
    array.set_params(threshold="micro").fit(X, Y)
    np.testing.assert_array_equal(by_name.predict(frame), array.predict(X))


def test_factors_in_a_series_are_matched_by_name():
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    array = SoftmaxClassifier(penalty_factors=[np.inf, 1, 3, 0.5], C=0.1).fit(X, y)
    for index in "cdba", "cda":  # A name that is missing has the factor 1.
        factors = pandas.Series({"a": np.inf, "b": 1, "c": 3, "d": 0.5})[list(index)]
        model = SoftmaxClassifier(penalty_factors=factors, C=0.1).fit(frame, y)
        np.testing.assert_allclose(model.coef_, array.coef_, atol=1e-12)
    # Where there are no names to match, by position.
    factors = pandas.Series([np.inf, 1, 3, 0.5], index=[3, 2, 1, 0])
    for X_or_frame, given in (
        (frame, factors),
        (X, factors),
        (X, factors.set_axis(list("dcba"))),
    ):
        model = SoftmaxClassifier(penalty_factors=given, C=0.1).fit(X_or_frame, y)
        np.testing.assert_allclose(model.coef_, array.coef_, atol=1e-12)
    for wrong, message in (
        (pandas.Series([1, 2], index=["a", "a"]), "each name once"),
        (pandas.Series([1, 2], index=["a", "e"]), r"names \['e'\], which are not"),
        ({"c": "x"}, r"must be real numbers.*got \{'c': 'x'\}"),
        ({"c": -1}, "negative or NaN; that of feature 'c' is -1"),
    ):
        with pytest.raises(ValueError, match=message):
            SoftmaxClassifier(penalty_factors=wrong).fit(frame, y)


def test_free_features_that_separate_the_classes():
    """No penalty of the others has an optimum then, and the warning says what has."""
    X, y = load_iris(return_X_y=True)
    for l1_ratio in 0, 0.5:
        model = SoftmaxClassifier(l1_ratio=l1_ratio, penalty_factors=[1, 1, 0, 1])
        with pytest.warns(ConvergenceWarning, match="no optimum.*") as caught:
            model.fit(X[:100], y[:100])
        (warning,) = caught
        text = "Give all features a positive penalty factor."
        assert str(warning.message).endswith(text)
        assert model.score(X[:100], y[:100]) == 1
        model.set_params(C=np.inf)
        with pytest.warns(ConvergenceWarning, match="Lower C"):
            model.fit(X[:100], y[:100])


def test_so_strong_that_all_is_zero():
    X, y = load_iris(return_X_y=True)
    model = SoftmaxClassifier(C=1e-4, l1_ratio=0.9).fit(X, y)
    assert not model.coef_.any()
    np.testing.assert_allclose(model.predict_proba(X), 1 / 3, atol=1e-6)
    assert model.duality_gap_ < 1e-12


def test_without_a_penalty_the_ratio_has_no_effect():
    X, y = load_iris(return_X_y=True)
    about = {"C": np.inf, "tol": 1e-6}
    plain = SparsemaxClassifier(**about).fit(X, y)
    model = SparsemaxClassifier(l1_ratio=0.5, **about).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, model.coef_)


def test_a_constant_feature_is_left_out():
    X, y = load_iris(return_X_y=True)
    X = np.insert(X, 2, 3.0, axis=1)
    for select in "coefficients", "features":
        model = SoftmaxClassifier(l1_ratio=0.5, select=select).fit(X, y)
        assert not model.coef_[:, 2].any()


@pytest.mark.parametrize("n_features", [40, 1200])
def test_csr_float32_and_fewer_columns(n_features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, n_features)) * (rng.random((200, n_features)) < 0.2)
    y = (X[:, :5] @ rng.normal(size=(5, 3)) + rng.gumbel(size=(200, 3))).argmax(1)
    about = {"l1_ratio": 0.9, "C": 0.3, "tol": 1e-7}
    dense = SoftmaxClassifier(**about).fit(X, y)
    csr = SoftmaxClassifier(**about).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(csr.coef_, dense.coef_, atol=1e-5)
    assert subgradient(dense, X, y, False) < 1e-3
    single = SoftmaxClassifier(**about).set_params(tol=1e-4)
    single.fit(X.astype(np.float32), y)
    assert single.coef_.dtype == np.float32
    np.testing.assert_allclose(single.coef_, dense.coef_, atol=5e-3)
    assert 0 < np.count_nonzero(dense.coef_) < 0.3 * dense.coef_.size


def test_warm_start_takes_no_more_iterations():
    X, y = digits()
    model = SoftmaxClassifier(l1_ratio=0.9, C=0.3, warm_start=True, tol=1e-6)
    first = model.fit(X, y).n_iter_
    assert model.fit(X, y).n_iter_ < first
    assert model.set_params(C=0.31).fit(X, y).n_iter_ <= first


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"l1_ratio": 1.5}, "l1_ratio"),
        ({"l1_ratio": -0.1}, "l1_ratio"),
        ({"select": "rows"}, "select"),
        ({"penalty_factors": [1, 1, 1]}, "one number for each feature of X, 4"),
        ({"penalty_factors": [1, -1, 1, 1]}, "negative or NaN; that of feature 1"),
        ({"penalty_factors": [1, np.nan, 1, 1]}, "negative or NaN"),
        ({"penalty_factors": [np.inf] * 4}, "all are infinite"),
        ({"penalty_factors": {"a": 1}}, "a dict only where the columns of X have"),
        ({"penalty_factors": ["a", 1, 1, 1]}, "must be real numbers"),
        ({"similarity": "cosine", "l1_ratio": 0.5}, "similarity='cosine' has no pen"),
        (
            {"similarity": "cosine", "penalty_factors": [1, 1, 1, 2]},
            "similarity='cosine' has no penalty",
        ),
    ],
)
def test_bad_input_is_refused(change, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        LinearClassifier("softmax", **change).fit(X, y)


def test_names_that_X_lacks_are_refused():
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    model = SoftmaxClassifier(penalty_factors={"a": 1, "e": 2})
    with pytest.raises(ValueError, match=r"names \['e'\], which are not columns"):
        model.fit(frame, y)


@pytest.mark.parametrize(
    ("alpha", "l1_ratio", "select"),
    [
        (1, 0.4, "coefficients"),
        (1, 1.0, "features"),
        (1.5, 0.4, "features"),
        (1.5, 1.0, "coefficients"),
        (2, 0.4, "coefficients"),
        (2, 1.0, "features"),
    ],
)
def test_the_duality_gap_is_never_below_the_true_gap(l1_ratio, select, alpha):
    X, y = digits(200)
    about = {"l1_ratio": l1_ratio, "select": select, "C": 0.5}
    best = EntmaxClassifier(alpha, tol=1e-8, max_iter=300, **about).fit(X, y)
    assert best.duality_gap_ < 1e-6
    model = EntmaxClassifier(alpha, max_iter=1, warm_start=True, **about)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    rng = np.random.default_rng(0)
    for size in 1.0, 1e-2, 1e-4, 0.0:
        noise = size * rng.normal(size=best.coef_.shape)
        coef = np.where(rng.random(noise.shape) < 0.5, best.coef_ + noise, best.coef_)
        model.set_params(max_iter=0)
        model.coef_, model.intercept_ = coef, best.intercept_ + size
        model.fit(X, y) if size == 0 else fitted_with_a_warning(model, X, y)
        true_gap = model.objective_ - best.objective_
        assert model.duality_gap_ >= true_gap - 1e-12
        if l1_ratio < 1:
            assert model.duality_gap_ <= max(1e3 * true_gap, 1e-6)


def fitted_with_a_warning(model, X, y):
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)


def test_lbfgs_steps_on_few_features_and_then_on_all():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 260))
    y = (X[:, :100] @ rng.normal(size=(100, 3))).argmax(axis=1)
    about = {"C": 0.5, "l1_ratio": 0.1, "tol": 1e-6}
    model = SoftmaxClassifier(solver="lbfgs", **about).fit(X, y)
    assert model.coef_.any(axis=0).sum() > 200
    assert subgradient(model, X, y, False) < 1e-2


@pytest.mark.parametrize("select", ["coefficients", "features"])
def test_many_rows_are_at_the_minimum(select):
    """Where the first Hessians are those of some rows: by the smallest subgradient."""
    rng = np.random.default_rng(0)
    n, d, n_classes = 6000, 25, 6
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) / 4
    raw = X @ (rng.normal(size=(d, n_classes)) * (rng.random((d, n_classes)) < 0.4))
    y = (raw + rng.gumbel(size=raw.shape)).argmax(axis=1)
    model = SoftmaxClassifier(C=0.05, l1_ratio=0.8, select=select, tol=1e-7).fit(X, y)
    assert subgradient(model, X, y, select == "features") < 1e-4
    assert 0 < np.count_nonzero(model.coef_) < model.coef_.size


@pytest.mark.parametrize("select", ["coefficients", "features"])
def test_exact_zeros_and_more_features_than_rows(select):
    """Stronger penalties first, without which it would take hundreds of steps."""
    X, y = make_classification(
        40, 50, n_informative=10, n_classes=4, random_state=0, shuffle=False
    )
    X = scale(X)
    about = {"l1_ratio": 0.9, "C": 20.0, "select": select}
    model = SparsemaxClassifier(tol=1e-6, **about).fit(X, y)
    n_stronger = np.count_nonzero(model.history_["stage"] == "stronger penalty")
    assert 0 < n_stronger < model.n_iter_ <= 200
    np.testing.assert_array_equal(
        model.history_["iteration"], np.arange(model.n_iter_ + 1)
    )
    objectives = model.history_["objective"]
    # Each penalty is lower than the one before.
    assert (np.diff(objectives) <= 1e-12).all()
    if select == "coefficients":
        # The proximal quasi-Newton method begins under the penalty itself.
        other = SparsemaxClassifier(solver="lbfgs", tol=1e-6, max_iter=5000, **about)
        other.fit(X, y)
        assert (other.history_["stage"] == "final").all()
        assert model.objective_ == pytest.approx(other.objective_, rel=1e-4)
        assert model.objective_ <= other.objective_ + model.duality_gap_
    assert model.duality_gap_ <= 1e-4 * model.objective_
    # The next fit begins where this one ended.
    model.set_params(warm_start=True).fit(X, y)
    assert (model.history_["stage"] == "final").all()
    assert model.n_iter_ <= 3


def test_an_easier_loss_begins_under_the_penalty_itself():
    X, y = make_classification(40, 30, n_informative=8, n_classes=3, random_state=0)
    about = {"loss": "accuracy", "l1_ratio": 0.9, "C": 100.0, "max_iter": 20}
    model = LinearClassifier("sparsemax", **about)
    fitted_with_a_warning(model, X, y)
    stages = model.history_["stage"]
    assert set(stages) == {"easier loss", "final"}
    np.testing.assert_array_equal(
        np.isnan(model.history_["objective"]), stages == "easier loss"
    )
