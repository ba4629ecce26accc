"""Linear classifiers."""

from importlib import import_module

_MODULES = {
    "AMSoftmaxClassifier": "classifiers._am_softmax_classifier",
    "EntmaxClassifier": "classifiers._entmax_classifier",
    "EntmaxClassifierCV": "search._entmax_classifier_cv",
    "LinearClassifier": "classifiers._linear_classifier",
    "PerturbMaxClassifier": "classifiers._perturb_max_classifier",
    "PerturbMaxClassifierCV": "search._perturb_max_classifier_cv",
    "SigmoidClassifier": "classifiers._sigmoid_classifier",
    "SoftmaxClassifier": "classifiers._softmax_classifier",
    "SparseSoftmaxClassifier": "classifiers._sparse_softmax_classifier",
    "SparsemaxClassifier": "classifiers._sparsemax_classifier",
    "TaylorSoftmaxClassifier": "classifiers._taylor_softmax_classifier",
    "smallest_C": "_smallest_C",
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
