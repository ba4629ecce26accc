"""Parameters of other packages and of papers: errors that name those of skprob."""

from importlib import import_module
from inspect import isclass, signature

from ..._utils.names import did_you_mean

_STRENGTH = (
    "The strength of the penalty is 1 / C, and C=numpy.inf is no penalty. l1_ratio=0 "
    "is the squared norm ('l2'), l1_ratio=1 the sum of absolute values ('l1')."
)
_STEPS = "The solvers choose the length of each step: leave it out."

#: What to do instead of giving a parameter of this name.
_SENTENCES = {
    **dict.fromkeys(["penalty", "reg", "regularization", "weight_decay"], _STRENGTH),
    **dict.fromkeys(["lam", "lamda", "lambda_", "lmbda", "l1", "l2"], _STRENGTH),
    **dict.fromkeys(["learning_rate", "lr", "eta0", "step_size"], _STEPS),
    "alpha": (
        "The α of entmax is a parameter of EntmaxClassifier and SigmoidClassifier. The "
        "strength of the penalty is 1 / C."
    ),
    "multi_class": (
        "All classes are fitted together. For one against the rest, take "
        "SigmoidClassifier or sklearn.multiclass.OneVsRestClassifier."
    ),
    "dual": "There is no choice between the primal and the dual problem: leave it out.",
    "intercept_scaling": "The intercept is not penalised: leave it out.",
    "random_state": "The fit draws no random numbers: leave it out.",
    "n_jobs": "A fit has the threads of BLAS, limited by threadpoolctl: leave it out.",
    "s": "The scale s of the scores is 1 / temperature.",
    "sample_weight": "It is an argument of fit.",
}

#: Our name of a parameter.
_OURS = {
    "activation": "mapping",
    "class_weights": "class_weight",
    "classes": "class_names",
    "degree": "order",
    "epochs": "max_iter",
    "eps": "tol",
    "label_weights": "class_weight",
    "link": "mapping",
    "m": "margin",
    "n_iter": "max_iter",
    "sigma": "scale",
    "smoothing": "label_smoothing",
    "tau": "temperature",
    "top_k": "k",
    "transformation": "mapping",
}

_SOLVER = (
    "Each solver takes sparse data, all classes at once and l1_ratio: leave the "
    "default, 'auto'."
)
_SPARSEMAX = (
    "Sparsemax is a mapping: take SparsemaxClassifier, or mapping='sparsemax' of "
    "LinearClassifier; loss='auto' is then the sparsemax loss."
)
_ENTMAX = "Entmax is a mapping: take EntmaxClassifier, whose loss='auto' belongs to it."
_HINGE = "There is no hinge loss: take sklearn.svm.LinearSVC, or a `margin`."
_LOG = "The log loss is 'log'."
_F1 = "'micro' is for a high micro-F1, 'macro' for a high macro-F1."
_BRIER = "None, the default, is minus the Brier score."

#: What to do instead of giving a value to a parameter.
OTHER_VALUES = {
    "solver": dict.fromkeys(["sag", "saga", "liblinear", "sgd", "adam"], _SOLVER),
    "loss": {
        "sparsemax": _SPARSEMAX,
        **dict.fromkeys(["entmax", "entmax15", "tsallis"], _ENTMAX),
        **dict.fromkeys(["hinge", "squared_hinge"], _HINGE),
        **dict.fromkeys(["log_loss", "logistic", "multinomial", "softmax"], _LOG),
    },
    "class_weight": {"auto": "Did you mean 'balanced'?"},
    "C": {
        None: "C=numpy.inf is no penalty.",
        "cv": "EntmaxClassifierCV chooses C by cross-validation.",
    },
    "threshold": dict.fromkeys(["f1", "f1_micro", "f1_macro"], _F1),
    "scoring": dict.fromkeys(["brier", "brier_score", "brier_loss"], _BRIER),
    "l1_ratio": {None: "l1_ratio=0 is the squared norm only."},
    "alphas": "Give several values, such as [1, 1.5, 2]. The values of C are `Cs`.",
}


def check_keywords(cls, keywords):
    """Raise TypeError if the constructor of a class lacks one of some keywords."""
    known = signature(cls.__init__).parameters
    if any(each.kind is each.VAR_KEYWORD for each in known.values()):
        return
    for name in keywords:
        if name not in known:
            raise TypeError(
                f"{cls.__name__}.__init__() got an unexpected keyword argument "
                f"{name!r}.{instead_of(name, cls)}"
            )


def instead_of(name, cls):
    """What to do instead of giving a classifier a parameter that it lacks.

    Parameters
    ----------
    name : str
    cls : type
        The class of the classifier.

    Returns
    -------
    advice : str
        Empty, or sentences with a space before them.
    """
    ours, names = _OURS.get(name, name), cls._get_param_names()
    if f"{name}s" in names:  # A search has alphas, Cs and l1_ratios.
        return f" Give several values, as {name}s=[...]."
    if name in _SENTENCES:
        is_without = _SENTENCES[name] is _STRENGTH and not {"C", "Cs"} & set(names)
        return " There is no penalty." if is_without else f" {_SENTENCES[name]}"
    if ours in names:
        return f" It is {ours!r} here."
    package = import_module("..", __package__)
    having = [each for each in package.__all__ if _has(getattr(package, each), ours)]
    if having:
        shown = ", ".join(having[:3]) + (" and others" if len(having) > 3 else "")
        return f" {ours!r} is a parameter of {shown}."
    return did_you_mean(name, names)


def _has(public, parameter):
    """Whether something public is a classifier with a parameter."""
    return isclass(public) and parameter in public._get_param_names()
