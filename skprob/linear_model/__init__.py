"""Linear classifiers."""

from importlib import import_module

_MODULES = {
    "AMSoftmaxClassifier": "_am_softmax_classifier",
    "EntmaxClassifier": "_entmax_classifier",
    "EntmaxClassifierCV": "_entmax_classifier_cv",
    "LinearClassifier": "_linear_classifier",
    "PerturbMaxClassifier": "_perturb_max_classifier",
    "PerturbMaxClassifierCV": "_perturb_max_classifier_cv",
    "SigmoidClassifier": "_sigmoid_classifier",
    "SoftmaxClassifier": "_softmax_classifier",
    "SparseSoftmaxClassifier": "_sparse_softmax_classifier",
    "SparsemaxClassifier": "_sparsemax_classifier",
    "TaylorSoftmaxClassifier": "_taylor_softmax_classifier",
}

__all__ = list(_MODULES)


def __getattr__(name):
    # Imported when used: each class takes scikit-learn's routing about a millisecond.
    if name in _MODULES:
        value = getattr(import_module(f".{_MODULES[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
