"""Arguments of the classifier's fit, of its predictions, and of the splitter.

Some classifiers take further arguments about rows, such as the available classes, in
the fit and in predictions. Calibration rows need them, as new rows do.
"""

from typing import NamedTuple

from scipy.sparse import issparse
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.validation import _is_arraylike, has_fit_parameter

from ._inner_models import check_reaches_predictions, model_of_search, takes
from ._responses import method_of


class Arguments(NamedTuple):
    """Arguments by name, for the parts that ``ConformalSets.fit`` calls.

    Attributes
    ----------
    fit : dict
        Arguments of the classifier's ``fit``.
    predict : dict
        Arguments of the method by which the classifier predicts.
    split : dict
        Arguments of the splitter.
    needed : list of str
        Names of the arguments about rows that predictions need. With metadata routing
        they are the aliases by which the classifier requests them.
    """

    fit: dict
    predict: dict
    split: dict
    needed: list


def arguments_of_fit(sets, method, sample_weight, params):
    """The arguments of ``ConformalSets.fit``, divided by the part that takes them.

    Parameters
    ----------
    sets : ConformalSets
    method : {"decision_function", "predict_proba"}
        Name of the method by which the classifier predicts.
    sample_weight : array-like or None
    params : dict

    Returns
    -------
    arguments : Arguments
        With ``cv="prefit"`` those of the classifier's ``fit`` are empty.

    Raises
    ------
    ValueError
        If no part takes an argument, or the classifier takes no weights.
    """
    is_fitted = sets.cv == "prefit"
    if _routing_enabled():
        return _routed_arguments(sets, method, sample_weight, params)
    of_prediction = {
        name: value
        for name, value in params.items()
        if takes(sets.estimator, method, name)
    }
    other = sorted(set(params) - set(of_prediction))
    check_reaches_predictions(sets.estimator, other)
    if is_fitted:
        if other:
            raise ValueError(
                "cv='prefit' fits no classifier: fit takes X, y, sample_weight and "
                f"the arguments of {method}; got also {other}. An argument of the last "
                "step of a pipeline is named step__argument; or use scikit-learn's "
                "metadata routing for a pipeline."
            )
        return Arguments({}, of_prediction, {}, names_of_rows(of_prediction))
    if "groups" in params and not has_fit_parameter(sets.estimator, "groups"):
        raise ValueError(
            "groups is an argument of the splitter in cv, which gets it by "
            "scikit-learn's metadata routing alone: call "
            "sklearn.set_config(enable_metadata_routing=True)."
        )
    if sample_weight is not None:
        if not has_fit_parameter(sets.estimator, "sample_weight"):
            raise ValueError(
                "sample_weight must be None: fit of "
                f"{type(sets.estimator).__name__} has no sample_weight. Use "
                "cv='prefit', or scikit-learn's metadata routing for a pipeline."
            )
        params = {**params, "sample_weight": sample_weight}
    # Options with the same name, such as "verbose", go to the fit alone.
    needed = names_of_rows(of_prediction)
    about_rows = {name: of_prediction[name] for name in needed}
    return Arguments(params, about_rows, {}, needed)


def _routed_arguments(sets, method, sample_weight, params):
    """The result of `arguments_of_fit` with metadata routing."""
    names, needed = names_of_rows(params), []
    model = model_of_search(sets.estimator)
    if names:
        needed = sorted(get_routing_for_object(model).consumes(method, names))
    if sets.cv == "prefit":
        check_reaches_predictions(sets.estimator, sorted(set(names) - set(needed)))
        routed = process_routing(sets, "fit", **params)
        return Arguments({}, routed.model[method], {}, needed)
    routed = process_routing(sets, "fit", sample_weight=sample_weight, **params)
    check_reaches_predictions(sets.estimator, sorted(set(names) - set(needed)))
    return Arguments(
        routed.estimator.fit, routed.model[method], routed.splitter.split, needed
    )


def names_of_rows(arguments):
    """Sorted names of the arguments that have entries for rows."""
    return sorted(
        name
        for name, value in arguments.items()
        if _is_arraylike(value) or issparse(value)
    )


def arguments_of_prediction(sets, caller, params, needed):
    """The arguments of the classifier's methods, for new rows.

    Parameters
    ----------
    sets : ConformalSets
    caller : {"predict", "predict_proba", "score"}
    params : dict
    needed : list of str
        Names of the arguments that the calibration rows had.

    Returns
    -------
    of_method : callable
        ``of_method(method)`` is the dict for a method of the classifier.

    Raises
    ------
    ValueError
        If the calibration rows had other arguments.
    """
    if not params and not needed:
        return lambda method: params
    given = set(names_of_rows(params))
    # The classifier raises the error on a number in place of an array.
    given.update(name for name in needed if params.get(name) is not None)
    given = sorted(given)
    if given != needed:
        raise ValueError(
            "The rows need the arguments with which calibration rows were predicted in "
            f"fit, {needed}; got {given}."
        )
    if params and _routing_enabled():
        return process_routing(sets, caller, **params).model.__getitem__
    return lambda method: params


def router(sets, uses_scores, by_class):
    """The metadata router of ``ConformalSets``.

    Parameters
    ----------
    sets : ConformalSets
    uses_scores : bool
        Whether scores of the classifier are calibrated, and not its probabilities.
    by_class : bool
        Whether each class has its own limit. Scores then give no probabilities.
    """
    response = "scores" if uses_scores else "probabilities"
    model, mapping = model_of_search(sets.estimator), MethodMapping()
    method = method_of(model, response)
    for caller in ("fit", "predict", "predict_proba", "score"):
        mapping.add(caller=caller, callee=method)
    if uses_scores and by_class:
        of_probabilities = method_of(model, "probabilities")
        mapping.add(caller="predict_proba", callee=of_probabilities)
    result = (
        MetadataRouter(owner=sets)
        .add_self_request(sets)
        .add(model=model, method_mapping=mapping)
    )
    if sets.cv == "prefit":
        return result
    to_fit = MethodMapping().add(caller="fit", callee="fit")
    to_splitter = MethodMapping().add(caller="fit", callee="split")
    return result.add(estimator=sets.estimator, method_mapping=to_fit).add(
        splitter=sets.cv, method_mapping=to_splitter
    )
