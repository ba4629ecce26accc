"""Solvers: they minimise an objective that they know by its methods only."""

from ._lbfgs import lbfgs
from ._scaling import OriginalCoordinates, Standardization, coordinates_of
from ._solution import Solution

#: Every name that is accepted as ``solver``. A new member is one line here.
SOLVERS = {
    "lbfgs": lbfgs,
}

__all__ = [
    "SOLVERS",
    "OriginalCoordinates",
    "Solution",
    "Standardization",
    "coordinates_of",
    "lbfgs",
]
