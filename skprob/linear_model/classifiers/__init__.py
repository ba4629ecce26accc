"""The estimators: one class for each mapping, and what they share.

Read `_softmax_classifier.py` first: an estimator is its parameters and the mapping and
loss that they stand for. `_parameters.py` holds the parameters that all share,
`_base.py` the public methods. A new estimator is one file here, one line in
`linear_model/__init__.py` and one in `skprob/__init__.py`.
"""

from typing import TYPE_CHECKING

from ..._utils.lazy import lazy_attribute
from ._arguments import checked_data, training_rows
from ._base import BaseLinearClassifier
from ._fitted import fitted_attributes, replace_fitted, unchanged_on_error
from ._parameters import constraints_but

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
    "BaseLinearClassifier",
    "EntmaxClassifier",
    "LinearClassifier",
    "PerturbMaxClassifier",
    "SigmoidClassifier",
    "SoftmaxClassifier",
    "SparseSoftmaxClassifier",
    "SparsemaxClassifier",
    "TaylorSoftmaxClassifier",
    "checked_data",
    "constraints_but",
    "fitted_attributes",
    "replace_fitted",
    "training_rows",
    "unchanged_on_error",
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
