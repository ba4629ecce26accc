"""Parts of scikit-learn 1.9 that older versions lack.

Callbacks exist since scikit-learn 1.9. Without them classifiers have no method
``set_callbacks``, and a fit opens its tasks in :class:`_NoCallbacks`, which does
nothing.
"""

from contextlib import nullcontext
from inspect import signature

import numpy as np
from sklearn.utils import _array_api
from sklearn.utils.validation import _check_sample_weight

try:
    from sklearn.callback import CallbackSupportMixin
except ModuleNotFoundError:

    class _NoCallbacks:
        """Context of a task without callbacks."""

        def subcontext(self, **kwargs):
            return self

        def propagate_callback_context(self, estimator):
            return nullcontext()

        def call_on_fit_task_begin(self, **kwargs):
            return None

        def call_on_fit_task_end(self, **kwargs):
            return False

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """A fit without callbacks."""

        def _init_callback_context(self, **kwargs):
            return _NoCallbacks()


def check_same_namespace(X, estimator, *, attribute, method):
    """Raise if X and an attribute are of different libraries or on different devices.

    Only called while scikit-learn's ``array_api_dispatch`` is set.
    """
    if hasattr(_array_api, "check_same_namespace"):
        _array_api.check_same_namespace(
            X, estimator, attribute=attribute, method=method
        )
        return
    places = [
        _array_api.get_namespace_and_device(array)
        for array in (X, getattr(estimator, attribute))
    ]
    (given, _, given_device), (fitted, _, fitted_device) = places
    both_numpy = all(_array_api._is_numpy_namespace(place[0]) for place in places)
    if both_numpy or (given is fitted and given_device == fitted_device):
        return
    raise ValueError(
        f"Inputs passed to {type(estimator).__name__}.{method}() must use the same "
        "namespace and the same device as those passed to fit(): got "
        f"{given.__name__} on {given_device}, the fit had {fitted.__name__} on "
        f"{fitted_device}."
    )


# Older versions allow weights that are all zero, and have no parameter for it.
_PARAMETERS_OF_CHECK = signature(_check_sample_weight).parameters
_ALLOW_ZEROS = (
    {"allow_all_zero_weights": True}
    if "allow_all_zero_weights" in _PARAMETERS_OF_CHECK
    else {}
)


def check_weights(sample_weight, X, *, may_be_zero=False):
    """Non-negative weights of the rows of X; an error if all of them are zero.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), float or None
    X : array of shape (n_samples, n_features)
    may_be_zero : bool, default=False
        Whether all weights may be zero.

    Returns
    -------
    weights : ndarray of shape (n_samples,)
    """
    n_dimensions = np.asarray(sample_weight).ndim
    if n_dimensions > 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {n_dimensions}D array."
        )
    if n_dimensions == 0 and sample_weight is not None:
        # scikit-learn does not check a number.
        sample_weight = np.full(X.shape[0], sample_weight)
    weights = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True, **_ALLOW_ZEROS
    )
    if not (may_be_zero or weights.any()):
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights


__all__ = ["CallbackSupportMixin", "check_same_namespace", "check_weights"]
