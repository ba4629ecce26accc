"""Linear classifiers."""

from ._am_softmax_classifier import AMSoftmaxClassifier
from ._entmax_classifier import EntmaxClassifier
from ._linear_classifier import LinearClassifier
from ._softmax_classifier import SoftmaxClassifier
from ._sparsemax_classifier import SparsemaxClassifier

__all__ = [
    "AMSoftmaxClassifier",
    "EntmaxClassifier",
    "LinearClassifier",
    "SoftmaxClassifier",
    "SparsemaxClassifier",
]
