"""Advice in errors about parameters that have another name in other packages."""

from __future__ import annotations

from importlib import import_module
from inspect import isclass

from ..._utils.names import KeywordsChecked, did_you_mean, of_any_spelling

_STRENGTH = (
    "The strength of the penalty is 1 / C, and C=numpy.inf is no penalty. l1_ratio=0 "
    "is the squared norm ('l2'), l1_ratio=1 the sum of absolute values ('l1')."
)
_STEPS = "The solvers choose the length of each step: leave it out."

#: Advice to a user who gives a parameter of this name.
_SENTENCES = {
    **dict.fromkeys(["penalty", "reg", "regularization", "weight_decay"], _STRENGTH),
    **dict.fromkeys(["lam", "lamda", "lambda", "lambda_", "lmbda"], _STRENGTH),
    **dict.fromkeys(["reg_lambda", "reg_alpha", "l1", "l2"], _STRENGTH),
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

#: Name in skprob of a parameter of other packages.
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

#: Advice to a user who gives this value to a parameter.
OTHER_VALUES = {
    "solver": dict.fromkeys(["sag", "saga", "liblinear", "sgd", "adam"], _SOLVER),
    "loss": {
        "sparsemax": _SPARSEMAX,
        **dict.fromkeys(["entmax", "entmax15", "tsallis"], _ENTMAX),
        **dict.fromkeys(["hinge", "squared_hinge"], _HINGE),
        **dict.fromkeys(["log_loss", "logistic", "multinomial", "softmax"], _LOG),
        **dict.fromkeys(["nll", "nll_loss", "bce"], _LOG),
    },
    "class_weight": {"auto": "Did you mean 'balanced'?"},
    "C": {
        **dict.fromkeys([None, "none"], "C=numpy.inf is no penalty."),
        "cv": "EntmaxClassifierCV chooses C by cross-validation.",
    },
    "threshold": {
        **dict.fromkeys(["f1", "f1_micro", "f1_macro"], _F1),
        "top_k": "Sets of k labels are those of skprob.decision.TopK(k).",
    },
    "scoring": dict.fromkeys(
        ["brier", "brier_score", "brier_loss", "brier_score_loss"], _BRIER
    ),
    "select": dict.fromkeys(
        ["group", "groups", "group_lasso", "l21"], "Did you mean 'features'?"
    ),
    "l1_ratio": {None: "l1_ratio=0 is the squared norm only."},
    "l1_ratios": "Give several values, such as [0, 0.5, 1].",
    "alphas": "Give several values, such as [1, 1.5, 2]. The values of C are `Cs`.",
}


class AdviceOnParameters(KeywordsChecked):
    """Mixin: an error about an unknown parameter names the one of skprob to use."""

    _other_values = OTHER_VALUES

    @classmethod
    def _instead_of(cls, name):
        return _instead_of(name, cls)


def _instead_of(name, cls):
    """Advice to a user who gave a classifier a parameter that it lacks.

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
    ours, names = of_any_spelling(_OURS, name) or name, cls._get_param_names()
    sentence = of_any_spelling(_SENTENCES, name)
    if f"{name}s" in names:  # A search has alphas, Cs and l1_ratios.
        return f" Give several values, as {name}s=[...]."
    if of_another_case := [each for each in names if each.lower() == name.lower()]:
        return f" It is {of_another_case[0]!r} here."
    if sentence is not None:
        is_without = sentence is _STRENGTH and not {"C", "Cs"} & set(names)
        return " There is no penalty." if is_without else f" {sentence}"
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
