"""Arguments that are real numbers: True and False are none."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils._param_validation import Interval

from skprob import (
    EntmaxClassifierCV,
    LinearClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
)
from skprob.attention import AttentionClassifier, taylor_attention
from skprob.decision import ConformalSets, LabelCuts, LeastCost
from skprob.inspection import ConvergenceDisplay, SetDisplay, coefficient_table
from skprob.losses import LogLoss
from skprob.mappings import (
    MAPPINGS,
    PerturbMax,
    Sigmoid,
    StudentT,
    Temperature,
    gumbel_softmax,
)
from skprob.metrics import kullback_leibler_divergence, label_propensities

from .estimators import CLASSES

X, y = load_iris(return_X_y=True)
Y = np.column_stack([y != 0, X[:, 0] > 5.8, X[:, 1] > 3]).astype(int)
MODEL = SoftmaxClassifier(tol=0.1).fit(X, y)

OBJECTS = [
    *CLASSES,
    LogLoss(),
    Temperature("softmax"),
    *(mapping() for mapping in MAPPINGS.values()),
    ConformalSets(SoftmaxClassifier()),
    AttentionClassifier(),
]


@pytest.mark.parametrize("owner", OBJECTS, ids=lambda owner: type(owner).__name__)
def test_parameters(owner):
    """Each with an interval of numbers, unless it may also be True or False."""
    for name in owner.get_params(deep=False):
        allowed = owner._parameter_constraints.get(name, ())
        of_numbers = any(isinstance(constraint, Interval) for constraint in allowed)
        if of_numbers and "boolean" not in allowed:
            for value in True, np.True_:
                changed = clone(owner).set_params(**{name: value})
                words = rf"'{name}' .* an? (float|int) in .*Got (np.)?True"
                with pytest.raises(ValueError, match=words):
                    changed._validate_params()


def sets_at(rule):
    return SigmoidClassifier(threshold=rule, tol=0.1).fit(X, Y).predict(X)


CALLS = {
    "C": lambda v: SoftmaxClassifier(C=v).fit(X, y),
    "alpha": lambda v: LinearClassifier(Sigmoid(v)).fit(X, Y),
    "budget": lambda v: Sigmoid(budget=(0, v))(X),
    "threshold": lambda v: SigmoidClassifier().fit(X, Y).set_threshold(v),
    "class_weight": lambda v: SoftmaxClassifier(class_weight={0: v}).fit(X, y),
    "df": lambda v: PerturbMax(StudentT(v))(X),
    "temperature": lambda v: gumbel_softmax(X, temperature=v, random_state=0),
    "shrinkage": lambda v: sets_at(LabelCuts(shrinkage=v)),
    "abstain": lambda v: SoftmaxClassifier(
        threshold=LeastCost(np.ones((3, 3)) - np.eye(3), abstain=v)
    ).fit(X, y),
    "Cs": lambda v: EntmaxClassifierCV(alphas=[1.5], Cs=[v, 2.0]).fit(X, y),
    "alphas": lambda v: EntmaxClassifierCV(alphas=[v, 1.5]).fit(X, y),
    "l1_ratios": lambda v: EntmaxClassifierCV(l1_ratios=np.array([v])).fit(X, y),
    "level": lambda v: coefficient_table(MODEL, X, y, level=v),
    "epsilon": lambda v: kullback_leibler_divergence(Y[:, :1], Y[:, :1], epsilon=v),
    "a": lambda v: label_propensities(Y, a=v),
    "coverage": lambda v: SetDisplay.from_predictions(Y, Y, coverage=v),
    "reference": lambda v: ConvergenceDisplay.from_estimator(MODEL, reference=v),
    "scale": lambda v: taylor_attention(X, X, X, scale=v),
}


@pytest.mark.parametrize("name", CALLS)
def test_arguments(name):
    with pytest.raises(ValueError, match=rf"{name}\b.*True"):
        CALLS[name](True)
