"""For type checkers: what the package imports when it is used."""

from ._am_softmax_classifier import AMSoftmaxClassifier as AMSoftmaxClassifier
from ._entmax_classifier import EntmaxClassifier as EntmaxClassifier
from ._entmax_classifier_cv import EntmaxClassifierCV as EntmaxClassifierCV
from ._linear_classifier import LinearClassifier as LinearClassifier
from ._perturb_max_classifier import PerturbMaxClassifier as PerturbMaxClassifier
from ._perturb_max_classifier_cv import PerturbMaxClassifierCV as PerturbMaxClassifierCV
from ._sigmoid_classifier import SigmoidClassifier as SigmoidClassifier
from ._softmax_classifier import SoftmaxClassifier as SoftmaxClassifier
from ._sparse_softmax_classifier import (
    SparseSoftmaxClassifier as SparseSoftmaxClassifier,
)
from ._sparsemax_classifier import SparsemaxClassifier as SparsemaxClassifier
from ._taylor_softmax_classifier import (
    TaylorSoftmaxClassifier as TaylorSoftmaxClassifier,
)
