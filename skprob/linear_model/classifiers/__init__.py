"""The classifiers: one class for each mapping.

Read `_softmax_classifier.py` first: a classifier is its parameters and the mapping and
loss that they stand for. Their common part is in `base/`. A new classifier is one file
here, one line in `linear_model/__init__.py` and one in `skprob/__init__.py`.
"""

from typing import TYPE_CHECKING

from ..._utils.lazy import lazy_attribute

if TYPE_CHECKING:
    from ._am_softmax_classifier import AMSoftmaxClassifier as AMSoftmaxClassifier
    from ._entmax_classifier import EntmaxClassifier as EntmaxClassifier
    from ._linear_classifier import LinearClassifier as LinearClassifier
    from ._perturb_max_classifier import PerturbMaxClassifier as PerturbMaxClassifier
    from ._sigmoid_classifier import SigmoidClassifier as SigmoidClassifier
    from ._softmax_classifier import SoftmaxClassifier as SoftmaxClassifier
    from ._sparse_softmax_classifier import (
        SparseSoftmaxClassifier as SparseSoftmaxClassifier,
    )
    from ._sparsemax_classifier import SparsemaxClassifier as SparsemaxClassifier
    from ._taylor_softmax_classifier import (
        TaylorSoftmaxClassifier as TaylorSoftmaxClassifier,
    )

__all__ = [
    "AMSoftmaxClassifier",
    "EntmaxClassifier",
    "LinearClassifier",
    "PerturbMaxClassifier",
    "SigmoidClassifier",
    "SoftmaxClassifier",
    "SparseSoftmaxClassifier",
    "SparsemaxClassifier",
    "TaylorSoftmaxClassifier",
]

_MODULES = {
    "AMSoftmaxClassifier": "_am_softmax_classifier",
    "EntmaxClassifier": "_entmax_classifier",
    "LinearClassifier": "_linear_classifier",
    "PerturbMaxClassifier": "_perturb_max_classifier",
    "SigmoidClassifier": "_sigmoid_classifier",
    "SoftmaxClassifier": "_softmax_classifier",
    "SparseSoftmaxClassifier": "_sparse_softmax_classifier",
    "SparsemaxClassifier": "_sparsemax_classifier",
    "TaylorSoftmaxClassifier": "_taylor_softmax_classifier",
}


def __getattr__(name):
    return lazy_attribute(__name__, _MODULES, name)
