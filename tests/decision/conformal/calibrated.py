"""Sets calibrated for given responses, their scores by loops, and data sets."""

import numpy as np
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.preprocessing import StandardScaler

from skprob.decision import ConformalSets

IRIS = load_iris(return_X_y=True)
SCORE_FUNCTIONS = ["entmax", "threshold", "adaptive"]


def prefit(estimator, X, y, **parameters):
    """Sets calibrated on the rows, for a classifier that needs no fit."""
    return ConformalSets(estimator.fit(X, y), cv="prefit", **parameters).fit(X, y)


def nonconformity(score_function, z, p, alpha=1.5):
    """Nonconformity of all classes, by loops."""
    result = np.empty_like(p)
    for i, k in np.ndindex(p.shape):
        if score_function == "threshold":
            result[i, k] = 1 - p[i, k]
        elif score_function == "adaptive":
            result[i, k] = p[i][p[i] >= p[i, k]].sum()
        else:
            above = np.maximum(z[i] - z[i, k], 0)
            result[i, k] = np.linalg.norm(above, 1 / (alpha - 1))
    return result


def multilabel(n_rows, seed=0):
    """Standardised features, and sets of six labels, none of them empty."""
    X, Y = make_multilabel_classification(
        n_rows, n_classes=6, allow_unlabeled=False, random_state=seed
    )
    return StandardScaler().fit_transform(X), Y
