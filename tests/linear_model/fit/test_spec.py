"""A fit is made of plain data: a spec and rows, without an estimator."""

import ast
import pickle
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

import skprob
from skprob import (
    AMSoftmaxClassifier,
    EntmaxClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
)
from skprob.linear_model._given import NOTHING
from skprob.linear_model._training_rows import RowsInMemory, TrainingData
from skprob.linear_model.fit._folds import rule_of_label_sets
from skprob.linear_model.fit._run import attributes_of, fit_to_rows
from skprob.linear_model.fit._spec import FitSpec
from skprob.linear_model.predict._unit_rows import (
    StandardizedFeatures,
)
from skprob.losses import FenchelYoungLoss, MarginLoss
from skprob.mappings import Entmax, Sigmoid, Softmax, Temperature

X, y = load_iris(return_X_y=True)
LABEL_SETS = np.stack([y != 1, y != 2], axis=1).astype(int)
SIGMOID = FenchelYoungLoss(Sigmoid(1.5))
ENTMAX = Temperature(Entmax(1.25), 0.5)
LINEAR_MODEL = Path(skprob.__file__).parent / "linear_model"


def spec(loss, **others):
    """A spec with the defaults of SoftmaxClassifier."""
    defaults = {
        "name": "Model",
        "C": 1.0,
        "l1_ratio": 0.0,
        "select": "coefficients",
        "penalty_factors": None,
        "fit_intercept": True,
        "class_weight": None,
        "label_smoothing": 0.0,
        "target_type": "auto",
        "class_names": None,
        "none_class": True,
        "threshold": "auto",
        "solver": "auto",
        "tol": 1e-4,
        "max_iter": 1000,
    }
    return FitSpec(loss=loss, **defaults | others)


CASES = {
    "softmax": (
        SoftmaxClassifier(),
        y,
        spec(FenchelYoungLoss(Softmax())),
    ),
    "entmax": (
        EntmaxClassifier(
            1.25, temperature=0.5, margin=0.1, class_weight="balanced", C="auto"
        ),
        y,
        spec(
            MarginLoss(FenchelYoungLoss(ENTMAX), 0.1),
            class_weight="balanced",
            C="auto",
        ),
    ),
    "label sets": (
        SigmoidClassifier(1.5, threshold="micro"),
        LABEL_SETS,
        spec(SIGMOID, C="auto", threshold="micro"),
    ),
    "cosines": (
        AMSoftmaxClassifier(temperature=1.0),
        y,
        spec(
            FenchelYoungLoss(Softmax()),
            solver="newton-cg",
            unit_rows=StandardizedFeatures("auto", 0.5, 0.03),
        ),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_fit_of_a_spec_is_that_of_the_estimator(name):
    estimator, target, spec = CASES[name]
    spec = pickle.loads(pickle.dumps(spec))
    encoded = spec.encoded(target, X.dtype)
    data = TrainingData(X, target, np.ones(len(X)), NOTHING, encoded)
    rows = RowsInMemory(spec, data)
    choose_threshold = None
    if encoded.target_type == "label_set":
        choose_threshold = rule_of_label_sets(spec, rows)
    fit = fit_to_rows(spec, rows, choose_threshold)
    attributes = attributes_of(fit.spec, fit.model, fit.solution)
    estimator.fit(X, target)
    fitted = {name for name in vars(estimator) if name.endswith("_")}
    of_estimator = {"n_features_in_", "fitted_params_"}
    assert fitted == attributes.keys() | of_estimator
    for name in ("coef_", "intercept_", "C_", "objective_", "n_iter_"):
        assert_array_equal(attributes[name], getattr(estimator, name))
    assert_array_equal(
        fit.model.probabilities(X).to_dense(), estimator.predict_proba(X)
    )
    if choose_threshold is not None:
        rule, other = fit.model.threshold, estimator.threshold_
        assert vars(rule).keys() == vars(other).keys()
        p = estimator.predict_proba(X)
        assert_array_equal(rule.predict(p), other.predict(p))


def test_a_spec_does_not_change():
    spec = CASES["softmax"][2]
    for field in fields(spec):
        with pytest.raises(FrozenInstanceError):
            setattr(spec, field.name, None)


@pytest.mark.parametrize(
    "path",
    sorted(
        path
        for folder in ("dask", "fit", "predict")
        for path in LINEAR_MODEL.glob(f"{folder}/*.py")
    ),
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_no_estimator_is_handed_down(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            names = {arg.arg for arg in (*node.args.args, *node.args.kwonlyargs)}
            assert not names & {"estimator", "classifier", "template"}
