"""The grid of a search: values of a parameter of the mapping, of l1_ratio and of C."""

from dataclasses import replace
from numbers import Integral
from typing import NamedTuple

import numpy as np

from .._entry_C import entry_C
from .._training_rows import RowsInMemory
from ..fit import C_of_loss

# Largest C divided by the smallest, if Cs is an integer and l1_ratio is positive.
_SPAN = 1e4


class Grid(NamedTuple):
    """All combinations of a value of a parameter, an l1_ratio and a value of C.

    Attributes
    ----------
    parameter : str
        The parameter of the classifier that is searched.
    values : sequence of length n_values
    l1_ratios : ndarray of shape (n_l1_ratios,)
    Cs : ndarray of shape (n_values, n_l1_ratios, n_Cs)
        Values of C; their order is the same for all values and ratios.
    order : ndarray of int of shape (n_values,)
        The order in which the values are fitted.
    """

    parameter: str
    values: object
    l1_ratios: np.ndarray
    Cs: np.ndarray
    order: np.ndarray

    @property
    def columns(self):
        """The columns of the values of C, from the strongest penalty to the weakest."""
        return np.argsort(self.Cs[0, 0])

    @property
    def paths(self):
        """Numbers of the value and the ratio of each path over C, in fitting order."""
        ratios = range(len(self.l1_ratios))
        return [(i, r) for r in ratios for i in self.order]

    def params(self, i, r, j):
        """The parameters of a point, by name: value i, l1_ratio r and C j."""
        return {
            self.parameter: self.values[i],
            "l1_ratio": self.l1_ratios[r],
            "C": self.Cs[i, r, j],
        }


def checked_alphas(alphas):
    """Values of alpha as an array of floats; ValueError if they are not allowed."""
    return _checked("alphas", alphas, "positive", lambda a: (a > 0) & (a < np.inf))


def checked_l1_ratios(l1_ratios):
    """Values of l1_ratio as an array of floats; None stands for zero alone."""
    if l1_ratios is None:
        return np.zeros(1)
    return _checked(
        "l1_ratios", l1_ratios, "from 0 to 1", lambda r: (r >= 0) & (r <= 1)
    )


def checked_Cs(Cs):
    """Values of C as an array of floats; a number makes the values of scikit-learn."""
    if isinstance(Cs, Integral):
        return np.logspace(-4, 4, Cs)
    return _checked("Cs", Cs, "positive", lambda C: C > 0)


def _checked(name, values, allowed, is_allowed):
    try:
        each = np.array(values, dtype=object).ravel()
        grid = np.array(values, dtype=np.float64)
        if any(isinstance(value, bool | np.bool_) for value in each):
            raise TypeError("True and False are not numbers.")
    except (TypeError, ValueError, OverflowError):
        grid = np.array(np.nan)
    if grid.ndim != 1 or grid.size == 0 or not is_allowed(grid).all():
        raise ValueError(
            f"{name} must be a list of one or more numbers, each {allowed}; got "
            f"{values!r}."
        )
    return grid


def Cs_of_grid(Cs, specs, l1_ratios, data):
    """Values of C for each value of the parameter and each l1_ratio.

    A number stands for multiples of the C with the effect of C=1 for softmax or, with a
    positive l1_ratio, of the C at which the first coefficient enters.

    Parameters
    ----------
    Cs : int or array-like
        The parameter.
    specs : list of FitSpec
        One for each value of the parameter.
    l1_ratios : ndarray of shape (n_l1_ratios,)
    data : TrainingData
        All rows.

    Returns
    -------
    Cs : ndarray of shape (n_values, n_l1_ratios, n_Cs)
    """
    multiples = checked_Cs(Cs)
    grid = np.tile(multiples, (len(specs), len(l1_ratios), 1))
    if not isinstance(Cs, Integral):
        return grid
    selects = l1_ratios > 0
    span = np.geomspace(1, _SPAN, Cs)
    for i, spec in enumerate(specs):
        loss = replace(spec, C=1.0).for_rows(data.encoded).loss
        grid[i] *= C_of_loss(loss, data.encoded.n_scores)
        if not selects.any():
            continue
        first = entry_C(spec, RowsInMemory(spec, data))
        # Where no coefficient enters at any C, every C has the same model.
        if np.isfinite(first):
            grid[i, selects] = first * l1_ratios[selects, None] * span
    return grid
