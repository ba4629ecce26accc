"""Fitted classifiers of any library, alone or inside pipelines and searches."""

from contextlib import suppress

import numpy as np
from scipy import sparse
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import _routing_enabled

from .arrays import on_host


def last_step(estimator):
    """The model at the end of pipelines and searches."""
    while True:
        if isinstance(estimator, Pipeline):
            estimator = estimator[-1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            return estimator


def predicted_sets(estimator, X, **arguments):
    """Indicator of the sets of a fitted classifier, in pipelines and searches, too.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    X : object
        Rows, as the estimator takes them.
    **arguments : dict
        Further arguments of ``predict_set`` or ``predict``, as for :func:`predict_by`.

    Raises
    ------
    ValueError
        If the model has no ``predict_set`` and predicts one label for each row.
    """
    model = last_step(estimator)
    if hasattr(model, "predict_set"):
        model, features = at_last_step(estimator, X)
        return model.predict_set(features, **_not_none(arguments))
    sets = predict_by("predict", estimator, X, **arguments)
    if sets.ndim != 2:
        raise ValueError(
            "estimator must have predict_set, such as ConformalSets, or be fitted to "
            f"label sets; {type(model).__name__} predicts one label a row."
        )
    return sets


def at_last_step(estimator, X):
    """The model at the end of pipelines and searches, and the features that it gets."""
    while True:
        if isinstance(estimator, Pipeline):
            estimator, X = _after_transformers(estimator, X)
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            return estimator, X


def names_at_last_step(estimator):
    """Names of the features that the model at the end of pipelines and searches gets.

    Returns
    -------
    names : ndarray of shape (n_features,) or None
        None if neither the model nor the steps before it have names.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> X, y = pd.DataFrame({"colour": ["red", "blue"]}), [0, 1]
    >>> names_at_last_step(
    ...     make_pipeline(OneHotEncoder(), LogisticRegression()).fit(X, y)
    ... )
    array(['colour_blue', 'colour_red'], dtype=object)
    """
    names = None
    while True:
        if isinstance(estimator, Pipeline):
            if len(estimator) > 1:
                # Steps that have no such method, or no names, leave the names out.
                with suppress(AttributeError, ValueError):
                    names = estimator[:-1].get_feature_names_out()
            estimator = estimator[-1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            return getattr(estimator, "feature_names_in_", names)


def _after_transformers(pipeline, X):
    """The last step of a pipeline, and the features that it gets."""
    return pipeline[-1], pipeline[:-1].transform(X) if len(pipeline) > 1 else X


def predicting_model(model, X, arguments):
    """The model that takes the arguments of a prediction, with its features.

    The methods of searches, and of pipelines without metadata routing, take X alone.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : object
        Rows, as `model` takes them.
    arguments : dict
        Arguments of a prediction. An argument of a step of a pipeline has the name
        ``step__argument``, unless metadata routing is enabled.

    Returns
    -------
    model : estimator
    X : object
    arguments : dict
        The arguments by the names that the model has for them.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = [[0], [1]], [0, 1]
    >>> model = make_pipeline(LogisticRegression()).fit(X, y)
    >>> predicting_model(model, X, {"logisticregression__offset": y})
    (LogisticRegression(), [[0], [1]], {'offset': [0, 1]})
    """
    while arguments:
        if isinstance(model, FrozenEstimator):
            model = model.estimator
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, Pipeline) and not _routing_enabled():
            arguments = {
                name.removeprefix(f"{model.steps[-1][0]}__"): value
                for name, value in arguments.items()
            }
            model, X = _after_transformers(model, X)
        else:
            break
    return model, X, arguments


def predict_by(method, model, X, **arguments):
    """Result of a method of a fitted model, with arguments in searches, too.

    Arguments that are None are left out: the method need not have them.
    """
    model, X, arguments = predicting_model(model, X, _not_none(arguments))
    if not hasattr(model, method):
        raise ValueError(
            f"estimator must have {method} here; {type(model).__name__} has none."
        )
    return getattr(model, method)(X, **arguments)


def class_probabilities(model, X, **arguments):
    """``predict_proba`` as a matrix with a column for each class or label.

    Parameters
    ----------
    model : estimator
        Fitted. For label sets some classifiers of scikit-learn return a list with two
        columns for each label.
    X : object
        Rows, as the classifier takes them.
    **arguments : dict
        Further arguments of ``predict_proba``, as for :func:`predict_by`.

    Returns
    -------
    probabilities : ndarray or sparse matrix of shape (n_samples, n_classes)

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, Y = [[0], [1]], [[0, 1, 1], [1, 0, 1]]
    >>> class_probabilities(DecisionTreeClassifier().fit(X, Y), X)
    array([[0., 1., 1.],
           [1., 0., 1.]])
    """
    p = predict_by("predict_proba", model, X, **arguments)
    if not (isinstance(p, list) and p and np.ndim(p[0]) == 2):
        return p if sparse.issparse(p) else on_host(p)
    # A label that all training rows have, or none has, is a single class.
    columns = [
        of_label[:, 1] if of_label.shape[1] == 2 else of_label[:, 0] * only[0]
        for of_label, only in zip(p, model.classes_, strict=True)
    ]
    return np.stack(columns, axis=1)


def _not_none(arguments):
    return {name: value for name, value in arguments.items() if value is not None}
