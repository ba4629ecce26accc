"""A fitted estimator predicts the same after its parameters are set."""

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.datasets import load_iris
from sklearn.utils._param_validation import Options

from skprob import LinearClassifier, SoftmaxClassifier
from skprob.decision import ConformalSets, TopK
from skprob.mappings import Entmax

from .estimators import CLASSES, DEFAULTS, ESTIMATORS, MARGINALS

FITTED = {
    repr(each): each
    for each in (
        *ESTIMATORS.values(),
        *MARGINALS.values(),
        *DEFAULTS,
        *CLASSES,
        LinearClassifier(Entmax(1.3), similarity="cosine"),
        *(
            ConformalSets(SoftmaxClassifier(), score_function=name, by=by)
            for name in ("threshold", "adaptive")
            for by in (None, "class")
        ),
    )
}
METHODS = (
    *("decision_function", "predict", "predict_proba", "predict_log_proba"),
    *("predict_set", "attention_weights"),
)


def other_values(estimator, name):
    """Values of a parameter that are not the one it has; some may not be allowed."""
    value = estimator.get_params()[name]
    constraints = getattr(estimator, "_parameter_constraints", {}).get(name, [])
    allowed = [c for c in constraints if isinstance(c, Options)]
    others = [option for each in allowed for option in each.options]
    if isinstance(value, (int, float)):
        others += [not value, value + 1, value / 2 + 0.01]
    if value is None:
        others += [1, 0.3, (1, 2)]
    if name == "mapping":
        others += ["sparsemax", "sigmoid", Entmax(1.7)]
    if name == "threshold":
        others += [0.1, TopK(1)]
    return [other for other in others if other != value]


def predictions(model, X):
    """Results of all methods that predict, as dense arrays."""
    methods = [getattr(model, name) for name in METHODS if hasattr(model, name)]
    results = [method(X) for method in methods]
    return [r.toarray() if hasattr(r, "toarray") else np.asarray(r) for r in results]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ["labels", "label sets"])
@pytest.mark.parametrize("estimator", FITTED.values(), ids=FITTED)
def test_parameters_are_those_of_the_next_fit(estimator, kind):
    X, y = load_iris(return_X_y=True)
    if kind == "label sets":
        y = np.column_stack([y != 0, X[:, 0] > 5.8, X[:, 1] > 3]).astype(int)
        is_adaptive = estimator.get_params().get("score_function") == "adaptive"
        if is_regressor(estimator) or is_adaptive:
            pytest.skip("regressors and the adaptive score refuse label sets")
    model = clone(estimator).fit(X[::2], y[::2])
    expected, n_others = predictions(model, X), 0
    for name, value in model.get_params().items():
        for other in other_values(model, name):
            model.set_params(**{name: other})
            for before, after in zip(expected, predictions(model, X), strict=True):
                np.testing.assert_array_equal(
                    after, before, err_msg=f"{name}={other!r}"
                )
            n_others += 1
        model.set_params(**{name: value})
    assert n_others > 3
