"""Newton's step by the whole Hessian, and the decrease that it is expected to bring."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from scipy.linalg.lapack import dposv

from .._utils.arrays import precision
from .._utils.typing import Array


@dataclass(frozen=True)
class Damping:
    """A number that is added to the Hessian's diagonal, in units of its largest entry.

    It makes the Hessian positive definite. Where there is no curvature, a step is the
    rounding error of the gradient divided by the damping.
    """

    value: float
    least: float  #: With less there was no Cholesky factor, or it is a rounding error.
    most: float

    @classmethod
    def of(cls, problem):
        """The damping to begin with."""
        least = precision(problem.description.dtype)
        most = least ** (0.83 if problem.has_penalty else 0.6)
        return cls(most, least, most)


class NewtonStep(NamedTuple):
    """A step of Newton's method."""

    #: Shape (n_parameters,); None if the Hessian has no Cholesky factor.
    step: Array | None
    expected_decrease: float  #: NaN where it is not known.
    damping: Damping  #: The one that was used.
    #: Whether the damping accounts for next to nothing of the decrease.
    is_resolved: bool = True


def damped_newton_step(problem, point, damping, tuning):
    """The :class:`NewtonStep` from a point.

    Along directions whose curvature is less than the damping, the step is too short and
    the expected decrease too small. So the damping is reduced where it accounts for
    a part of the decrease that is more than a rounding error.

    Parameters
    ----------
    problem : Problem
    point : Point
        Its Hessian is of shape (n_parameters, n_parameters).
    damping : Damping
        The one to try first.
    tuning : Tuning
    """
    hessian, gradient = point.hessian(), point.gradient
    rounding = precision(problem.description.dtype)
    diagonal = hessian.reshape(-1)[:: len(hessian) + 1]
    curvature, unit = diagonal.copy(), float(diagonal.max(initial=0))
    is_resolved = False
    while True:
        diagonal[:] = curvature + damping.value * unit
        # Symmetric: its transpose is in the order that LAPACK asks for.
        _, step, failed = dposv(hessian.T, -gradient)
        if failed:
            if damping.value >= damping.most:
                return NewtonStep(None, math.nan, damping)
            more = 100 * damping.value
            damping = replace(damping, value=more, least=more)
            continue
        decrease = -float(gradient.dot(step)) / 2
        damped = damping.value * unit * float(step.dot(step)) / 2
        is_resolved = damped <= max(tuning.damped_part * decrease, rounding)
        if is_resolved:
            break
        if damping.value <= damping.least:
            # Directions may exist of even less curvature.
            decrease += tuning.unresolved_curvature * damped
            break
        less = max(damping.value / 100, damping.least)
        damping = replace(damping, value=less)
    decrease = decrease if math.isfinite(decrease) else math.nan
    return NewtonStep(step, decrease, damping, is_resolved)
