"""Standard errors of rows in correlated groups."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skprob import LinearClassifier, SoftmaxClassifier
from skprob.inspection import coefficient_table

RNG = np.random.default_rng(0)
GROUPS = np.sort(RNG.integers(30, size=300))
X = RNG.normal(size=(300, 2)) + RNG.normal(size=(30, 2))[GROUPS]
SCORES = X @ RNG.normal(size=(2, 3)) + RNG.gumbel(size=(300, 3))
Y = (SCORES + 2 * RNG.normal(size=(30, 3))[GROUPS]).argmax(axis=1)


def errors(model, *arguments, X=X, **given):
    rows = coefficient_table(model, X, *arguments, **given)
    return np.array([row.robust_error for row in rows])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_errors_are_those_of_statsmodels(n_classes):
    sm = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed")
    y = np.minimum(Y, n_classes - 1)
    expected = sm.MNLogit(y, sm.add_constant(X)).fit(
        method="newton",
        disp=0,
        tol=1e-12,
        cov_type="cluster",
        cov_kwds={"groups": GROUPS},
    )
    model = SoftmaxClassifier(C=np.inf, tol=1e-9).fit(X, y)
    rows = coefficient_table(model, X, y, groups=GROUPS)
    for name, theirs in (
        ("robust_error", expected.bse),
        ("z", expected.tvalues),
        ("p_value", expected.pvalues),
    ):
        theirs = np.roll(np.asarray(theirs), -1, axis=0).T.ravel()
        assert_allclose([getattr(row, name) for row in rows], theirs, atol=1e-6)


def test_errors_are_their_definition():
    """Weights and penalty included: sums of the rows' gradients in each group."""
    weight = RNG.uniform(0.5, 2, 300)
    weight[:20] = 0
    model = SoftmaxClassifier(C=2.0, tol=1e-9).fit(X, Y, weight)
    with pytest.warns(UserWarning, match="biases"):
        computed = errors(model, Y, weight, groups=GROUPS, reference="mean")
    Z, p = np.column_stack([X, np.ones(300)]), model.predict_proba(X)
    residual = weight[:, None] * (p - np.eye(3)[Y])
    each = (residual[:, :, None] * Z[:, None, :]).reshape(300, 9)
    sums = np.array([each[GROUPS == g].sum(axis=0) for g in range(30)])
    H = np.diag(np.tile([0.5, 0.5, 0.0], 3))
    for z, q, w in zip(Z, p, weight, strict=True):
        H += w * np.kron(np.diag(q) - np.outer(q, q), np.outer(z, z))
    n_groups = len(np.unique(GROUPS[20:]))
    # Coefficients of two classes are free: the third are minus their sum.
    factor = n_groups / (n_groups - 1) * (280 - 1) / (280 - 6)
    root = np.kron(np.eye(3) - 1 / 3, np.eye(3)) @ np.linalg.pinv(H, rcond=1e-9)
    expected = np.sqrt(factor * np.diag(root @ sums.T @ sums @ root.T))
    assert_allclose(computed, expected, rtol=1e-6)


def test_names_of_groups():
    """They may be text, in any order; rows without a label belong to none."""
    model = SoftmaxClassifier(C=np.inf, tol=1e-8).fit(X, Y)
    expected = errors(model, Y, groups=GROUPS)
    names = pd.Series([f"school {29 - g}" for g in GROUPS])
    order = RNG.permutation(300)
    assert_allclose(errors(model, Y, groups=names), expected)
    shuffled = errors(model, Y[order], X=X[order], groups=names[order].to_numpy())
    assert_allclose(shuffled, expected)
    assert_allclose(errors(model, Y, X=sparse.csr_array(X), groups=names), expected)

    sets = np.eye(3, dtype=int)[Y]
    sets[::5] = 0
    model = LinearClassifier(C=np.inf, none_class=False, tol=1e-8)
    with pytest.warns(UserWarning, match="no label"):
        model.fit(X, sets)
    some = np.arange(300) % 5 > 0
    assert_allclose(
        errors(model, sets, groups=GROUPS),
        errors(model, sets[some], X=X[some], groups=GROUPS[some]),
    )


def test_z_is_in_units_of_the_error_of_groups():
    model = SoftmaxClassifier(C=np.inf, tol=1e-8).fit(X, Y)
    plain = coefficient_table(model, X, Y)[0]
    grouped = coefficient_table(model, X, Y, groups=GROUPS)[0]
    assert grouped.z == grouped.estimate / grouped.robust_error
    assert plain.z == plain.estimate / plain.standard_error
    assert grouped.robust_error > 1.2 * plain.robust_error
    asked = coefficient_table(model, X, Y, groups=GROUPS, covariance="hessian")[0]
    assert asked == plain._replace(robust_error=grouped.robust_error)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (GROUPS[:9], r"one label for each of the 300 rows; got shape \(9,\)"),
        (np.zeros(300), r"at least two groups; got \[0.0\]"),
        (np.where(GROUPS == 3, np.nan, GROUPS), "without missing values; row"),
        (np.array([*GROUPS[1:], "a"], dtype=object), r"one type, .*\['int64', 'str'\]"),
        (np.array([*GROUPS[1:], None], dtype=object), r"one type, .*'NoneType'"),
        (np.array([*GROUPS[1:], pd.NA], dtype=object), r"one type, .*'NAType'"),
    ],
)
def test_bad_groups_are_refused(groups, message):
    model = SoftmaxClassifier(C=np.inf).fit(X, Y)
    with pytest.raises(ValueError, match=f"groups must .*{message}"):
        coefficient_table(model, X, Y, groups=groups)


def test_too_few_groups_with_a_weight():
    weight = (GROUPS == 0).astype(float)
    model = SoftmaxClassifier(C=1.0).fit(X, Y)
    with (
        pytest.raises(ValueError, match=r"two groups .* got 1 group\(s\)"),
        pytest.warns(UserWarning, match="biases the coefficients"),
    ):
        coefficient_table(model, X, Y, weight, groups=GROUPS)
