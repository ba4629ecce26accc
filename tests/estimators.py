"""Every classifier and every mapping, for the common tests."""

import inspect

import numpy as np

import skprob
from skprob import (
    AMSoftmaxClassifier,
    EntmaxClassifier,
    EntmaxClassifierCV,
    LinearClassifier,
    PerturbMaxClassifierCV,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparseSoftmaxClassifier,
)
from skprob.attention import AttentionClassifier, AttentionRegressor
from skprob.decision import ConformalSets
from skprob.mappings import MAPPINGS, Entmax

PUBLIC = [getattr(skprob, name) for name in skprob.__all__]
#: All but those that are searches themselves, which have tests of their own.
CLASSIFIERS = [
    member
    for member in PUBLIC
    if isinstance(member, type)
    and member not in (EntmaxClassifierCV, PerturbMaxClassifierCV)
]


def class_name(mapping):
    """Name of the class of a registered mapping, if there is one."""
    return mapping.title().replace("_", "") + "Classifier"


def _classifiers():
    # LinearClassifier has the mappings without a class of their own. Its default is
    # SoftmaxClassifier's model.
    others = LinearClassifier, SigmoidClassifier
    named = [member for member in CLASSIFIERS if member not in others]
    names = {member.__name__ for member in named}
    for member in named:
        # By default it standardises a dense X and not a sparse one. The margin is that
        # of the paper; without one, coefficients are less exact at the same tolerance.
        published = {"margin": 0.35, "standardize": False}
        yield member(**published if member is AMSoftmaxClassifier else {})
    for name in MAPPINGS:
        if class_name(name) not in names and name != "sigmoid":
            yield LinearClassifier(mapping=name)
    yield LinearClassifier(loss="log")
    yield LinearClassifier(mapping=Entmax(alpha=1.25), temperature=0.5)
    # Above two the Hessian has no bound.
    yield EntmaxClassifier(alpha=2.5)


def _by_name(estimators):
    return {repr(estimator): estimator for estimator in estimators}


#: Every classifier and every mapping whose probabilities sum to one, once, unfitted, by
#: their representation. For tests whose result may depend on mapping, loss or scores.
ESTIMATORS = _by_name(_classifiers())
#: Classifiers with a marginal for each label; for class labels they are one-vs-rest.
MARGINALS = _by_name([SigmoidClassifier(), SigmoidClassifier(alpha=2.0)])
#: Classifiers whose scores are W x + b: with a penalty, and an intercept without.
LINEAR = {k: v for k, v in ESTIMATORS.items() if v.similarity == "dot"}
#: Three kinds of fit, for tests whose result depends on neither mapping, loss nor
#: scores: with a penalty, with cosines, in two stages.
SAMPLE = _by_name(
    [
        EntmaxClassifier(),
        AMSoftmaxClassifier(margin=0.35, standardize=False, constant=0),
        SparseSoftmaxClassifier(),
    ]
)

#: The public estimators at their defaults, for all of scikit-learn's checks.
DEFAULTS = [
    *(
        member()
        for member in (*PUBLIC, AttentionClassifier, AttentionRegressor)
        if isinstance(member, type)
    ),
    ConformalSets(SoftmaxClassifier()),
]
#: The linear ones, with searches over small grids.
CLASSES = [
    *(classifier() for classifier in CLASSIFIERS),
    EntmaxClassifierCV(alphas=(1, 2), Cs=(0.1, 1), cv=2),
    PerturbMaxClassifierCV(noises=("gumbel",), Cs=(0.1, 1), cv=2),
]
#: Parameters, for those of the checks that the model itself can fail.
VARIANTS = [
    *(model for model in ESTIMATORS.values() if type(model) is LinearClassifier),
    # With the weights of scikit-learn's check, 1000 and 0.0001, and a Hessian without a
    # bound, first-order methods may take too many steps. Rounding errors change the
    # steps of Newton's method, so that the minimum must be accurate. With the kernels
    # of some processors and C="auto" they leave a gradient of 4e-8.
    EntmaxClassifier(alpha=2.5, C=1.0, solver="newton-cg", tol=1e-10),
    LinearClassifier(loss="accuracy"),
    LinearClassifier(mapping="sparsemax", margin=0.5),
    LinearClassifier(similarity="cosine", temperature=0.1),
    LinearClassifier(label_smoothing=0.1),
    SigmoidClassifier(alpha=1.5),
    SigmoidClassifier(budget=(0, 5)),
]


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
    "budget": {"budget": [None, (1, 1)]},
    "order": {"order": [2, 6]},
    "k": {"k": [1, 2]},
    "p": {"p": [0.6, 0.9]},
    # With three classes "grow" is "add", because the label is the second best.
    "outside": {"outside": ["published", "add", "full", "skip"], "k": [1]},
    "pretrain": {"pretrain": ["softmax", None], "p": [0.9]},
    "kappa": {"kappa": [0.5, 2.0]},
    "noise": {"noise": ["normal", "uniform"]},
    "loadings": {"loadings": [None, [[1.0], [0.0], [0.0]]]},
    "learn_noise": {
        "learn_noise": [False, True],
        "noise": ["student_t"],
        "loss": ["log"],
    },
    "n_points": {"n_points": [2, 10], "loadings": [[[1.0], [0.0], [0.0]]]},
    "n_quantiles": {"n_quantiles": [None, 10]},
    "scale": {"scale": [0.5, 2.0]},
    "constant": {"constant": [0, 0.5]},
    "nests": {"nests": [[0, 0, 1], [0, 1, 1]], "scales": [0.5]},
    "scales": {"scales": [0.5, 1.0]},
    "similarity": {"similarity": ["dot", "cosine"]},
    "margin": {"margin": [0.0, 0.5]},
    "temperature": {"temperature": [0.5, 2.0]},
    "C": {"C": [0.1, 10.0]},
    "l1_ratio": {"l1_ratio": [0.0, 0.5]},
    "select": {"select": ["coefficients", "features"], "l1_ratio": [0.9]},
    "penalty_factors": {"penalty_factors": [None, [0.1, 1.0, 5.0, 1.0]]},
    "fit_intercept": {"fit_intercept": [True, False]},
    "class_weight": {"class_weight": [None, {0: 5.0}]},
    "label_smoothing": {"label_smoothing": [0.0, 0.3]},
}
#: The mapping with nests has the same name for its scales.
_NESTED_SCALES = {"learn_noise": [False, True], "nests": [[0, 0, 1]]}
#: Parameters that do not change the model, or have no effect on a fit to labels.
_NOT_THE_MODEL = {
    *("target_type", "class_names", "none_class", "threshold", "sparse_output"),
    # The searches are of standardised features.
    *("random_state", "n_init", "n_jobs", "standardize"),
    *("solver", "tol", "max_iter", "warm_start", "verbose"),
}


def _searches():
    linear = LinearClassifier()
    yield from _searches_over(linear, signature(linear), "")
    for classifier in CLASSIFIERS:
        # test_interface.py tests that the shared parameters are passed on.
        new_names = [
            name for name in signature(classifier) if name not in signature(linear)
        ]
        yield from _searches_over(classifier(), new_names, "")
    for name, mapping in MAPPINGS.items():
        # A class of its own passes its parameters on to the same mapping.
        classifier = getattr(skprob, class_name(name), None)
        searched = signature(classifier) if classifier else []
        new_names = [name for name in signature(mapping) if name not in searched]
        yield from _searches_over(LinearClassifier(mapping()), new_names, "mapping__")


def signature(owner):
    """Names of a constructor's parameters."""
    owner = owner if isinstance(owner, type) else type(owner)
    return list(inspect.signature(owner).parameters)


def _searches_over(model, names, prefix):
    for name in names:
        if name not in _NOT_THE_MODEL:
            values = _GRIDS.get(name, {})
            if (prefix, name) == ("mapping__", "learn_noise"):
                values = _NESTED_SCALES
            grid = {prefix + key: v for key, v in values.items()}
            yield f"{model}, {name}", (model, grid)


#: Pairs of a classifier and a grid, by classifier and parameter: LinearClassifier with
#: each of its parameters, every other class with each of its own parameters, and
#: LinearClassifier with each parameter of a mapping that no class has. An empty grid
#: is missing.
SEARCHES = dict(_searches())
