"""For type checkers: what the package imports when it is used."""

from ._smallest_C import smallest_C as smallest_C
from .classifiers._am_softmax_classifier import (
    AMSoftmaxClassifier as AMSoftmaxClassifier,
)
from .classifiers._entmax_classifier import EntmaxClassifier as EntmaxClassifier
from .classifiers._linear_classifier import LinearClassifier as LinearClassifier
from .classifiers._perturb_max_classifier import (
    PerturbMaxClassifier as PerturbMaxClassifier,
)
from .classifiers._sigmoid_classifier import SigmoidClassifier as SigmoidClassifier
from .classifiers._softmax_classifier import SoftmaxClassifier as SoftmaxClassifier
from .classifiers._sparse_softmax_classifier import (
    SparseSoftmaxClassifier as SparseSoftmaxClassifier,
)
from .classifiers._sparsemax_classifier import (
    SparsemaxClassifier as SparsemaxClassifier,
)
from .classifiers._taylor_softmax_classifier import (
    TaylorSoftmaxClassifier as TaylorSoftmaxClassifier,
)
from .search._entmax_classifier_cv import EntmaxClassifierCV as EntmaxClassifierCV
from .search._perturb_max_classifier_cv import (
    PerturbMaxClassifierCV as PerturbMaxClassifierCV,
)
