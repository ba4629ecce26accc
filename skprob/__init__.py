"""Linear classifiers with a choice of output mapping and its matching loss."""

from .linear_model import (
    AMSoftmaxClassifier,
    EntmaxClassifier,
    LinearClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
    SparseSoftmaxClassifier,
    TaylorSoftmaxClassifier,
)

__version__ = "0.1.0"

__all__ = [
    "AMSoftmaxClassifier",
    "EntmaxClassifier",
    "LinearClassifier",
    "SoftmaxClassifier",
    "SparseSoftmaxClassifier",
    "SparsemaxClassifier",
    "TaylorSoftmaxClassifier",
    "__version__",
]
