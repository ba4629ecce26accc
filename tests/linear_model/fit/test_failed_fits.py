"""Fits that fail or do not converge: attributes and messages."""

import itertools
import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from skprob import (
    AMSoftmaxClassifier,
    EntmaxClassifier,
    LinearClassifier,
    PerturbMaxClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.mappings import Softmax, softmax

from ...versions import HAS_CALLBACKS, needs_callbacks
from ..data_sets import KINDS, label_sets, labels

X, Y = labels()
OTHER = X[:, :2], np.array(["one", "two", "three", "four"])[np.arange(60) % 4]


class Raising:
    """A callback that raises when an iteration ends."""

    def __init__(self, error, number=2):
        self.error, self.number = error, number

    def setup(self, estimator, context):
        self.n_iter = 0

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.n_iter += 1
        if self.n_iter == self.number:
            raise self.error


def breaking_down(error, n_calls=5):
    """A mapping that raises in the middle of a fit."""
    calls = itertools.count()

    def function(scores):
        if next(calls) >= n_calls:
            raise error
        return softmax(scores)

    return function


def failing_fits():
    """Errors by what a fit is given to raise them."""
    x, y = OTHER
    nan = np.where(np.arange(60)[:, None] == 30, np.nan, x)
    numbers = np.where(np.arange(60) == 30, np.nan, np.arange(60) % 4)
    yield "NaN in X", ValueError, (nan, y), {}
    yield "NaN in y", ValueError, (x, numbers), {}
    yield "y of another length", ValueError, (x, y[:-1]), {}
    yield "weights of zero", ValueError, (x, y, np.zeros(60)), {}
    yield "a bad parameter", ValueError, (x, y), {"C": -1}
    yield "a bad threshold", ValueError, label_sets(), {"threshold": [0.1, 0.2]}
    for error in (OSError(), KeyboardInterrupt()):
        name, mapping = type(error).__name__, breaking_down(error)
        yield f"{name} in a mapping", type(error), (x, y), {"mapping": mapping}
        if HAS_CALLBACKS:
            params = {"callback": Raising(error)}
            yield f"{name} in a callback", type(error), (x, y), params
    last = {"callback": Raising(OSError(), number=10_000)} if HAS_CALLBACKS else {}
    yield "a warning", ConvergenceWarning, (x, y), {"max_iter": 1, **last}


def fitted_attributes(model):
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


def fail(model, error, data, params):
    params = dict(params)
    if "callback" in params:
        model.set_callbacks(params.pop("callback"))
    with pytest.raises(error), warnings.catch_warnings(action="error"):
        model.set_params(**params).fit(*data)


FAILING = [pytest.param(*case, id=name) for name, *case in failing_fits()]


@pytest.mark.parametrize(
    ("error", "data", "params", "kind"),
    [
        pytest.param(*case.values, kind, id=f"{case.id}, {kind}")
        for case, kind in zip(FAILING, itertools.cycle(KINDS), strict=False)
    ],
)
def test_a_refit_that_fails_leaves_the_old_model_whole(error, data, params, kind):
    x, y = KINDS[kind]()
    model = LinearClassifier().fit(x, y)
    before = fitted_attributes(model)
    expected = model.predict_proba(x), model.predict(x), model.score(x, y)
    fail(model, error, data, params)
    assert fitted_attributes(model) == before
    assert all(
        value is before[name] for name, value in fitted_attributes(model).items()
    )
    for fitted, known in zip(
        (model.predict_proba(x), model.predict(x), model.score(x, y)),
        expected,
        strict=True,
    ):
        assert_array_equal(fitted, known)


@pytest.mark.parametrize(("error", "data", "params"), FAILING)
def test_after_a_failed_first_fit_there_is_no_model(error, data, params):
    model = LinearClassifier()
    fail(model, error, data, params)
    assert not fitted_attributes(model)
    x, _ = OTHER
    for call in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(NotFittedError):
            call(x)


@needs_callbacks
def test_a_warm_start_that_fails_leaves_the_old_model_whole():
    model = LinearClassifier(C=0.1, warm_start=True).fit(X, Y)
    expected = model.predict_proba(X)
    model.set_callbacks(Raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        model.set_params(C=100).fit(X, Y)
    assert_array_equal(model.predict_proba(X), expected)


def test_nothing_of_an_old_model_is_left_in_a_new_one():
    model = SoftmaxClassifier().fit(*label_sets())
    assert hasattr(model, "threshold_")
    model.fit(X, Y)
    assert not hasattr(model, "threshold_")
    assert (
        fitted_attributes(model).keys()
        == fitted_attributes(SoftmaxClassifier().fit(X, Y)).keys()
    )


class Spoiled(Softmax):
    """Softmax with a defect where a score is far from the largest one of its row.

    `kernel` is where the defect is; `defect` is a number to put there, or "shape".
    """

    def __init__(self, kernel, defect, beyond):
        self.kernel, self.defect, self.beyond = kernel, defect, beyond

    def _spoil(self, kernel, array, far):
        if kernel != self.kernel or not far.any():
            return array
        if self.defect == "shape":
            return array[:, :-1] if array.ndim > 1 else array[:, None]
        array = array.copy()
        array[far] = self.defect
        return array

    def _far(self, scores):
        return scores.min(axis=1) <= -self.beyond

    def probabilities(self, scores):
        far = self._far(scores)
        return self._spoil("probabilities", super().probabilities(scores), far)

    def probabilities_and_potential(self, scores):
        far = self._far(scores)
        p, potential = super().probabilities_and_potential(scores)
        return self._spoil("p", p, far), self._spoil("potential", potential, far)

    def linearize_with_potential(self, scores):
        far = self._far(scores)
        linear, potential = super().linearize_with_potential(scores)

        def jvp(direction):
            return self._spoil("jvp", linear.jvp(direction), far)

        spoiled = linear._replace(
            probabilities=self._spoil("p", linear.probabilities, far),
            jvp=jvp,
            jacobian=None,
        )
        return spoiled, self._spoil("potential", potential, far)


# A kernel, what is wrong with it, and beyond which scores: at once (0) or in the middle
# of a fit, where a Fenchel-Young loss does not ask for probabilities alone.
DEFECTS = [
    *itertools.product(["p", "potential"], [np.nan, np.inf, "shape"], [0, 7]),
    *itertools.product(["probabilities"], [np.nan, np.inf, -1.0, 2.0, "shape"], [0]),
    *itertools.product(["jvp"], [np.nan], [0, 7]),
]


@pytest.mark.parametrize(
    ("kernel", "defect", "beyond", "solver"),
    [
        *((*case, "auto") for case in DEFECTS),
        *((*case, "lbfgs") for case in DEFECTS if case[1] is np.nan),
    ],
)
def test_a_defect_of_a_kernel_is_an_error_that_names_the_mapping(
    kernel, defect, beyond, solver
):
    model = LinearClassifier(Spoiled(kernel, defect, beyond), C=100, solver=solver)
    with pytest.raises(ValueError, match=r"mapping.*Spoiled\(") as caught:
        model.fit(X, Y)
    what = r"shape" if defect == "shape" else r"finite|non-negative .* sum to one"
    assert re.search(what, str(caught.value))
    assert not fitted_attributes(model)


@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
@pytest.mark.parametrize("kernel", ["p", "potential"])
def test_a_trial_beyond_the_minimum_may_have_a_defect(kernel, l1_ratio):
    """Newton's first steps go beyond the minimum, where the mapping is NaN."""
    x, y = load_iris(return_X_y=True)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    reference = SoftmaxClassifier(tol=1e-8, l1_ratio=l1_ratio).fit(x, y)
    scores = x @ reference.coef_.T + reference.intercept_
    beyond = 1.01 * np.ptp(scores, axis=1).max()
    mapping = Spoiled(kernel, np.nan, beyond)
    model = LinearClassifier(mapping, tol=1e-8, l1_ratio=l1_ratio).fit(x, y)
    assert np.abs(model.coef_ - reference.coef_).max() < 1e-5


@pytest.mark.parametrize(
    ("loss", "beyond"), [("auto", 0), ("log", 7)], ids=["at once", "in the middle"]
)
@pytest.mark.parametrize("defect", [np.nan, np.inf, -1.0, "shape"])
def test_a_defect_of_a_function_is_an_error_that_names_it(defect, beyond, loss):
    spoiled = Spoiled("probabilities", defect, beyond)

    def my_mapping(scores):
        far = spoiled._far(scores - scores.max(axis=1, keepdims=True))
        return spoiled._spoil("probabilities", softmax(scores), far)

    model = LinearClassifier(my_mapping, C=100, loss=loss)
    what = "shape of the scores" if defect == "shape" else "non-negative .* sum to one"
    with pytest.raises(ValueError, match=f"the mapping my_mapping .*{what}"):
        model.fit(X, Y)
    assert not fitted_attributes(model)


@pytest.mark.parametrize(("C", "tol"), [(0.1, 1e-1), (0.1, 1e-8), (1e4, 1e-2)])
@pytest.mark.parametrize("classifier", [SoftmaxClassifier, SparsemaxClassifier])
def test_a_warning_names_the_criterion_that_failed(classifier, C, tol):
    for max_iter in range(6):
        model = classifier(C=C, tol=tol, max_iter=max_iter)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, Y)
        for text in (str(warning.message) for warning in caught):
            start = (
                rf"{classifier.__name__} did not converge: after max_iter={max_iter}"
            )
            assert text.startswith(start)
            norm = f"{model.gradient_norm_:.3g}"
            if model.gradient_norm_ > tol:
                assert f"the largest gradient entry is {norm}, above tol={tol}" in text
            else:
                assert f"although the largest gradient entry, {norm}, is within" in text
                assert "may still fall by" in text or "duality gap is" in text
            assert re.search(r"Increase max_iter \(now \d\) or tol, or lower C", text)


@pytest.mark.parametrize(
    ("model", "dtype", "advice"),
    [
        (
            SoftmaxClassifier(tol=1e-12),
            np.float32,
            "tol, or give X as float64, or lower",
        ),
        (SparsemaxClassifier(loss="log"), np.float64, "or take loss='auto', which is"),
    ],
    ids=str,
)
def test_the_advice_of_a_warning_helps(model, dtype, advice):
    rows = X.astype(dtype)
    with pytest.warns(ConvergenceWarning, match=advice):
        model.fit(rows, Y)
    if "float64" in advice:
        model.fit(X, Y)
    else:
        model.set_params(loss="auto").fit(rows, Y)


SEPARABLE = np.r_[X - 20, X + 20], np.repeat([0, 1], 60)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "model",
    [
        SoftmaxClassifier(C=1e8),
        SparsemaxClassifier(C=1e8),
        SparsemaxClassifier(C=np.inf),
        EntmaxClassifier(C=1e4, fit_intercept=False),
        SparsemaxClassifier(C=1e4, margin=1.0),
        LinearClassifier(Softmax(), loss="log", C=1e8),
        PerturbMaxClassifier(C=1e4),
        AMSoftmaxClassifier(),
    ],
    ids=str,
)
def test_no_objective_and_no_gap_is_negative(model, dtype):
    x, y = SEPARABLE
    model.fit(x.astype(dtype), y)
    assert model.objective_ >= 0 and model.duality_gap_ >= 0
    assert (model.history_["objective"] >= 0).all()
    assert model.gradient_norm_ <= model.tol
