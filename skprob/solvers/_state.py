"""Where a solver is, and what it returns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from .._utils.typing import Array
from ._problem import Point


class Stage(StrEnum):
    """The function that an iteration minimises; its value is the name in `history_`."""

    FINAL = "final"  #: The objective itself.
    STRONGER_PENALTY = "stronger penalty"  #: The same loss under more of the penalty.
    EASIER_LOSS = "easier loss"  #: Another loss, whose minimum is a good start.
    OTHER_NOISE = "other noise"  #: The loss through a mapping with another noise.


@dataclass(frozen=True, kw_only=True)
class State:
    """State of a solver: a point, and the model of the objective there.

    Most solvers have a subclass with further fields.
    """

    # The point. It changes in every iteration.
    point: Point

    # The last step, or the start.
    #: The function that the step minimises.
    stage: Stage = Stage.FINAL
    #: Its value at the point; NaN in the final stage, whose value the point has.
    stage_value: float = math.nan

    # The quadratic model at the point.
    #: By how much the objective is expected to fall; NaN where this is not known.
    expected_decrease: float = math.nan
    #: Newton's step from the point, where the whole Hessian is known.
    newton_step: Array | None = None
    #: Whether the expected decrease includes that along directions of next to no
    #: curvature.
    is_resolved: bool = True

    #: A bound on value less minimum, if the solver computes one; else NaN.
    duality_gap: float = math.nan

    # The next iteration.
    #: Whether another solver should take over.
    is_spent: bool = False
    #: Whether no step lowers the objective any more.
    is_stalled: bool = False


class Iteration(NamedTuple):
    """A row of a solver's history: an iteration, or the start, and what it took."""

    iteration: int
    objective: float  #: Value of what is minimised in the stage.
    gradient_norm: float  #: Largest absolute entry of the gradient.
    duality_gap: float  #: NaN where it was not computed.
    passes: float  #: Passes over X so far.
    seconds: float  #: So far.
    round_trips: int  #: To remote blocks, so far.
    bytes: int  #: Sent to and fro so far.
    stage: Stage = Stage.FINAL  #: The function that is minimised.


class Solution(NamedTuple):
    """The result of a solver: the point where it stopped."""

    parameters: Array
    value: float
    gradient: Array
    gradient_norm: float  #: Largest absolute entry of the gradient.
    duality_gap: float  #: Bound on the value less the minimum.
    n_iter: int
    converged: bool  #: Whether all criteria are met.
    stopped: bool  #: Whether the callback asked to stop.
    message: str  #: Why it stopped, in words.
    #: Which of "max_iter", "tol" and "penalty" could help a fit that did not converge,
    #: if they were larger.
    remedies: tuple[str, ...]
    #: "newton-cholesky", "newton-cg", "splitting", "lbfgs" or "bundle", or two
    #: joined by "+".
    solver: str
    history: list[Iteration]  #: The start and each iteration.
    state: State | None = None  #: The last one, from which a solver may resume.
