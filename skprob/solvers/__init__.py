"""Solvers: they minimise a problem that has a declared protocol.

`_problem.py` declares the members of a problem. `_minimize.py` has the loop that all
solvers share: a solver is two functions, `init` and `step`, of a frozen state. Read
`_newton_cholesky.py` first, the simplest of them, then `newton/_newton_cg.py`.
`_criteria.py` decides when to stop, `_plan.py` selects the solver for a problem, its
preconditioner and precision, and `_utils/tuning.py` has the numbers.

`by_output/` has Newton's method for each output of a separable problem, `lbfgs/` what
needs gradients alone, and `proximal/` the solver of penalties that make coefficients
zero.

`_in_turn.py` minimises several problems, each from the minimum of the one before, and
`_reasons.py` says why a solver ended before all criteria were met.

`_solve.py` runs the solver that is named. A new solver is one file, a name in
`_plan.py` and a branch in `_solve.py`.
"""

from .._utils.lazy import lazy_attribute
from .._utils.tuning import Tuning
from ._criteria import Criteria, Criterion, Verdict, allowed_decrease
from ._groups import groups_of_outputs
from ._in_turn import most_iterations, solve_in_turn, total_of
from ._line_search import Trial, line_search
from ._minimize import minimize
from ._newton_cholesky import NewtonCholesky
from ._plan import SOLVERS, Plan, method_for, plan
from ._problem import LinearProblem, Problem, members_of
from ._solve import solve
from ._state import Iteration, Solution, Stage, State
from .newton import NewtonCG, Preconditioner

__all__ = [
    "SOLVERS",
    "Criteria",
    "Criterion",
    "DouglasRachford",
    "Iteration",
    "LinearProblem",
    "NewtonCG",
    "NewtonCholesky",
    "Plan",
    "Preconditioner",
    "Problem",
    "Solution",
    "Stage",
    "State",
    "Trial",
    "Tuning",
    "Verdict",
    "allowed_decrease",
    "groups_of_outputs",
    "line_search",
    "members_of",
    "method_for",
    "minimize",
    "minimize_path",
    "most_iterations",
    "plan",
    "solve",
    "solve_in_turn",
    "total_of",
]

# Imported when used: the import takes milliseconds.
_MODULES = {"DouglasRachford": "_splitting", "minimize_path": "_path"}


def __getattr__(name):
    return lazy_attribute(__name__, _MODULES, name)
