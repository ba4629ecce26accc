"""Words of other packages and papers: errors name the parameters of skprob."""

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from skprob import (
    AMSoftmaxClassifier,
    EntmaxClassifier,
    EntmaxClassifierCV,
    LinearClassifier,
    PerturbMaxClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.losses import FenchelYoungLoss
from skprob.mappings import PerturbMax, StudentT

X = np.arange(12.0).reshape(6, 2)
y = [0, 1, 2] * 2

PARAMETERS = [
    (SoftmaxClassifier, "penalty", "1 / C.* l1_ratio=1 the sum of absolute values"),
    (EntmaxClassifier, "lam", "1 / C"),
    (SparsemaxClassifier, "weight_decay", "1 / C"),
    (AMSoftmaxClassifier, "penalty", "There is no penalty"),
    (SoftmaxClassifier, "alpha", "parameter of EntmaxClassifier.* 1 / C"),
    (SoftmaxClassifier, "multi_class", "fitted together.* SigmoidClassifier"),
    (SoftmaxClassifier, "random_state", "no random numbers: leave it out"),
    (SoftmaxClassifier, "n_jobs", "BLAS.*: leave it out"),
    (SoftmaxClassifier, "dual", "leave it out"),
    (SoftmaxClassifier, "intercept_scaling", "not penalised: leave it out"),
    (SoftmaxClassifier, "learning_rate", "step: leave it out"),
    (SoftmaxClassifier, "class_weights", "It is 'class_weight' here"),
    (SoftmaxClassifier, "Penalty", "1 / C"),
    (SoftmaxClassifier, "Lambda", "1 / C"),
    (SoftmaxClassifier, "LR", "step: leave it out"),
    (SoftmaxClassifier, "Tau", "It is 'temperature' here"),
    (EntmaxClassifier, "Alpha", "It is 'alpha' here"),
    (AMSoftmaxClassifier, "m", "It is 'margin' here"),
    (AMSoftmaxClassifier, "s", "1 / temperature"),
    (SigmoidClassifier, "margin", "'margin' is a parameter of .*EntmaxClassifier"),
    (SoftmaxClassifier, "top_k", "'k' is a parameter of SparseSoftmaxClassifier"),
    (EntmaxClassifier, "alphas", "'alphas' is a parameter of EntmaxClassifierCV"),
    (EntmaxClassifierCV, "alpha", r"Give several values, as alphas=\[\.\.\.\]"),
    (EntmaxClassifierCV, "C", r"Give several values, as Cs="),
    (EntmaxClassifierCV, "l1_ratio", r"Give several values, as l1_ratios="),
    (EntmaxClassifierCV, "noise", "'noise' is a parameter of PerturbMaxClassifier"),
    (SoftmaxClassifier, "fit_intercepts", "Did you mean 'fit_intercept'"),
]


@pytest.mark.parametrize(("cls", "name", "advice"), PARAMETERS)
def test_parameters(cls, name, advice):
    expected = f"{cls.__name__}.* got an unexpected keyword argument '{name}'.*{advice}"
    with pytest.raises(TypeError, match=expected):
        cls(**{name: 1})
    model = cls()
    with pytest.raises(ValueError, match=f"Invalid parameter '{name}' .*{advice}"):
        model.set_params(**{name: 1})
    assert model.get_params() == cls().get_params()


@pytest.mark.parametrize(
    ("parameters", "advice"),
    [
        ({"loss": "sparsemax"}, "Sparsemax is a mapping: take SparsemaxClassifier"),
        ({"loss": "entmax15"}, "Entmax is a mapping: take EntmaxClassifier"),
        ({"loss": "log_loss"}, "The log loss is 'log'"),
        ({"loss": "hinge"}, "There is no hinge loss: take sklearn.svm.LinearSVC"),
        ({"solver": "saga"}, "Each solver takes sparse data.* 'auto'"),
        ({"solver": "liblinear"}, "Each solver takes sparse data.* 'auto'"),
        ({"solver": "newton_cg"}, "Did you mean 'newton-cg'"),
        ({"solver": "SAGA"}, "Each solver takes sparse data.* 'auto'"),
        ({"loss": "Squared-Hinge"}, "There is no hinge loss"),
        ({"loss": "NLL"}, "The log loss is 'log'"),
        ({"threshold": "F1 macro"}, "'macro' for a high macro-F1"),
        ({"class_weight": "AUTO"}, "Did you mean 'balanced'"),
        ({"select": "groups"}, "Did you mean 'features'"),
        ({"C": "None"}, "C=numpy.inf is no penalty"),
        ({"C": None}, "C=numpy.inf is no penalty"),
        ({"C": "cv"}, "EntmaxClassifierCV chooses C by cross-validation"),
        ({"threshold": "f1_macro"}, "'macro' for a high macro-F1"),
        ({"threshold": "top_k"}, r"skprob\.decision\.TopK\(k\)"),
        ({"l1_ratio": None}, "l1_ratio=0 is the squared norm only"),
        ({"class_weight": "auto"}, "Did you mean 'balanced'"),
    ],
)
def test_values(parameters, advice):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}' parameter .*Got .*{advice}"):
        LinearClassifier(**parameters).fit(X, y)


def test_one_value_where_a_search_has_several():
    message = r"'alphas' parameter .*Got 1.5 instead\. Give several .*C are `Cs`\."
    with pytest.raises(ValueError, match=message):
        EntmaxClassifierCV(1.5).fit(X, y)
    with pytest.raises(ValueError, match=r"Got 0.5 .* such as \[0, 0.5, 1\]\.$"):
        EntmaxClassifierCV(l1_ratios=0.5).fit(X, y)


def test_the_default_score_has_no_name():
    message = r"'scoring' parameter .*Got 'brier' instead\. None, .* the Brier score\."
    with pytest.raises(ValueError, match=message):
        EntmaxClassifierCV(scoring="brier").fit(X, y)


def test_each_word_is_of_a_parameter_that_is_missing():
    """A word that becomes a parameter of all classes would hide it."""
    for cls, name, _ in PARAMETERS:
        assert name not in inspect.signature(cls).parameters
    assert "alpha" in inspect.signature(EntmaxClassifier).parameters


def test_constructors_are_as_before():
    model = EntmaxClassifier(1.25, C=3)
    assert next(iter(inspect.signature(EntmaxClassifier).parameters)) == "alpha"
    for copied in (clone(model), pickle.loads(pickle.dumps(model))):
        assert copied.get_params() == model.get_params()
    message = r"SoftmaxClassifier.* takes no positional .* got 1. .* such as C=\.\.\.$"
    with pytest.raises(TypeError, match=message):
        SoftmaxClassifier(3)
    with pytest.raises(TypeError, match=r"takes 1 \(alpha\) positional .* got 2"):
        EntmaxClassifier(1.5, 3)
    with pytest.raises(ValueError, match=r"'mapping' .*is a parameter of LinearClass"):
        EntmaxClassifier().set_params(mapping__alpha=1)
    with pytest.raises(
        ValueError, match=r"'n' for estimator Fenchel.*\['mapping'\]\.$"
    ):
        SoftmaxClassifier(loss=FenchelYoungLoss("softmax")).set_params(loss__n=1)
    assert model.set_params(alpha=2).alpha == 2


class _WithAnything(SoftmaxClassifier):
    def __init__(self, extra=1, **others):
        super().__init__(**others)
        self.extra = extra


def test_a_subclass_with_any_keywords():
    model = _WithAnything(extra=2, C=4)
    assert (model.extra, model.C) == (2, 4)


@pytest.mark.parametrize(
    ("model", "key", "value"),
    [
        (LinearClassifier("entmax"), "mapping__alpha", "mapping is 'entmax'"),
        (PerturbMaxClassifier(StudentT(3.0)), "noise__df", r"noise is StudentT\(df=3"),
        (
            LinearClassifier(PerturbMax(StudentT(3.0))),
            "mapping__noise__df",
            r"noise is StudentT\(df=3",
        ),
    ],
)
def test_values_without_parameters_are_named(model, key, value):
    with pytest.raises(ValueError, match=f"{value}.*Give another value"):
        model.set_params(**{key: 2.0})
