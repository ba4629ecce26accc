"""Whatever a classifier is given, it answers with finite numbers or a clear error."""

import re
import warnings

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

from ..estimators import ESTIMATORS, MARGINALS

# Words of NumPy, SciPy and Python for what a caller should have checked.
INTERNAL = re.compile(
    "broadcast|operands|out of bounds|unpack|has no attribute|not subscriptable|"
    "unsupported operand|ufunc|dimension mismatch|matmul|cannot convert|"
    "not supported between|ambiguous|too deep|positional argument|internal"
)
MAGNITUDES = [1.0, 1e-320, 1e-30, 1e30, 1e150, 1e160, 1.7e308]
STRANGE = [np.nan, np.inf, -np.inf, 1.7e308, 5e-324, -0.0, 1e300]


def blocks(draw, shape):
    """Numbers of one magnitude, perhaps with a strange one among them."""
    seed = draw(st.integers(0, 5))
    X = np.random.default_rng(seed).normal(size=shape) / 3
    with np.errstate(over="ignore"):
        X *= draw(st.sampled_from(MAGNITUDES))
    if X.size and draw(st.booleans()):
        X.flat[draw(st.integers(0, X.size - 1))] = draw(st.sampled_from(STRANGE))
    return X


def quietly(function):
    """A function without warnings: changes of the data by the caller are not tested."""

    def silent(array):
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            return function(array)

    silent.__name__ = getattr(function, "__name__", str(function))
    return silent


CONTAINERS = [
    quietly(function)
    for function in (
        np.asarray,
        np.asfortranarray,
        np.ndarray.tolist,
        lambda X: X.astype(np.float32),
        lambda X: X.astype(np.int64),
        lambda X: X.astype(bool),
        lambda X: X.astype(object),
        lambda X: X.astype(str),
        lambda X: X + 1j,
        lambda X: X[None],
        lambda X: X.ravel(),
        lambda X: X[:0],
        lambda X: pd.DataFrame(X).astype("Float64") if X.ndim == 2 else X,
        lambda X: np.where(X > 0, X, None),
        lambda X: np.where(X > 0, "word", X.astype(object)),
        lambda X: np.ma.masked_less(X, 0),
        lambda X: sparse.csr_array(np.atleast_2d(X)),
        lambda X: sparse.csr_matrix(np.atleast_2d(X)),
        lambda X: sparse.csc_array(np.atleast_2d(X)),
        lambda X: sparse.coo_array(np.atleast_2d(X)),
        lambda X: sparse.dok_array(np.atleast_2d(X)),
        lambda X: sparse.csr_array(np.atleast_2d(X).astype(np.int8)),
        lambda X: sparse.csr_array(np.atleast_2d(X).astype(np.float32)),
        lambda X: None,
        lambda X: 3.0,
        lambda X: "a string",
        lambda X: {"a": X},
        lambda X: iter(X),
    )
]


@st.composite
def features(draw, n_samples):
    shape = (n_samples, draw(st.sampled_from([3, 3, 3, 0, 1, 40])))
    return draw(st.sampled_from(CONTAINERS))(blocks(draw, shape))


@st.composite
def targets(draw, n_samples):
    K = draw(st.integers(1, 4))
    n = draw(st.sampled_from([n_samples] * 6 + [0, 1, n_samples + 1]))
    rng = np.random.default_rng(draw(st.integers(0, 5)))
    codes = rng.integers(0, K, size=n)
    y = draw(
        st.sampled_from(
            [
                codes,
                codes.astype(float),
                codes.astype(bool),
                np.array(["a", "b", "c", "d"])[codes],
                np.array(["a", "b", 3, None], dtype=object)[codes],
                codes - 0.5,
                codes[:, None],
                rng.integers(0, 2, size=(n, K)),
                rng.integers(0, 3, size=(n, K)),
                rng.dirichlet(np.ones(K), size=n),
                rng.dirichlet(np.full(K, 0.01), size=n) * (1 + 1e-4),
                rng.normal(size=(n, K)),
                np.eye(K)[codes],
                sparse.csr_array(rng.integers(0, 2, size=(n, K))),
                sparse.coo_array(rng.integers(0, 2, size=(n, K)).astype(float)),
                blocks(draw, (n, K)),
                blocks(draw, (n,)),
                [[k] * (1 + k) for k in codes],
            ]
        )
    )
    if isinstance(y, np.ndarray) and y.dtype.kind == "f" and draw(st.booleans()):
        return draw(st.sampled_from(CONTAINERS))(y)
    return y


@st.composite
def weights(draw, n_samples):
    n = draw(st.sampled_from([n_samples] * 4 + [n_samples + 1]))
    return draw(
        st.sampled_from(
            [
                None,
                None,
                None,
                np.ones(n),
                np.zeros(n),
                np.arange(n),
                -np.ones(n),
                np.full(n, 1e300),
                np.full(n, 1.7e308),
                np.full(n, 5e-324),
                np.r_[1.0, np.full(max(n - 1, 0), 1e-300)],
                np.ones((n, 2)),
                ["heavy"] * n,
                [None] * n,
                2.0,
                blocks(draw, (n,)),
            ]
        )
    )


PARAMETERS = {
    "C": [1.0, 1e-300, 1e300, np.inf, 0.0, np.nan, "one", None],
    "tol": [1e-4, 0.0, 1e300, -1.0],
    "max_iter": [50, 0, 1, -1, 2.5],
    "class_weight": [None, "balanced", {0: 2.0}, {0: 0.0}, {"a": 1e300}, {0: "x"}, {}],
    "target_type": [
        *("auto", "class", "label_set", "distribution", "candidates", "other")
    ],
    "threshold": ["auto", "cv", "support", 0.3, 1.0, -1, [0.3] * 3, [0.3, np.nan]],
    "temperature": [1.0, 1e-3, 1e3, 0.0, np.inf],
    "fit_intercept": [True, False, None],
}


@st.composite
def cases(draw):
    """Sound data and parameters, of which up to two are then replaced."""
    n_samples = draw(st.sampled_from([9, 9, 9, 2, 1]))
    X, codes = np.random.default_rng(0).normal(size=(9, 3)), np.arange(9) % 3
    sound = [codes, np.eye(3)[codes], np.full((9, 3), 1 / 3)]
    case = {
        "X": X[:n_samples],
        "y": draw(st.sampled_from(sound))[:n_samples],
        "sample_weight": None,
        "new": X,
        "parameters": {},
    }
    replacements = {
        "X": features(n_samples),
        "y": targets(n_samples),
        "sample_weight": weights(n_samples),
        "new": features(n_samples),
        "parameters": st.sampled_from(
            [{name: value} for name in PARAMETERS for value in PARAMETERS[name]]
        ),
    }
    for name in draw(st.sets(st.sampled_from(sorted(case)), max_size=2)):
        case[name] = draw(replacements[name])
    return case


def answers(model, case):
    """Fit and predict; the arrays that come out."""
    model.set_params(**case["parameters"])
    model.fit(case["X"], case["y"], sample_weight=case["sample_weight"])
    yield "coef_", model.coef_
    yield "intercept_", model.intercept_
    yield "objective_", model.objective_
    yield "gradient_norm_", model.gradient_norm_
    for X in (case["X"], case["new"]):
        p = model.predict_proba(X)
        yield "predict_proba", p
        if model.target_type_ == "class" or model.mapping_.traits.polytope == "simplex":
            # One minus the sum is the probability of "no label".
            excess = p.sum(axis=1) - 1
            excess = excess.clip(0) if model.has_none_class_ else excess
            yield "one minus the sums", excess
        yield "predict", len(model.predict(X))
        yield "decision_function", model.decision_function(X)


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.sampled_from([*ESTIMATORS, *MARGINALS]), case=cases())
def test_a_clean_result_or_a_clear_error(name, case):
    model = clone((ESTIMATORS | MARGINALS)[name])
    with warnings.catch_warnings(action="error"):
        # Warnings that a fit may give, also about a column of labels.
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        warnings.filterwarnings("ignore", category=DataConversionWarning)
        warnings.filterwarnings("ignore", ".*rows have no label", UserWarning)
        warnings.filterwarnings("ignore", ".*labels are in no row", UserWarning)
        warnings.filterwarnings("ignore", ".*feature names", UserWarning)
        try:
            for what, array in answers(model, case):
                assert np.isfinite(array).all(), what
                if what == "one minus the sums":
                    assert np.abs(array).max(initial=0) < 1e-5
        except (TypeError, ValueError) as error:
            assert len(str(error)) > 20
            assert not INTERNAL.search(str(error)), error
