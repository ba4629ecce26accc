"""scikit-learn's own tests of arrays of other libraries, with our classifiers."""

import itertools

import numpy as np
import pytest
from sklearn.linear_model.tests import test_logistic
from sklearn.utils._array_api import yield_namespace_device_dtype_combinations
from sklearn.utils.estimator_checks import estimator_checks_generator

from skprob import (
    SoftmaxClassifier,
)


class Softmax(SoftmaxClassifier):
    """With the number of iterations in an array, as in LogisticRegression."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.n_iter_ = np.array([self.n_iter_])
        return self


PLACES = [
    place
    for place in yield_namespace_device_dtype_combinations()
    if place[0] in ("numpy", "array_api_strict") or place[:2] == ("torch", "cpu")
]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: "-".join(map(str, place)))
def test_logistic_regression(place, monkeypatch):
    monkeypatch.setattr(test_logistic, "LogisticRegression", Softmax)
    choices = [False, True], [False, True], [False, True], [None, "balanced", "dict"]
    for choice in itertools.product(*choices):
        test_logistic.test_logistic_regression_array_api_compliance(*choice, *place)
    for binary in (True, False):
        test_logistic.test_logistic_regression_array_api_warm_start(binary, *place)


def array_checks(estimator):
    return [
        (estimator, check)
        for _, check in estimator_checks_generator(estimator)
        if check.func.__name__.startswith("check_array_api")
    ]
