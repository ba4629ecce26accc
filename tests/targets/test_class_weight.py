"""Weights of classes against the formula of scikit-learn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.utils.class_weight import compute_class_weight

from skprob.targets import weights_of_classes

CLASSES, TOTAL = np.array(["a", "b", "c"]), np.array([30.0, 10.0, 5.0])


def test_balanced_weights():
    y = CLASSES.repeat(TOTAL.astype(int))
    expected = compute_class_weight("balanced", classes=CLASSES, y=y)
    assert_allclose(weights_of_classes("balanced", CLASSES, TOTAL), expected)
    # A class in no row gets no weight, and is one of those that share the total.
    weights = weights_of_classes("balanced", CLASSES, np.array([30.0, 0.0, 10.0]))
    assert_allclose(weights, [40 / (3 * 30), 0, 40 / (3 * 10)])


def test_weights_by_name():
    weights = weights_of_classes({"c": 0.5, "a": 2}, CLASSES, TOTAL)
    assert_allclose(weights, [2, 1, 0.5])
    with pytest.raises(ValueError, match=r"names the classes \['d'\], which are not"):
        weights_of_classes({"d": 1.0}, CLASSES, TOTAL)
    for wrong in -1.0, np.inf, np.nan, "1", True:
        with pytest.raises(ValueError, match="class_weight"):
            weights_of_classes({"a": wrong}, CLASSES, TOTAL)
