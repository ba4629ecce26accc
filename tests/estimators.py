"""Every classifier with every mapping: what the common tests run over."""

import inspect

import numpy as np

import skprob
from skprob import EntmaxClassifier, EntmaxClassifierCV, LinearClassifier
from skprob.mappings import MAPPINGS

PUBLIC = [getattr(skprob, name) for name in skprob.__all__]
#: All but the one that is itself a search, with tests of its own.
CLASSIFIERS = [
    member
    for member in PUBLIC
    if isinstance(member, type) and member is not EntmaxClassifierCV
]


def _all_classifiers():
    estimators = [
        *(classifier() for classifier in CLASSIFIERS),
        *(EntmaxClassifier(alpha=alpha) for alpha in (1, 1.05, 1.25, 2, 2.5)),
        *(LinearClassifier(mapping=name) for name in MAPPINGS),
        LinearClassifier(loss="log"),
        LinearClassifier(mapping="entmax", temperature=0.5),
    ]
    # "softmax" is LinearClassifier's default: the same estimator only once.
    return {repr(estimator): estimator for estimator in estimators}


#: Unfitted instances by their representation.
ESTIMATORS = _all_classifiers()
#: Those whose scores are W x + b: with a penalty, and an intercept that is free.
LINEAR = {k: v for k, v in ESTIMATORS.items() if v.similarity == "dot"}

_MORE = (
    LinearClassifier(loss="accuracy"),
    LinearClassifier(mapping="sparsemax", margin=0.5),
    LinearClassifier(similarity="cosine", temperature=0.1),
    LinearClassifier(label_smoothing=0.1),
    EntmaxClassifierCV(alphas=(1, 2), Cs=(0.1, 1), cv=2),
)
#: What scikit-learn's checks run over: also the parameters with tests of their own.
CHECKED = ESTIMATORS | {repr(estimator): estimator for estimator in _MORE}


def softplus_shares(scores):
    """A function as a mapping; its loss is the log loss."""
    weight = np.logaddexp(0, scores)
    return weight / weight.sum(axis=1, keepdims=True)


#: What the tests search over, by parameter: values that make different models. Other
#: parameters are fixed where it has an effect with those values only.
_GRIDS = {
    "mapping": {"mapping": ["softmax", "sparsemax", softplus_shares], "loss": ["log"]},
    "loss": {"loss": ["auto", "accuracy"]},
    "alpha": {"alpha": [1.25, 2.5]},
    "order": {"order": [2, 6]},
    "k": {"k": [1, 2]},
    "p": {"p": [0.6, 0.9]},
    "outside": {"outside": ["published", "add", "full", "skip"], "k": [1]},
    "pretrain": {"pretrain": ["softmax", None], "k": [2]},
    "kappa": {"kappa": [0.5, 2.0]},
    "noise": {"noise": ["normal", "uniform"]},
    "n_quantiles": {"n_quantiles": [None, 10]},
    "scale": {"scale": [0.5, 2.0]},
    "similarity": {"similarity": ["dot", "cosine"]},
    "margin": {"margin": [0.0, 0.5]},
    "temperature": {"temperature": [0.5, 2.0]},
    "C": {"C": [0.1, 10.0]},
    "fit_intercept": {"fit_intercept": [True, False]},
    "class_weight": {"class_weight": [None, {0: 5.0}]},
    "label_smoothing": {"label_smoothing": [0.0, 0.3]},
}
#: How a model is computed, and what a fit to labels has no use for.
_NOT_THE_MODEL = {
    *("target_type", "threshold", "sparse_output", "memory", "random_state", "n_jobs"),
    *("solver", "tol", "max_iter", "warm_start", "verbose"),
}


def _searches():
    for classifier in CLASSIFIERS:
        # What searches by itself has tests of its own.
        if not classifier.__name__.endswith("CV"):
            yield from _searches_over(classifier(), classifier, "")
    for mapping in MAPPINGS.values():
        yield from _searches_over(LinearClassifier(mapping()), mapping, "mapping__")


def _searches_over(model, owner, prefix):
    for name in inspect.signature(owner).parameters:
        if name not in _NOT_THE_MODEL:
            grid = {prefix + key: v for key, v in _GRIDS.get(name, {}).items()}
            yield f"{model}, {name}", (model, grid)


#: Every classifier with a grid for each of its parameters, by both; and a linear
#: classifier with every mapping and a grid for each of the mapping's. A grid is empty
#: where it still has to be written.
SEARCHES = dict(_searches())
