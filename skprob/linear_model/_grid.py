"""The values of alpha and C that a search goes through."""

from numbers import Integral

import numpy as np


def checked_alphas(alphas):
    """Values of alpha as an array of floats; ValueError if they are not allowed."""
    return _checked("alphas", alphas, "at least 1", lambda a: (a >= 1) & (a < np.inf))


def checked_Cs(Cs):
    """Values of C as an array of floats, those of a number as for scikit-learn."""
    if isinstance(Cs, Integral):
        return np.logspace(-4, 4, Cs)
    return _checked("Cs", Cs, "positive", lambda C: C > 0)


def _checked(name, values, allowed, is_allowed):
    try:
        grid = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        grid = np.array(np.nan)
    if grid.ndim != 1 or grid.size == 0 or not is_allowed(grid).all():
        raise ValueError(
            f"{name} must be a list of one or more numbers, each {allowed}; got "
            f"{values!r}."
        )
    return grid
