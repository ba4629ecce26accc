"""Linear classifiers with a choice of output mapping and its matching loss."""

from importlib import import_module

__version__ = "0.1.0"

_CLASSIFIERS = [
    "AMSoftmaxClassifier",
    "EntmaxClassifier",
    "EntmaxClassifierCV",
    "LinearClassifier",
    "PerturbMaxClassifier",
    "PerturbMaxClassifierCV",
    "SigmoidClassifier",
    "SoftmaxClassifier",
    "SparseSoftmaxClassifier",
    "SparsemaxClassifier",
    "TaylorSoftmaxClassifier",
]
_PACKAGES = [
    "attention",
    "data",
    "decision",
    "inspection",
    "linear_model",
    "losses",
    "mappings",
    "metrics",
    "objective",
    "onnx",
    "solvers",
    "targets",
]

__all__ = [*_CLASSIFIERS, "__version__"]


def __getattr__(name):
    # Imported when used, so that ``import skprob`` costs next to nothing.
    if name in _PACKAGES:
        return import_module(f".{name}", __name__)
    if name in _CLASSIFIERS:
        return getattr(import_module(".linear_model", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return [*__all__, *_PACKAGES]
