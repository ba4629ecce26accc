"""Models inside of other estimators, and the arguments that their predictions take."""

from inspect import signature

from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import _routing_enabled

_PREDICTIONS = "decision_function", "predict_proba"


def model_of_search(estimator):
    """The model by which a search or a frozen estimator predicts, fitted or not."""
    while isinstance(estimator, (BaseSearchCV, FrozenEstimator)):
        estimator = estimator.estimator
    return estimator


def takes(estimator, method, name):
    """Whether predictions of an estimator take an argument, without metadata routing.

    Parameters
    ----------
    estimator : estimator
        Fitted or not, also a search or a pipeline.
    method : {"decision_function", "predict_proba"}
    name : str
        With the name of the step for an argument of a pipeline.
    """
    estimator = model_of_search(estimator)
    if isinstance(estimator, Pipeline):
        step, model = estimator.steps[-1]
        prefix = f"{step}__"
        return name.startswith(prefix) and takes(
            model, method, name.removeprefix(prefix)
        )
    return name in _parameters(estimator, method)


def check_reaches_predictions(estimator, names):
    """Raise where a model inside of an estimator needs arguments that it does not get.

    Parameters
    ----------
    estimator : estimator
    names : iterable of str
        Arguments of the fit that the predictions of the estimator do not take.
    """
    if isinstance(model_of_search(estimator), Pipeline) and not _routing_enabled():
        # The error on other names says that they need the name of the step.
        names = [name for name in names if "__" in name]
    for model in _models_inside(estimator):
        for name in names:
            if _needs(model, name):
                raise ValueError(
                    f"{name} is an argument of predictions of {type(model).__name__}, "
                    f"and {type(estimator).__name__} predicts without it, so that no "
                    f"set could depend on it. Use ConformalSets of "
                    f"{type(model).__name__}, of a pipeline, or of a search of either."
                )


def _models_inside(estimator):
    """The estimators inside of an estimator, at any depth."""
    inside = [getattr(estimator, "estimator", None)]
    if isinstance(estimator, Pipeline):
        inside.append(estimator.steps[-1][1])
    for named in getattr(estimator, "estimators", None) or ():
        inside.append(named[-1] if isinstance(named, tuple) else named)
    for model in inside:
        if hasattr(model, "fit"):
            yield model
            yield from _models_inside(model)


def _needs(model, name):
    """Whether the fit of a model gets an argument that its predictions take, too."""
    if not _routing_enabled():
        taken = set().union(*(_parameters(model, method) for method in _PREDICTIONS))
        return name.rpartition("__")[2] in taken
    if not hasattr(model, "_get_metadata_request"):
        return False
    requests = model._get_metadata_request()
    # An alias stands for the name, and True for the name itself.
    given = {
        argument
        for argument, alias in requests.fit.requests.items()
        if name == (argument if alias is True else alias)
    }
    return any(
        getattr(requests, method).requests.get(argument, False) is not False
        for method in _PREDICTIONS
        for argument in given
    )


def _parameters(model, method):
    function = getattr(model, method, None)
    return () if function is None else signature(function).parameters
