"""The expected decrease, where the solver's quadratic model does not show it.

The criteria compare it with the tolerance.
"""

import math

import numpy as np

from .._utils.arrays import precision
from ._newton_cholesky import NewtonCholesky, suits_whole_hessian


def confirmed_decrease(problem, state, tuning):
    """The expected decrease from a whole Hessian if it costs little, else the state's.

    The probability of a class of a row may vanish along Newton's step, as for the wrong
    classes of an outlier. The curvature of such a tail keeps steps short until its loss
    is negligible. The quadratic model does not include the decrease for the other rows
    after that. So the expected decrease is the whole loss of the tails, plus that of
    the quadratic model at the point without them.
    """
    known, description = state.expected_decrease, problem.description
    solver = NewtonCholesky(tuning)
    if description.has_shrinkage:
        return known
    if state.newton_step is None:
        if not suits_whole_hessian(description, tuning):
            return known
        point = problem.at(state.point.parameters)
        state = solver.init(problem, point)
        known = float(np.fmax(known, state.expected_decrease))
    point, step = state.point, state.newton_step
    # If the expected decrease is a rounding error, so is the step.
    if step is None or known <= precision(description.dtype):
        return known
    loss, without = point.without_tails(step)
    if without is None:
        return known
    without = solver.init(problem, without)
    return float(np.fmax(known, loss + without.expected_decrease))


def gain_by_scaling(gradient, parameters):
    """Largest gain of parameters that are up to four times as large, or smaller."""
    slope = float(gradient @ parameters)
    return max(-3 * slope, slope)


def expected_decrease(square, curvature):
    """Decrease of a quadratic function with this squared gradient and curvature.

    It is NaN, for unknown, if there is a gradient and no curvature.
    """
    if square == 0:
        return 0.0
    return square / (2 * curvature) if curvature > 0 else math.nan
