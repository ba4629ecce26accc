"""Linear classifiers: the estimators, and what a fit does with checked arguments.

Read `base/_base.py` first: its `fit` goes from a user's arguments to fitted attributes.
`classifiers/` has a class for each mapping, and `base/` the code of all of them.
`fit/` goes from checked rows to coefficients. `predict/` computes probabilities and
label sets, `search/` chooses parameters by cross-validation, and `dask/` holds the rows
of Dask collections.

The files of this folder are imported by several of these. `_training_rows.py` checks
the arguments of `fit`, and makes the rows of a fit. `_given.py` has their offsets and
available classes; `_unknown_labels.py` leaves out labels that are not known, and
`_label_warnings.py` warns of labels in no row.
`_known_threshold.py` has the thresholds that need no rows, and `_trials.py` the checks
of a user's mapping. `_entry_C.py` computes the C at which a first coefficient is not
zero. `_docstrings.py` has the sections that docstrings share.
"""

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
