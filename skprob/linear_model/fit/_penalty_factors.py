"""Checks of penalty factors."""

from reprlib import repr as short_repr

import numpy as np


def checked_factors(factors, n_features, names):
    """A user's penalty factors as an array of shape (n_features,).

    Parameters
    ----------
    factors : array-like of shape (n_features,), dict or Series
    n_features : int
    names : ndarray of shape (n_features,) or None
        Names of the features, where X has names.

    Raises
    ------
    ValueError
        If a factor is not real, negative or NaN, all are infinite, their number is not
        that of the features, or a name is not that of a feature.
    """
    given = factors
    if isinstance(factors, dict):
        factors = _by_name(factors, n_features, names)
    elif names is not None and _has_names(factors):
        if not factors.index.is_unique:
            raise ValueError(
                "penalty_factors must have each name once; got a Series with the index "
                f"{list(factors.index[:10])}."
            )
        factors = _by_name(factors.to_dict(), n_features, names)
    try:
        # A list of the values shows the kind of those in an array of objects.
        array = np.asarray(np.asarray(factors).tolist())
        if array.dtype.kind in "cSU":
            # NumPy would discard imaginary parts, and read digits in texts.
            raise TypeError(f"Values of dtype {array.dtype} are not real numbers.")
        array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "penalty_factors must be real numbers, one for each feature; got "
            f"{short_repr(given)}."
        ) from error
    if array.shape != (n_features,):
        raise ValueError(
            "penalty_factors must have one number for each feature of X, "
            f"{n_features} in all; got an array of shape {array.shape}."
        )
    wrong = np.flatnonzero(~(array >= 0))
    if len(wrong):
        feature = wrong[0] if names is None else repr(names[wrong[0]])
        raise ValueError(
            "penalty_factors must not be negative or NaN; that of feature "
            f"{feature} is {array[wrong[0]]:g}."
        )
    if np.isinf(array).all():
        raise ValueError(
            "penalty_factors must be finite for one feature at least; all are "
            "infinite, which leaves every feature out."
        )
    return array


def _has_names(factors):
    """Whether factors are a Series of pandas whose index has names of features."""
    is_series = hasattr(factors, "iloc") and getattr(factors, "ndim", None) == 1
    return is_series and all(isinstance(key, str) for key in factors.index)


def _by_name(factors, n_features, names):
    """The factors of a dict in the order of the features; 1 for those not named."""
    if names is None:
        raise ValueError(
            "penalty_factors can be a dict only where the columns of X have names that "
            "are strings, as in a DataFrame; these have none. Use an array."
        )
    place = {name: i for i, name in enumerate(names)}
    unknown = [name for name in factors if name not in place]
    if unknown:
        raise ValueError(
            f"penalty_factors has the names {unknown[:5]}, which are not columns of X; "
            f"its columns are {list(names[:10])}"
            f"{' and so on' if len(names) > 10 else ''}."
        )
    array = np.ones(n_features, dtype=object)
    for name, factor in factors.items():
        array[place[name]] = factor
    return array
