"""smallest_C is the largest C at which all penalised coefficients are zero."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

from skprob import (
    AMSoftmaxClassifier,
    EntmaxClassifier,
    EntmaxClassifierCV,
    LinearClassifier,
    PerturbMaxClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
    SparseSoftmaxClassifier,
    TaylorSoftmaxClassifier,
)
from skprob.linear_model import smallest_C
from skprob.mappings import NormalizedMapping

from ..versions import elastic_net

TOL = 1e-8


def even(scores):
    """No probabilities where all scores are zero."""
    return scores**2 + scores**4


def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


def closed_form(X, target, weight, l1_ratio, by_feature):
    """From the weighted shares of the classes, without offsets and free features."""
    mean = weight @ target / weight.sum()
    gradient = ((mean - target) * weight[:, None]).T @ X
    sizes = np.sqrt((gradient**2).sum(axis=0)) if by_feature else abs(gradient).max(0)
    return l1_ratio / sizes.max()


@pytest.mark.parametrize(
    ("model", "select"),
    [
        (SoftmaxClassifier(), "coefficients"),
        (SparsemaxClassifier(), "features"),
        (EntmaxClassifier(1.5, temperature=2.0), "coefficients"),
        (PerturbMaxClassifier("normal"), "features"),
        (TaylorSoftmaxClassifier(), "coefficients"),
        (SparseSoftmaxClassifier(), "features"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_all_mappings_have_the_same(model, select):
    X, y = wine()
    X = 10 * X + 3
    weight = np.random.default_rng(0).exponential(size=len(y))
    expected = closed_form(X, np.eye(3)[y], weight, 0.6, select == "features")
    model = clone(model).set_params(l1_ratio=0.6, select=select)
    assert smallest_C(model, X, y, weight) == pytest.approx(expected, rel=2e-8)


def test_shares_label_sets_and_balanced_classes():
    X, y = wine()
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(4), len(y))
    expected = closed_form(X, shares, np.ones(len(y)), 1.0, False)
    model = SparsemaxClassifier(l1_ratio=1)
    assert smallest_C(model, X, shares) == pytest.approx(expected, rel=2e-9)
    sets = (rng.random((len(y), 3)) < 0.4).astype(int)
    expected = closed_form(X, sets, np.ones(len(y)), 1.0, True)
    model = SigmoidClassifier(l1_ratio=1, select="features")
    assert smallest_C(model, X, sets) == pytest.approx(expected, rel=2e-9)
    weight = (len(y) / (3 * np.bincount(y)))[y]
    expected = closed_form(X, np.eye(3)[y], weight, 1.0, False)
    model = EntmaxClassifier(l1_ratio=1, class_weight="balanced")
    assert smallest_C(model, X, y) == pytest.approx(expected, rel=2e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_as_saga(n_classes):
    X, y = wine()
    X, y = X[y < n_classes], y[y < n_classes]
    C = smallest_C(SoftmaxClassifier(l1_ratio=0.5), X, y)
    theirs = elastic_net(l1_ratio=0.5, random_state=0)
    assert not theirs.set_params(C=(1 - 1e-4) * C).fit(X, y).coef_.any()
    assert theirs.set_params(C=(1 + 1e-3) * C).fit(X, y).coef_.any()


def reference(X, y, weight, offset, available, free):
    """C of softmax, l1_ratio 1, with free features: the minimum is SciPy's."""
    target, n_classes = np.eye(3)[y], 3
    Z = np.column_stack([np.ones(len(y)), X[:, free]])
    s = weight / weight.sum()

    def scores(parameters):
        raw = Z @ parameters.reshape(n_classes, -1).T + offset
        return np.where(available, raw, -np.inf)

    def loss(parameters):
        rows = np.where(target > 0, log_softmax(scores(parameters), axis=1), 0)
        gradient = (softmax(scores(parameters), axis=1) - target) * s[:, None]
        return -s @ rows.sum(axis=1), (gradient.T @ Z).ravel()

    start = np.zeros(n_classes * Z.shape[1])
    optimum = minimize(loss, start, jac=True, options={"gtol": 1e-10, "maxiter": 5000})
    residual = (softmax(scores(optimum.x), axis=1) - target) * weight[:, None]
    gradient = np.delete(residual.T @ X, free, axis=1)
    return 1 / abs(gradient).max()


def test_offsets_choice_sets_and_free_features():
    X, y = wine()
    rng = np.random.default_rng(0)
    weight, offset = rng.exponential(size=len(y)), rng.normal(size=(len(y), 3))
    available = (rng.random((len(y), 3)) < 0.7) | (np.eye(3)[y] > 0)
    factors = np.ones(X.shape[1])
    factors[[2, 5]] = 0
    given = {"sample_weight": weight, "offset": offset, "available": available}
    expected = reference(X, y, weight, offset, available, [2, 5])
    model = SoftmaxClassifier(l1_ratio=1, penalty_factors=factors)
    assert smallest_C(model, X, y, **given) == pytest.approx(expected, rel=1e-6)
    everything = {**given, "available": None, "offset": None}
    assert smallest_C(model, X, y, **everything) != pytest.approx(expected, rel=1e-2)


FACTORS = np.array([1, 0, 2, np.inf, *np.ones(9)])
CASES = {
    "softmax": SoftmaxClassifier(),
    "sparsemax": SparsemaxClassifier(class_weight="balanced"),
    "entmax": EntmaxClassifier(penalty_factors=FACTORS),
    "sigmoid": SigmoidClassifier(),
    "taylor": TaylorSoftmaxClassifier(),
    "margin": SoftmaxClassifier(margin=[[0, 1, 2], [1, 0, 1], [3, 1, 0]]),
    "no intercept": SparsemaxClassifier(fit_intercept=False, penalty_factors=FACTORS),
    "smoothing": EntmaxClassifier(label_smoothing=0.1, solver="newton-cg"),
    "log loss": LinearClassifier("softmax", loss="log", solver="lbfgs"),
}


@pytest.mark.parametrize(
    ("name", "select"),
    [
        ("softmax", "coefficients"),
        *zip(CASES, ["features", "coefficients"] * 4 + ["features"], strict=True),
    ],
)
def test_at_it_all_is_zero_and_a_millionth_above_something_enters(name, select):
    X, y = wine()
    model = clone(CASES[name]).set_params(l1_ratio=0.7, select=select, tol=TOL)
    C = smallest_C(model, X, y)
    is_penalised = np.ones(13, dtype=bool)
    if model.penalty_factors is not None:
        is_penalised = np.isfinite(FACTORS) & (FACTORS > 0)
    assert not model.set_params(C=C).fit(X, y).coef_[:, is_penalised].any()
    entered = model.set_params(C=(1 + 1e-6) * C).fit(X, y).coef_[:, is_penalised]
    assert entered.any(axis=0).sum() == 1
    assert entered.any(axis=1).all() == (select == "features")


@pytest.mark.parametrize("kind", ["csr", "csr raw", "float32"])
def test_other_containers(kind):
    X, y = wine()
    if kind == "csr raw":
        X = load_wine().data
    container = np.float32 if kind == "float32" else sparse.csr_array
    X = X.astype(container) if kind == "float32" else container(X)
    factors = np.ones(13)
    factors[4] = 0
    for params in {}, {"penalty_factors": factors}:
        model = SoftmaxClassifier(l1_ratio=1, tol=TOL, **params)
        if kind == "float32":
            model.set_params(tol=1e-6)
        C = smallest_C(model, X, y)
        penalised = np.arange(13) != 4 if params else slice(None)
        assert not model.set_params(C=C).fit(X, y).coef_[:, penalised].any()
        above = (1 + (1e-3 if kind == "float32" else 1e-6)) * C
        assert model.set_params(C=above).fit(X, y).coef_[:, penalised].any()


def test_dask():
    da = pytest.importorskip("dask.array")
    dask = pytest.importorskip("dask")
    X, y = wine()
    model = SparsemaxClassifier(l1_ratio=1, select="features", class_weight="balanced")
    with dask.config.set(scheduler="synchronous"):
        remote = smallest_C(model, da.from_array(X, chunks=(50, 13)), da.from_array(y))
    assert remote == pytest.approx(smallest_C(model, X, y), rel=1e-12)


def test_the_estimator_is_not_changed():
    X, y = wine()
    model = SoftmaxClassifier(l1_ratio=1, C="auto")
    before = model.get_params()
    assert smallest_C(model, X, y) == smallest_C(model.set_params(C=3.0), X, y)
    assert model.set_params(C="auto").get_params() == before
    assert not hasattr(model, "n_features_in_")


def test_nothing_enters_where_no_feature_varies():
    _, y = wine()
    assert smallest_C(SoftmaxClassifier(l1_ratio=1), np.full((len(y), 2), 0.1), y) == (
        np.inf
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_working_set_without_features(dtype):
    # Data too large for the cache have other products in double precision.
    X = np.random.default_rng(0).normal(size=(4000, 80)).astype(dtype)
    y = (X[:, 0] > 0.3).astype(int)
    model = SoftmaxClassifier(l1_ratio=1, C=1e-9).fit(X, y)
    assert not model.coef_.any()
    share = y.mean()
    assert model.intercept_[0] == pytest.approx(np.log(share / (1 - share)), abs=1e-3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_free_features_that_separate_the_classes():
    X, y = load_iris(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    model = SoftmaxClassifier(l1_ratio=1, penalty_factors=[1, 1, 0, 1])
    with pytest.warns(match="minimum over the intercepts and the features"):
        smallest_C(model, X, y)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SoftmaxClassifier(), "l1_ratio must be positive.* got l1_ratio=0.0"),
        (SoftmaxClassifier(l1_ratio=2), "l1_ratio"),
        (EntmaxClassifierCV(), "estimator must be .* that has the parameter l1_ratio"),
        (AMSoftmaxClassifier(), "estimator must be .* that has the parameter l1_ratio"),
        (LogisticRegression(), "estimator must be .*got LogisticRegression"),
        (SoftmaxClassifier, "estimator must be an instance"),
        (SoftmaxClassifier(l1_ratio=1, similarity="cosine"), "has no penalty"),
        (
            PerturbMaxClassifier("student_t", learn_noise=True, l1_ratio=1),
            "noise of .* is to be learnt",
        ),
        (SoftmaxClassifier(l1_ratio=1, penalty_factors=[1, 2]), "penalty_factors"),
        (
            LinearClassifier(NormalizedMapping(np.square), l1_ratio=1),
            "estimator must have a penalty; the scores of Norm.* may have any scale",
        ),
        (
            LinearClassifier(NormalizedMapping(even), fit_intercept=False, l1_ratio=1),
            "fit_intercept must be True for a mapping without",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_bad_input_is_refused(model, message):
    with pytest.raises(ValueError, match=message):
        smallest_C(model, *wine())
