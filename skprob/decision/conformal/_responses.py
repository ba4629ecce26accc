"""Scores and probabilities of any fitted classifier, as a matrix of float64."""

import numpy as np
from scipy import sparse
from scipy.special import expit

from ..._utils.arrays import to_numpy
from ..._utils.fitted import class_probabilities, last_step
from ...mappings import softmax

# Logarithm of a probability of zero, so that differences are finite.
_LOG_ZERO = np.log(np.finfo(np.float64).tiny)


def response_of(model, X, n_classes, response, is_set):
    """Score or probability of each class of each row, by a fitted classifier.

    Parameters
    ----------
    model : estimator
        Fitted, with ``decision_function`` or ``predict_proba``.
    X : object
        Rows, as the classifier takes them.
    n_classes : int
    response : {"scores", "probabilities"}
        The scores are logarithms of the probabilities where there is no
        ``decision_function``. The probabilities are softmax of the scores where there
        is no ``predict_proba``, for label sets the logistic function of each score.
    is_set : bool
        Whether the classifier was fitted to label sets.

    Returns
    -------
    values : ndarray of float64 of shape (n_samples, n_classes)
    precision : float
        Relative rounding error of the type in which the classifier computes.

    Raises
    ------
    ValueError
        If the result has another shape, or holds NaN or infinity.
    """
    has_probabilities = hasattr(model, "predict_proba")
    if has_probabilities and response == "probabilities":
        return _checked(class_probabilities(model, X), "predict_proba", n_classes)
    if hasattr(model, "decision_function"):
        if n_classes > 2 and _has_pairwise_scores(model):
            raise ValueError(
                "estimator must have a score for each class, not for each pair of "
                "classes: set decision_function_shape='ovr'."
            )
        values = _as_scores(model.decision_function(X), n_classes, is_set)
        z, precision = _checked(values, "decision_function", n_classes)
        if response == "scores":
            return z, precision
        return expit(z) if is_set else softmax(z), precision
    if has_probabilities:
        p, precision = _checked(
            class_probabilities(model, X), "predict_proba", n_classes
        )
        with np.errstate(divide="ignore"):
            return np.maximum(np.log(p), _LOG_ZERO), precision
    raise ValueError(
        "estimator must have decision_function or predict_proba after the fit; "
        f"{type(model).__name__} has neither."
    )


def _has_pairwise_scores(model):
    return getattr(last_step(model), "decision_function_shape", None) == "ovo"


def _as_scores(values, n_classes, is_set):
    """A score for each class; those of two classes are half a difference each."""
    values = np.asarray(to_numpy(values))
    if values.ndim > 1:
        return values
    if is_set or n_classes != 2:
        return values[:, None]
    return np.stack([-values / 2, values / 2], axis=1)


def _checked(values, method, n_classes):
    if sparse.issparse(values):
        values = values.toarray()
    is_single = values.dtype in (np.float32, np.float16)
    precision = float(np.finfo(values.dtype if is_single else np.float64).eps)
    values = np.asarray(values, dtype=np.float64)
    if values.shape[1:] != (n_classes,):
        raise ValueError(
            f"{method} of the estimator must return a column for each of the "
            f"{n_classes} classes; got shape {values.shape}."
        )
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values).all(axis=1)))
        raise ValueError(
            f"{method} of the estimator must return finite numbers; row {row} is "
            f"{values[row][:5].tolist()}."
        )
    return values, precision
