"""A solver, with its state, its history and its result."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

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
    #: Value of this function at the point; NaN in the final stage.
    stage_value: float = math.nan

    # The quadratic model at the point.
    #: Expected decrease of the objective; NaN if unknown.
    expected_decrease: float = math.nan
    #: Newton's step from the point, if the whole Hessian is known.
    newton_step: Array | None = None
    #: Whether the expected decrease includes directions of negligible curvature.
    is_resolved: bool = True

    #: A bound on value less minimum, if the solver computes one; else NaN.
    duality_gap: float = math.nan

    # The next iteration.
    #: Whether another solver should continue.
    is_spent: bool = False
    #: Whether no step lowers the objective any more.
    is_stalled: bool = False


class Solver(Protocol):
    """Two functions of plain data."""

    name: str

    def init(self, problem, point) -> State:
        """The state at a point to start from."""

    def step(self, problem, state) -> State:
        """The state after one iteration, or the same point with `is_spent`."""


class Iteration(NamedTuple):
    """A row of a solver's history: an iteration or the start, with its cost."""

    iteration: int
    objective: float  #: Value of the function that the stage minimises.
    gradient_norm: float  #: Largest absolute entry of the gradient.
    duality_gap: float  #: NaN where it was not computed.
    passes: float  #: Passes over X so far.
    seconds: float  #: Seconds so far.
    round_trips: int  #: Round trips to remote blocks so far.
    bytes: int  #: Bytes sent in both directions so far.
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
    stopped: bool  #: Whether the callback stopped it.
    message: str  #: Text of the reason why it stopped.
    #: Parameters among "max_iter", "tol" and "penalty" that should be larger for a fit
    #: to converge.
    remedies: tuple[str, ...]
    #: "newton-cholesky", "newton-cg", "splitting", "lbfgs" or "bundle", or two
    #: joined by "+".
    solver: str
    history: list[Iteration]  #: The start and each iteration.
    state: State | None = None  #: The last state, from which a solver may resume.
