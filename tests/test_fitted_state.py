"""Predictions and tables of a fitted estimator do not change with its parameters."""

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.datasets import load_iris
from sklearn.utils._param_validation import Options

from skprob import EntmaxClassifierCV, LinearClassifier, SoftmaxClassifier
from skprob.decision import ConformalSets, TopK
from skprob.inspection import coefficient_table, marginal_effects
from skprob.mappings import Entmax

from .estimators import CLASSES, DEFAULTS, ESTIMATORS, MARGINALS

FITTED = {
    repr(each): each
    for each in (
        *ESTIMATORS.values(),
        *MARGINALS.values(),
        # CLASSES has searches over smaller grids.
        *(each for each in DEFAULTS if not hasattr(each, "Cs")),
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


def refuses_label_sets(estimator):
    is_adaptive = estimator.get_params().get("score_function") == "adaptive"
    return is_regressor(estimator) or is_adaptive


# Predictions of label sets depend on the class, and not on the mapping in it.
OF_SETS = {
    type(each): name for name, each in FITTED.items() if not refuses_label_sets(each)
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "labels") for name in FITTED),
        *((name, "label sets") for name in OF_SETS.values()),
    ],
)
def test_parameters_are_those_of_the_next_fit(name, kind):
    X, y = load_iris(return_X_y=True)
    if kind == "label sets":
        y = np.column_stack([y != 0, X[:, 0] > 5.8, X[:, 1] > 3]).astype(int)
    estimator = FITTED[name]
    model = clone(estimator).fit(X[::2], y[::2])
    expected, n_others = predictions(model, X), 0
    for others in changed_together(model):
        before = {name: model.get_params()[name] for name in others}
        model.set_params(**others)
        for result, after in zip(expected, predictions(model, X), strict=True):
            np.testing.assert_array_equal(after, result, err_msg=repr(others))
        model.set_params(**before)
        n_others += len(others)
    assert n_others > 3


def changed_together(model):
    """Other values of all parameters of a depth at once, until each value occurred.

    Parameters of a mapping or an estimator inside are deeper than those of the model.
    """
    names = list(model.get_params())
    for depth in sorted({name.count("__") for name in names}):
        values = {
            name: other_values(model, name)
            for name in names
            if name.count("__") == depth
        }
        values = {name: others for name, others in values.items() if others}
        for number in range(max(map(len, values.values()), default=0)):
            yield {
                name: others[number % len(others)] for name, others in values.items()
            }


TABLES = {
    "likelihood": {},
    "penalty and weights": {
        "C": 0.3,
        "l1_ratio": 0.2,
        "select": "features",
        "penalty_factors": [1.0, 2.0, 0.5, np.inf],
        "class_weight": {0: 1.0, 1: 2.0, 2: 0.5},
        "label_smoothing": 0.1,
    },
    "no intercept": {"fit_intercept": False, "C": 2.0},
}


@pytest.mark.filterwarnings("ignore:The penalty:UserWarning")
@pytest.mark.parametrize("params", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("table", [coefficient_table, marginal_effects])
def test_tables_are_those_of_the_fit(table, params):
    X, y = load_iris(return_X_y=True)
    y[::7] = (y[::7] + 1) % 3  # Not separable.
    model = LinearClassifier("softmax", tol=1e-8, **{"C": np.inf, **params}).fit(X, y)
    expected, n_others = table(model, X, y), 0
    for others in changed_together(model):
        before = {name: model.get_params()[name] for name in others}
        assert table(model.set_params(**others), X, y) == expected, others
        model.set_params(**before)
        n_others += len(others)
    assert n_others > 20
    # Values that could be changed in place, and what the rule above leaves out.
    model.set_params(C=1e-3, class_weight="balanced", penalty_factors=[0, 0, 0, 1])
    assert table(model, X, y) == expected


@pytest.mark.filterwarnings("ignore:The penalty:UserWarning")
@pytest.mark.parametrize(
    "model",
    [
        LinearClassifier(Entmax(1.5), tol=1e-3),
        EntmaxClassifierCV(alphas=[1.5], Cs=[1.0], l1_ratios=[0.1], tol=1e-3),
    ],
    ids=repr,
)
def test_refits_have_the_parameters_of_the_fit(model):
    X, y = load_iris(return_X_y=True)
    model = clone(model).fit(X, y)

    def table():
        given = {"method": "bootstrap", "n_bootstrap": 2, "random_state": 0}
        return coefficient_table(model, X, y, **given)

    expected = table()
    for other in (
        {"fit_intercept": False},
        {"C": 0.01} if hasattr(model, "C") else {"Cs": [0.01], "alphas": [1.1]},
        {"mapping__alpha": 2.0} if hasattr(model, "mapping") else {"l1_ratios": [0.9]},
    ):
        model.set_params(**other)
        assert table() == expected, other


def test_cuts_in_folds_have_the_parameters_of_the_fit():
    X, y = load_iris(return_X_y=True)
    sets = np.column_stack([y != 0, X[:, 0] > 5.8, X[:, 1] > 3]).astype(int)
    model = LinearClassifier("sigmoid", C=1.0, threshold=0.5).fit(X, sets)
    expected = clone(model).fit(X, sets).set_threshold("label_cuts", X, sets, cv=3)
    model.set_params(C=1e-3, fit_intercept=False)
    model.set_threshold("label_cuts", X, sets, cv=3)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    np.testing.assert_array_equal(model.threshold_.cuts_, expected.threshold_.cuts_)
