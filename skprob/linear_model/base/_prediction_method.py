"""Methods that predict: of arrays at once, of Dask collections lazily."""

import copy
import functools

from sklearn import get_config
from sklearn.utils.validation import check_is_fitted

from ..._utils.arrays import is_dask
from ..._utils.compat import check_same_namespace
from ..._utils.typing import Decorated
from .._docstrings import with_shared_arguments


def prediction_method(method: Decorated) -> Decorated:
    """Decorator of a method of X, for rows in memory or in a Dask collection.

    The result is a lazy Dask array if X is a Dask collection. An array of another
    library, or on another device, than X in ``fit`` is an error.
    """

    @functools.wraps(method)
    def wrapped(self, X, *, available=None, offset=None):
        given = {"available": available, "offset": offset}
        if not is_dask(X):
            if get_config()["array_api_dispatch"]:
                check_is_fitted(self)
                check_same_namespace(X, self, attribute="coef_", method=method.__name__)
            return method(self, X, **given)
        from ..dask import lazily, refuse_for_dask

        check_is_fitted(self)
        refuse_for_dask(**given)
        return lazily(getattr(copy.copy(self), method.__name__), X)

    return with_shared_arguments(wrapped)  # type: ignore[return-value]
