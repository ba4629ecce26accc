"""The protocol of a problem that is a sum over outputs.

Matrices have a row for each output. A pass for some of the outputs counts as their
share of a pass.
"""

from __future__ import annotations

from typing import Protocol

from ..._utils.typing import Array
from .._problem import LinearProblem


class OutputsHessian(Protocol):
    """The Hessians of some outputs, in the coordinates of a preconditioner."""

    def product(self, variables: Array) -> Array:
        """Each Hessian times its column of variables (size, m), in one pass."""

    def of_outputs(self, some: Array) -> OutputsHessian:
        """The Hessians of some of these outputs, given by their numbers."""


class OutputsRay(Protocol):
    """Some outputs along a step, each with its own length."""

    def trial(self, lengths: Array, some: Array) -> tuple[Array, Array]:
        """Values and slopes (n_some,) of some outputs at their lengths; no pass."""

    def arrive(self, lengths: Array) -> OutputsPoint:
        """The point with each output at its length (m,), in half a pass."""


class OutputsPoint(Protocol):
    """Some outputs at one point."""

    outputs: Array  #: Numbers of these outputs among those of the problem: (m,).
    parameters: Array  #: (m, size).
    values: Array  #: (m,); all outputs add up to the value of the problem.
    gradient: Array  #: (m, size).
    ridge: Array  #: Second derivatives of the penalty: (size,).

    def of_outputs(self, some: Array) -> OutputsPoint:
        """The point of some of these outputs, given by their numbers."""

    def towards_targets(self, shares: Array) -> OutputsPoint:
        """The same point with curvature nearer to the targets, by shares (m,).

        It takes no pass.
        """

    def total_curvature(self) -> Array:
        """Curvature of each output: (m,)."""

    def curvature_sums(self, some: Array, precision: type) -> tuple[Array, Array]:
        """Sums (n_some, size) of the columns and of their squares, in one pass.

        Both are weighted by the curvature of some of these outputs, and computed in a
        floating-point type.
        """

    def scaled_hessian(
        self, unit: Array, center: Array | None, precision: type
    ) -> OutputsHessian:
        """The Hessians in other variables (size, m), in a floating-point type.

        The parameters of output k are unit[k] * v_k; from that of the constant, the
        inner product of center[k] and v_k without its last entry is subtracted.
        """

    def duality_gaps(self) -> Array:
        """Bounds (m,) on values less minima; one pass in all calls together."""

    def along(self, step: Array) -> OutputsRay:
        """The outputs along a step (m, size), in half a pass."""


class SeparableProblem(LinearProblem, Protocol):
    """A linear problem that is a sum over outputs."""

    has_output_gaps: bool  #: Whether the duality gaps vanish at the minima.

    def separate_at(self, parameters: Array) -> OutputsPoint:
        """All outputs at parameters (n_parameters,), in one pass."""

    def separate_start(self, parameters: Array) -> Array:
        """Parameters with the best intercept of each output with zeros; no pass."""
