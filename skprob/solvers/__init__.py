"""Solvers: they minimise an objective that they know by a declared protocol only."""

from ._auto import auto, minimize_newton, newton_cg, newton_cholesky
from ._base import run
from ._convergence import Convergence
from ._lbfgs import lbfgs
from ._newton import newton
from ._path import minimize_path
from ._plan import Plan, plan
from ._preconditioner import Preconditioner
from ._protocol import Objective
from ._solution import Solution

#: Every name that is accepted as ``solver``.
SOLVERS = {"auto": auto, "lbfgs": lbfgs, "newton-cg": newton_cg}
SOLVERS["newton-cholesky"] = newton_cholesky

__all__ = [
    "SOLVERS",
    "Convergence",
    "Objective",
    "Plan",
    "Preconditioner",
    "Solution",
    "auto",
    "lbfgs",
    "minimize_newton",
    "minimize_path",
    "newton",
    "newton_cg",
    "plan",
    "run",
]
