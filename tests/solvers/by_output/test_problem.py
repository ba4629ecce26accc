"""The solver uses the members that its protocol declares, and no others."""

import numpy as np
from numpy.testing import assert_allclose

from skprob.objective._scaled_hessian import ScaledHessian
from skprob.objective.by_output import _outputs_point as points
from skprob.solvers import Criteria, Tuning, members_of, minimize, plan, solve
from skprob.solvers._problem import Description
from skprob.solvers.by_output import _problem as protocols
from skprob.solvers.by_output._newton_by_output import NewtonByOutput

from .wide_objectives import LIMITS, objective_of, wide_rows

OF_RESULTS = {
    points.OutputsPoint: protocols.OutputsPoint,
    ScaledHessian: protocols.OutputsHessian,
    points.OutputsRay: protocols.OutputsRay,
}


class Declared:
    """An instance of which the members of a protocol can be used, and no others."""

    def __init__(self, instance, protocol):
        self._instance, self._members = instance, members_of(protocol)

    def __getattr__(self, name):
        if name not in self._members:
            raise AttributeError(f"{name} is not declared")
        member = getattr(self._instance, name)
        if name == "description":
            return Declared(member, Description)
        if not callable(member) or isinstance(member, np.dtype):
            return member
        return lambda *args: declared(member(*args))


def declared(result):
    protocol = OF_RESULTS.get(type(result))
    return result if protocol is None else Declared(result, protocol)


def test_declared_members_are_enough():
    X, Y = wide_rows()
    problem = objective_of(X, Y)
    expected = solve(problem, problem.initial(), **LIMITS)
    criteria = Criteria(tol=1e-9, max_iter=200)
    solver = NewtonByOutput(plan(problem.description), criteria, Tuning())
    separable, start = Declared(problem, protocols.SeparableProblem), problem.initial()
    state = solver.begin(separable, start)
    solution = minimize(separable, [solver], criteria, start, state=state)
    assert solution.converged
    assert_allclose(solution.parameters, expected.parameters, rtol=1e-12)
