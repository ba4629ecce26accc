"""Scores and probabilities of any fitted classifier, as a matrix of float64."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.utils.validation import _num_samples

from ..._utils.arrays import dense, on_host
from ..._utils.checks import as_real
from ..._utils.fitted import class_probabilities, last_step, predicting_model
from ...mappings import softmax

# Logarithm of a probability of zero, so that differences are finite.
_LOG_ZERO = np.log(np.finfo(np.float64).tiny)


class ResponseType(NamedTuple):
    """Kind of prediction of a classifier, and its shape.

    Attributes
    ----------
    response : {"scores", "probabilities"}
    method : {"decision_function", "predict_proba"}
        Method from which the response is computed. The scores are logarithms of the
        probabilities where there is no ``decision_function``. The probabilities are
        softmax of the scores where there is no ``predict_proba``, for label sets the
        logistic function of each score.
    n_classes : int
    is_set : bool
        Whether the classifier was fitted to label sets.
    """

    response: str
    method: str
    n_classes: int
    is_set: bool


class Response(NamedTuple):
    """Score or probability of each class of each row.

    Attributes
    ----------
    values : ndarray of float64 of shape (n_samples, n_classes)
        A class that is not available has the probability -1, or the lowest score of the
        row. With this score it changes no nonconformity of an available class.
    precision : float
        Relative rounding error of the type in which the classifier computes.
    absent : ndarray of bool of shape (n_samples, n_classes) or None
        Classes that are not available; None if all are.
    """

    values: np.ndarray
    precision: float
    absent: np.ndarray | None = None

    def only_available(self):
        """The values, -inf where a class is not available."""
        if self.absent is None:
            return self.values
        return np.where(self.absent, -np.inf, self.values)


def method_of(model, response):
    """Name of the method from which a response is computed.

    Parameters
    ----------
    model : estimator
        Also an unfitted one.
    response : {"scores", "probabilities"}
    """
    methods = "predict_proba", "decision_function"
    wanted, other = methods if response == "probabilities" else methods[::-1]
    return wanted if hasattr(model, wanted) else other


def _check_responds(model, method, n_classes):
    """Raise where a model lacks the method, or has scores of pairs of classes."""
    if not hasattr(model, method):
        raise ValueError(
            "estimator must have decision_function or predict_proba after the fit; "
            f"{type(model).__name__} has neither."
        )
    if method == "predict_proba" or n_classes <= 2:
        return
    if getattr(last_step(model), "decision_function_shape", None) == "ovo":
        raise ValueError(
            "estimator must have a score for each class, not for each pair of "
            "classes: set decision_function_shape='ovr'."
        )


def response_of(model, X, response_type, arguments):
    """Score or probability of each class of each row, by a fitted classifier.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : object
        Rows, as the classifier takes them.
    response_type : ResponseType
    arguments : dict
        Further arguments of the classifier's method, about these rows, also where the
        classifier is in a search or a pipeline. With any, a score of -inf means that
        the class is not available: the name of the argument may be an alias.

    Returns
    -------
    result : Response

    Raises
    ------
    ValueError
        If the classifier has no score for each class; if the result has another shape,
        or holds NaN or infinity.
    """
    response, method, n_classes, is_set = response_type
    _check_responds(model, method, n_classes)
    shape = _num_samples(X), n_classes
    model, X, arguments = predicting_model(model, X, arguments)
    if method == "decision_function":
        result = _scores(model, X, shape, is_set, arguments)
        if response == "scores":
            return result
        z = result.only_available()
        p = expit(z) if is_set else softmax(z)
        return _without_absent(p, result.precision, result.absent)
    p = class_probabilities(model, X, **arguments)
    p, precision = _checked(p, "predict_proba", shape)
    wrong = (p < 0) | (p > 1 + np.sqrt(precision))
    if wrong.any():
        row = int(wrong.any(axis=1).argmax())
        raise ValueError(
            "predict_proba of the estimator must return numbers from 0 to 1; row "
            f"{row} is {p[row][:5].tolist()}."
        )
    if response == "scores":
        with np.errstate(divide="ignore"):
            return Response(np.maximum(np.log(p), _LOG_ZERO), precision)
    absent = None
    if arguments and hasattr(model, "decision_function") and (p == 0).any():
        # Probabilities do not tell an absent class from an improbable one.
        absent = _scores(model, X, shape, is_set, arguments).absent
    return _without_absent(p, precision, absent)


def _without_absent(p, precision, absent):
    if absent is not None:
        p = np.where(absent, -1.0, p)
    return Response(p, precision, absent)


def _scores(model, X, shape, is_set, arguments):
    """The response by ``decision_function``."""
    values = _as_scores(model.decision_function(X, **arguments), shape[1], is_set)
    absent = None
    if arguments and (values == -np.inf).any():
        absent = values == -np.inf
        # One of two classes that is alone has +inf.
        alone = (values == np.inf) & absent.any(axis=1, keepdims=True)
        values = np.where(alone, 0, values)
        lowest = np.where(absent, np.inf, values).min(axis=1, keepdims=True)
        values = np.where(absent, lowest, values)
    z, precision = _checked(values, "decision_function", shape)
    return Response(z, precision, absent)


def _as_scores(values, n_classes, is_set):
    """A score for each class; those of two classes are half a difference each."""
    values = on_host(values)
    if values.ndim != 1:
        return values
    if is_set or n_classes != 2:
        return values[:, None]
    # np.stack takes twice as long for few rows.
    half = values / 2
    result = np.empty((len(half), 2), dtype=half.dtype)
    result[:, 0], result[:, 1] = -half, half
    return result


def _checked(values, method, shape):
    values = dense(values)
    is_single = values.dtype in (np.float32, np.float16)
    precision = float(np.finfo(values.dtype if is_single else np.float64).eps)
    if values.shape != shape:
        raise ValueError(
            f"{method} of the estimator must return a row for each of the {shape[0]} "
            f"rows, and a column for each of the {shape[1]} classes; got shape "
            f"{values.shape}."
        )
    values = as_real(f"{method} of the estimator", values).astype(
        np.float64, copy=False
    )
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values).all(axis=1)))
        raise ValueError(
            f"{method} of the estimator must return finite numbers; row {row} is "
            f"{values[row][:5].tolist()}."
        )
    return values, precision
