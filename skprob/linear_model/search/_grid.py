"""The grid of a search: values of one parameter of the mapping, and of C."""

from numbers import Integral
from typing import NamedTuple

import numpy as np


class Grid(NamedTuple):
    """All pairs of a value of a parameter and a value of C.

    Attributes
    ----------
    parameter : str
        The parameter that is searched, of the classifier.
    values : sequence of length n_values
    Cs : ndarray of shape (n_values, n_Cs)
        In any order, which is the same for all values.
    order : ndarray of int of shape (n_values,)
        The order in which the values are fitted.
    starts_from_last : bool
        Whether the fits for a value start from the solutions for the previous value.
    """

    parameter: str
    values: object
    Cs: np.ndarray
    order: np.ndarray
    starts_from_last: bool

    @property
    def columns(self):
        """The columns of the values of C, from the strongest penalty to the weakest."""
        return np.argsort(self.Cs[0])


def checked_alphas(alphas):
    """Values of alpha as an array of floats; ValueError if they are not allowed."""
    return _checked("alphas", alphas, "positive", lambda a: (a > 0) & (a < np.inf))


def checked_Cs(Cs):
    """Values of C as an array of floats, those of a number as for scikit-learn."""
    if isinstance(Cs, Integral):
        return np.logspace(-4, 4, Cs)
    return _checked("Cs", Cs, "positive", lambda C: C > 0)


def _checked(name, values, allowed, is_allowed):
    try:
        grid = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        grid = np.array(np.nan)
    if grid.ndim != 1 or grid.size == 0 or not is_allowed(grid).all():
        raise ValueError(
            f"{name} must be a list of one or more numbers, each {allowed}; got "
            f"{values!r}."
        )
    return grid
