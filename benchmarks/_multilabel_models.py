"""The models of ``multilabel_table.py``, each with its decision rules.

A decision rule is a function of a fitted model and X that gives one prediction for each
value of what is tuned in it.
"""

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.svm import LinearSVC

from skprob import (
    EntmaxClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.decision import CommonCut, LabelCuts, StackedLabels
from skprob.mappings import sparsemax


def one_vs_rest(**parameters):
    return OneVsRestClassifier(LogisticRegression(**parameters))


class LogisticOrConstant(LogisticRegression):
    """For a chain: a label that all rows of a fold have, or none, is the constant."""

    def fit(self, X, y):
        """Fit, or keep the constant."""
        self.classes_ = np.array([0, 1])
        self.constant_ = y[0] if (y == y[0]).all() else None
        return self if self.constant_ is not None else super().fit(X, y)

    def predict(self, X):
        """0 or 1 for each row."""
        if self.constant_ is None:
            return super().predict(X)
        return np.full(X.shape[0], self.constant_)

    def predict_proba(self, X):
        """The probabilities of 0 and of 1."""
        if self.constant_ is None:
            return super().predict_proba(X)
        return np.tile([1 - self.constant_, self.constant_], (X.shape[0], 1))

    def __sklearn_is_fitted__(self):
        return hasattr(self, "constant_")


def logistic_rules(model, X):
    return cut_at(model.predict_proba(X), np.linspace(0.05, 0.5, 10))


def softmax_rules(model, X):
    p = model.predict_proba(X)
    return cut_at(p, np.arange(1, 11) / p.shape[1])


def sparsemax_rules(model, X):
    z = model.decision_function(X)
    return [sparsemax(t * z) > 0 for t in np.arange(1, 5.5, 0.5)]


def cut_at(p, cuts):
    return [p > cut for cut in cuts]


FAST = {"tol": 1e-6, "warm_start": True}
PAPER = {
    "logistic": (one_vs_rest(), logistic_rules),
    "softmax": (SoftmaxClassifier(threshold=0, **FAST), softmax_rules),
    "sparsemax": (SparsemaxClassifier(threshold=0, **FAST), sparsemax_rules),
}
OURS = {"threshold": 0, "warm_start": True}
STACKED = StackedLabels(LabelCuts("micro"))
#: Models that are fitted along a path of penalties, and the rule that makes their sets.
PATHS = {
    "one-vs-rest": (one_vs_rest(max_iter=1000), CommonCut()),
    "LinearSVC": (OneVsRestClassifier(LinearSVC()), CommonCut()),
    "1.5-entmax": (EntmaxClassifier(alpha=1.5, **OURS), LabelCuts("micro")),
    "sigmoid, α=1.5": (SigmoidClassifier(alpha=1.5, **OURS), LabelCuts("micro")),
    "sigmoid, stacked": (SigmoidClassifier(**OURS), STACKED),
    "α=1.5, stacked": (SigmoidClassifier(alpha=1.5, **OURS), STACKED),
}
#: The paths that are chosen from. The first is what the others are compared with.
TUNED = {
    **{name: [name] for name in PATHS},
    "either, stacked": ["sigmoid, stacked", "α=1.5, stacked"],
}


def probabilities(model, X):
    """Decision values without probabilities go through the logistic function."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))
    return expit(model.decision_function(X))


class CutClassifier(ClassifierMixin, BaseEstimator):
    """A classifier with one cut for all labels, of the best micro-F1 in three folds."""

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, Y):
        """Fit the classifier, and the cut by out-of-fold values."""
        folds = KFold(3, shuffle=True, random_state=0).split(Y)
        models = [
            (clone(self.estimator).fit(X[train], Y[train]), test)
            for train, test in folds
        ]
        values = np.vstack([probabilities(model, X[test]) for model, test in models])
        rows = np.concatenate([test for _, test in models])
        self.rule_ = CommonCut().fit(values, Y[rows], polytope="cube")
        self.estimator_ = clone(self.estimator).fit(X, Y)
        return self

    def predict(self, X):
        """Sets of labels."""
        return self.rule_.predict(probabilities(self.estimator_, X))


#: The first is what the others are compared with.
DEFAULTS = {
    "one-vs-rest, cut": CutClassifier(one_vs_rest()),
    "LinearSVC, cut": CutClassifier(OneVsRestClassifier(LinearSVC())),
    "chain": ClassifierChain(LogisticOrConstant()),
    "softmax": SoftmaxClassifier(),
    "1.5-entmax": EntmaxClassifier(),
    "1.5-entmax, macro": EntmaxClassifier(threshold="macro"),
    "1.5-entmax, cuts": EntmaxClassifier(threshold=LabelCuts()),
    "sparsemax": SparsemaxClassifier(),
    "sigmoid": SigmoidClassifier(),
    "sigmoid, α=1.5": SigmoidClassifier(alpha=1.5),
    "sigmoid, α=2": SigmoidClassifier(alpha=2.0),
}
