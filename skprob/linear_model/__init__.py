"""Linear classifiers."""

from ._entmax_classifier import EntmaxClassifier
from ._linear_classifier import LinearClassifier
from ._softmax_classifier import SoftmaxClassifier
from ._sparsemax_classifier import SparsemaxClassifier

__all__ = [
    "EntmaxClassifier",
    "LinearClassifier",
    "SoftmaxClassifier",
    "SparsemaxClassifier",
]
