"""Classifiers whose scores or probabilities are the features themselves."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class GivenScores(ClassifierMixin, BaseEstimator):
    """The scores of the classes are the columns of X."""

    def fit(self, X, y):
        self.classes_ = np.unique(y) if np.ndim(y) == 1 else np.arange(y.shape[1])
        return self

    def decision_function(self, X):
        return np.asarray(X)


class GivenProbabilities(GivenScores):
    """The probabilities of the classes are the columns of X."""

    decision_function = property()

    def predict_proba(self, X):
        return np.asarray(X)


class GivenMatrices(GivenScores):
    """Two columns for each label, as scikit-learn's forests have them."""

    decision_function = property()

    def fit(self, X, y):
        self.classes_ = [np.unique(column) for column in y.T]
        return self

    def predict_proba(self, X):
        return [
            np.stack([1 - p, p], axis=1) if len(values) == 2 else np.ones((len(p), 1))
            for p, values in zip(np.asarray(X).T, self.classes_, strict=True)
        ]


def softmax_rows(n_rows, n_classes, seed=0, spread=2.0):
    """Scores, softmax of them, and labels drawn by these probabilities."""
    rng = np.random.default_rng(seed)
    z = spread * rng.normal(size=(n_rows, n_classes))
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    y = (p.cumsum(axis=1) < rng.random(n_rows)[:, None]).sum(axis=1)
    return z, p, np.minimum(y, n_classes - 1)
