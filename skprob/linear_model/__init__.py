"""Linear classifiers."""

from ._am_softmax_classifier import AMSoftmaxClassifier
from ._entmax_classifier import EntmaxClassifier
from ._entmax_classifier_cv import EntmaxClassifierCV
from ._linear_classifier import LinearClassifier
from ._perturb_max_classifier import PerturbMaxClassifier
from ._sigmoid_classifier import SigmoidClassifier
from ._softmax_classifier import SoftmaxClassifier
from ._sparse_softmax_classifier import SparseSoftmaxClassifier
from ._sparsemax_classifier import SparsemaxClassifier
from ._taylor_softmax_classifier import TaylorSoftmaxClassifier

__all__ = [
    "AMSoftmaxClassifier",
    "EntmaxClassifier",
    "EntmaxClassifierCV",
    "LinearClassifier",
    "PerturbMaxClassifier",
    "SigmoidClassifier",
    "SoftmaxClassifier",
    "SparseSoftmaxClassifier",
    "SparsemaxClassifier",
    "TaylorSoftmaxClassifier",
]
