"""scikit-learn's tests of LogisticRegression with our classifier in its place."""

import numpy as np
import pytest
from sklearn.linear_model.tests import test_logistic
from sklearn.utils._array_api import yield_namespace_device_dtype_combinations

from skprob import SoftmaxClassifier

from ..versions import need_cuda, since_1_8

#: Tolerances of the gradient that can be reached in float32 and float64.
TOLERANCE = {"float32": 1e-6, "float64": 1e-9}


class LogisticRegression(SoftmaxClassifier):
    """Ours, with the number of iterations in an array, and a tolerance within reach.

    scikit-learn's test asks for 1e-12, which its own solver ends above, and is silent.
    """

    def fit(self, X, y, sample_weight=None):
        dtype = str(X.dtype).rpartition(".")[-1]
        self.tol = max(self.tol, TOLERANCE[dtype])
        super().fit(X, y, sample_weight)
        self.n_iter_ = np.array([self.n_iter_])
        return self


TORCH = [("torch", "cpu"), ("torch", "cuda")]
PLACES = [
    place
    for place in yield_namespace_device_dtype_combinations(False)
    if place[0] == "array_api_strict" or place[:2] in TORCH
]
#: Binary or not, labels that are strings, with weights, and weights of classes: each
#: pair of choices occurs.
CHOICES = [
    (True, True, True, "dict"),
    (True, False, False, None),
    (True, False, True, "balanced"),
    (False, True, False, "balanced"),
    (False, False, True, "dict"),
    (False, True, True, None),
]


@since_1_8
@pytest.mark.parametrize("place", PLACES, ids=lambda place: "-".join(map(str, place)))
def test_in_the_place_of_logistic_regression(place, monkeypatch):
    if place[1] == "cuda":
        need_cuda()
    monkeypatch.setattr(test_logistic, "LogisticRegression", LogisticRegression)
    for choice in CHOICES:
        test_logistic.test_logistic_regression_array_api_compliance(*choice, *place)
    for binary in (True, False):
        test_logistic.test_logistic_regression_array_api_warm_start(binary, *place)
