"""Linear classifiers with a choice of output mapping and its matching loss."""

from .linear_model import (
    EntmaxClassifier,
    LinearClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)

__version__ = "0.1.0"

__all__ = [
    "EntmaxClassifier",
    "LinearClassifier",
    "SoftmaxClassifier",
    "SparsemaxClassifier",
    "__version__",
]
