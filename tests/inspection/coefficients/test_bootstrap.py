"""Standard errors of refits to resampled rows."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import (
    EntmaxClassifierCV,
    LinearClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.inspection import coefficient_table, marginal_effects
from skprob.mappings import NestedSoftmax

RNG = np.random.default_rng(0)
GROUPS = np.repeat(np.arange(60), 4)
X = RNG.normal(size=(60, 2))[GROUPS] + 0.3 * RNG.normal(size=(240, 2))
SCORES = X @ RNG.normal(size=(2, 3)) + RNG.gumbel(size=(60, 3))[GROUPS]
Y = (SCORES + 0.5 * RNG.gumbel(size=(240, 3))).argmax(axis=1)


def table_of(model, X=X, y=Y, *arguments, **given):
    given = {"method": "bootstrap", "random_state": 0, **given}
    return coefficient_table(model, X, y, *arguments, **given)


def errors(rows, name="standard_error"):
    return np.array([getattr(row, name) for row in rows])


def test_errors_are_their_definition():
    """The standard deviation over models that are fitted to copies of rows."""
    frame = pd.DataFrame(X, columns=["price", "time"])
    weight = RNG.uniform(0.5, 2, 240)
    model = make_pipeline(
        StandardScaler().set_output(transform="pandas"),
        SparsemaxClassifier(C=10.0, tol=1e-8),
    ).fit(frame, Y, sparsemaxclassifier__sample_weight=weight)
    features, fitted = model[0].transform(frame), model[1]
    before = fitted.coef_.copy()
    random, refits, effects = np.random.RandomState(0), [], []
    for _ in range(5):
        drawn = random.randint(240, size=240)
        refit = SparsemaxClassifier(C=10.0, tol=1e-8)
        refit.fit(features.iloc[drawn], Y[drawn], weight[drawn])
        coef = np.column_stack([refit.coef_, refit.intercept_])
        refits.append(coef[1:] - coef[0])
        drawn_rows = marginal_effects(
            refit, features.iloc[drawn], sample_weight=weight[drawn]
        )
        effects.append([row.estimate for row in drawn_rows])
    with pytest.warns(UserWarning, match="biases"):
        rows = table_of(model, frame, Y, weight, n_bootstrap=5)
    expected = np.std(refits, axis=0, ddof=1).ravel()
    for name in ("standard_error", "robust_error"):
        assert_allclose(errors(rows, name), expected, rtol=1e-3)
    assert [row.feature for row in rows] == ["price", "time", "intercept"] * 2
    assert rows[0].z == rows[0].estimate / rows[0].standard_error
    assert_array_equal(fitted.coef_, before)

    with pytest.warns(UserWarning, match="biases"):
        rows = marginal_effects(
            *(model, frame, Y, weight),
            method="bootstrap",
            n_bootstrap=5,
            random_state=0,
        )
    assert_allclose(errors(rows), np.std(effects, axis=0, ddof=1), rtol=1e-3)


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_it_agrees_with_the_sandwich(groups):
    model = SoftmaxClassifier(C=np.inf, tol=1e-6).fit(X, Y)
    rows = table_of(model, groups=groups, n_bootstrap=60)
    sandwich = errors(coefficient_table(model, X, Y, groups=groups), "robust_error")
    # 60 refits give a standard deviation to 9 %.
    assert_allclose(errors(rows), sandwich, rtol=0.35)
    few = [
        table_of(model, groups=groups, n_bootstrap=3, random_state=seed)
        for seed in (0, 0, 1)
    ]
    assert few[0] == few[1] != few[2]


def test_refits_that_fail_are_counted():
    """A class of three rows is absent from some samples."""
    y = np.where(np.arange(240) % 80 == 0, 2, np.minimum(Y, 1))
    model = SoftmaxClassifier(C=np.inf, tol=1e-6).fit(X, y)
    with pytest.warns(UserWarning, match=r"of the 40 refits .*class 2 is in none"):
        rows = table_of(model, y=y, n_bootstrap=40)
    assert np.isfinite(errors(rows)).all()
    model = SoftmaxClassifier(C=np.inf, tol=1e-6).fit(X, Y)
    # It is at the optimum of these rows, but not at those of others.
    model.set_params(max_iter=0, warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match=r"20 of the 20 refits .*did not converge"):
        table_of(model, n_bootstrap=20)


def test_further_arguments_of_fit():
    available = RNG.random((240, 3)) < 0.7
    available[np.arange(240), Y] = True
    given = {"available": available, "offset": RNG.normal(size=(240, 3))}
    model = SoftmaxClassifier(C=np.inf, tol=1e-8).fit(X, Y, **given)
    sandwich = coefficient_table(model, X, Y, covariance="sandwich", **given)
    rows = table_of(model, n_bootstrap=40, **given)
    assert_allclose(errors(rows), errors(sandwich, "robust_error"), rtol=0.4)


@pytest.mark.parametrize(
    "model",
    [
        LinearClassifier("sparsemax", l1_ratio=1.0, C=0.1),
        LinearClassifier(NestedSoftmax([[0, 1]], learn_noise=True)),
        EntmaxClassifierCV([1.5], [1.0], cv=2),
        LinearClassifier("sigmoid", threshold="example_f1"),
    ],
    ids=["lasso", "learnt noise", "search", "label sets"],
)
def test_every_kind_of_model_is_refitted(model):
    y = np.eye(3, dtype=int)[Y] if model.get_params().get("mapping") == "sigmoid" else Y
    model.fit(X, y)
    with pytest.warns(UserWarning, match="The penalty"):
        rows = table_of(model, y=y, n_bootstrap=3)
    assert all(np.isfinite(row.estimate) and row.standard_error >= 0 for row in rows)
    assert max(errors(rows)) > 0.01


def test_effects_are_of_rows_with_a_label():
    sets = np.eye(3, dtype=int)[Y]
    sets[X[:, 0] > 0.5] = 0
    has_label = sets.any(axis=1)
    model = LinearClassifier("sparsemax", none_class=False, threshold=0.5)
    with pytest.warns(UserWarning, match="no label"):
        model.fit(X, sets)
    with pytest.warns(UserWarning, match="The penalty"):
        rows = marginal_effects(model, X, sets, method="bootstrap", n_bootstrap=2)
    expected, of_all_rows = (
        errors(marginal_effects(model, part), "estimate") for part in (X[has_label], X)
    )
    assert_allclose(errors(rows, "estimate"), expected)
    assert np.abs(of_all_rows - expected).max() > 1e-3


def test_bad_arguments_are_refused():
    model = SoftmaxClassifier(C=np.inf).fit(X, Y)
    for given, message in (
        ({"n_bootstrap": 1}, "n_bootstrap must be an integer, 2 or more; got 1"),
        ({"n_bootstrap": 10.0}, r"n_bootstrap must be an integer, 2 or more; got 10\."),
        ({"covariance": "hessian"}, "covariance must be 'auto' with method="),
        ({"groups": GROUPS[:3]}, "groups must be one label"),
        ({"method": "bootstrp"}, "Did you mean 'bootstrap'"),
    ):
        with pytest.raises(ValueError, match=message):
            table_of(model, **given)
