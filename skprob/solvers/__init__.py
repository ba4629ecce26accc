"""Solvers: they minimise an objective that they know by its methods only."""

from ._auto import auto
from ._lbfgs import lbfgs
from ._newton_batch import newton_batch
from ._newton_cg import newton_cg
from ._newton_cholesky import newton_cholesky
from ._preconditioner import Preconditioner
from ._scaling import OriginalCoordinates, Standardization, coordinates_of
from ._solution import Solution
from ._whitening import Whitening

#: Every name that is accepted as ``solver``. A new member is one line here.
SOLVERS = {
    "auto": auto,
    "lbfgs": lbfgs,
    "newton-cg": newton_cg,
}

__all__ = [
    "SOLVERS",
    "OriginalCoordinates",
    "Preconditioner",
    "Solution",
    "Standardization",
    "Whitening",
    "auto",
    "coordinates_of",
    "lbfgs",
    "newton_batch",
    "newton_cg",
    "newton_cholesky",
]
