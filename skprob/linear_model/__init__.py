"""Linear classifiers."""

from .._utils.lazy import lazy_attribute

# Imported when used: each class takes scikit-learn's routing about a millisecond.
_MODULES = {
    "AMSoftmaxClassifier": "classifiers",
    "EntmaxClassifier": "classifiers",
    "EntmaxClassifierCV": "search",
    "LinearClassifier": "classifiers",
    "PerturbMaxClassifier": "classifiers",
    "PerturbMaxClassifierCV": "search",
    "SigmoidClassifier": "classifiers",
    "SoftmaxClassifier": "classifiers",
    "SparseSoftmaxClassifier": "classifiers",
    "SparsemaxClassifier": "classifiers",
    "TaylorSoftmaxClassifier": "classifiers",
    "smallest_C": "_smallest_C",
}

__all__ = list(_MODULES)


def __getattr__(name):
    return lazy_attribute(__name__, _MODULES, name)


def __dir__():
    return sorted({*globals(), *__all__})
