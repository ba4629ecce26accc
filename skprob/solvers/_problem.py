"""The protocols that a problem has for a solver, with types, shapes and costs.

A pass is one product of the data with coefficients and one of their transpose. Vectors
are of float64, in units in which curvatures are about one.
"""

from __future__ import annotations

from functools import cache
from math import inf
from typing import Protocol

import numpy as np

from .._utils.typing import Array


class Description(Protocol):
    """The size and the kind of a problem, by which a solver is chosen."""

    n_rows: int  #: Number of rows.
    n_stored: int  #: Number of stored numbers of the data.
    shape: tuple[int, int]  #: (n_outputs, size) of the parameters.
    dtype: np.dtype  #: Type of the data; its precision limits that of the value.
    suits_single_precision: bool  #: Whether float32 Hessian products are faster.
    #: Whether X is an array of NumPy in float64, which may be copied in float32.
    is_dense: bool
    has_intercept: bool  #: Whether the last column of the parameters is a constant's.
    is_linear: bool  #: Whether raw predictions are linear in the parameters.
    is_convex: bool
    has_bounded_hessian: bool
    has_kinks: bool  #: Whether it is convex, with a gradient that jumps.
    has_proximal_step: bool  #: Whether there is a splitting.
    is_separable: bool  #: Whether the Hessian couples no two rows of the parameters.
    #: Whether it is a `SeparableProblem`.
    has_separate_outputs: bool
    is_on_host: bool  #: Whether the data are in the memory of the host, not on a GPU.
    #: Whether equal changes of all raw predictions of a row do not change the loss.
    is_shift_invariant: bool
    is_remote: bool  #: Whether an evaluation is a round trip to other machines.
    has_shrinkage: bool  #: Whether it has a shrinkage: see `CompositeProblem`.


class Curvature(Protocol):
    """Second derivatives of a linear problem at one point."""

    is_at_zero: bool  #: Whether all raw predictions are zero.
    ridge: Array  #: Second derivatives of the penalty: (size,).

    def total_curvature(self) -> tuple[Array, float]:
        """Curvature of each output (n_outputs,), and number of curved rows."""

    def sandwiches(
        self,
        by_output: bool,
        n_drawn: float,
        on_device: bool = False,
        dtype: type = np.float64,
    ) -> Array:
        """Diagonal blocks (n_outputs, size, size) of the Hessian without the penalty.

        If not `by_output` it is their mean, (1, size, size). It is computed from
        `n_drawn` rows, and counts as the share of a pass that these are of all rows. If
        `on_device` the result is an array in the library and on the device of the data.
        With float32 rounding errors may be those of single precision.
        """

    def curvature_moments(self, dtype: type = np.float64) -> tuple[Array, Array, Array]:
        """Total curvature of each output (n_outputs,), and moments of the columns.

        They are means and variances (n_outputs, size), weighted by the curvature of the
        output. It takes one pass. With float32 rounding errors may be those of single
        precision.
        """


class Point(Protocol):
    """A problem at one point."""

    parameters: Array  #: (n_parameters,).
    value: float
    gradient: Array  #: (n_parameters,).

    def hessian_product(self, direction: Array) -> Array:
        """Hessian times a direction (n_parameters,), in one pass."""

    def along(self, step: Array) -> Ray:
        """The problem along a step (n_parameters,), in half a pass."""


class LinearPoint(Point, Curvature, Protocol):
    """A point of a linear problem."""

    def with_penalty_times(self, factor: float) -> LinearPoint:
        """The same point under a multiple of the penalty; it takes no pass."""

    def towards_target(self, share: float) -> LinearPoint:
        """The same point, with the curvature of rows that are nearer to their targets.

        The curvature of a row is that of a mixture of its probabilities and its target,
        which has the given share; or its own. It takes no pass.
        """

    def scaled_hessian(self, unit: Array, center: Array | None) -> ScaledHessian:
        """The Hessian in other variables (size, n_outputs), if single precision suits.

        The parameters of output k are unit[k] * v_k; from that of the constant, the
        inner product of center[k] and v_k without its last entry is subtracted.
        """

    def along_products(self, step: Array, hessian: ScaledHessian, is_far: bool) -> Ray:
        """The ray along the step that a scaled Hessian at this point has accumulated.

        It takes no pass if the Hessian stores the step's raw predictions. If the
        minimum `is_far`, the point at the end is in single precision.
        """

    def hessian(self) -> Array:
        """Hessian (n_parameters, n_parameters), in one pass, if it is convex."""

    def without_tails(self, step: Array) -> tuple[float, LinearPoint | None]:
        """Loss in the tails along a step, and the point without them.

        In a tail the gradient and the curvature of a class of a row vanish along the
        step. The point is None if there are no tails. The method takes half a pass, and
        another half if there are tails.
        """

    def piece_hessian(
        self,
        included: Array,
        share: float = 1.0,
        dtype: type = np.float64,
    ) -> Array:
        """Hessian of the parameters that a mask (n_outputs, size) includes.

        It takes one pass; rows and columns have the order of the parameters. With a
        share below 1 the Hessian is estimated from this share of the rows. With float32
        its rounding errors are those of single precision.
        """


class ScaledHessian(Protocol):
    """A Hessian in the coordinates of a preconditioner, in single precision."""

    def product(self, variables: Array) -> Array:
        """Hessian times variables (size * n_outputs,), in one pass."""

    def moved(self, length: float) -> None:
        """Move by a length along the variables of the last product."""


class Ray(Protocol):
    """A problem along a step."""

    def trial(self, length: float) -> tuple[float, float]:
        """Value and slope at a length of the step, without a pass.

        It may raise ValueError where the problem is not defined: the step is too long.
        """

    def arrive(self, length: float) -> Point:
        """The point at a length of the step, in half a pass.

        It may reuse the memory of the start of the ray, of which only parameters, value
        and gradient may be used afterwards.
        """


class Splitting(Protocol):
    """An iterate of Douglas-Rachford splitting."""

    def step(self) -> tuple[Splitting, Array, Array]:
        """Iterate, in one pass.

        Returns the splitting, parameters (n_parameters,), and inner products (n_kept,)
        of the last residual with the stored ones, itself at the end.
        """

    def mixed(self, shares: Array) -> Splitting:
        """The splitting at a mixture, in shares (n_kept,), of the kept next points."""


class Family(Protocol):
    """Problems that differ in the penalty alone."""

    def at(self, parameters: Array, which: Array) -> tuple[Array, Array, Array]:
        """Values, gradients and Hessians, each at a point of problem number `which`."""


class Problem(Protocol):
    """A function to minimise."""

    passes: float  #: Passes over the data so far.
    traffic: tuple[int, int]  #: Round trips and bytes sent in both directions so far.
    description: Description

    def initial(self) -> Array:
        """Parameters to start from: (n_parameters,)."""

    def value_and_gradient(self, parameters: Array) -> tuple[float, Array]:
        """Value and gradient, in one pass, without storing a point."""

    def at(self, parameters: Array) -> Point:
        """The point at parameters, in one pass."""

    def duality_gap(
        self,
        point: Point,
        enough: float = 0.0,
        known: float = inf,
        after: Point | None = None,
    ) -> float:
        """A bound on value less minimum, infinite where there is none; one pass.

        It is at most the `known` bound, and is not made tighter if it is at most
        `enough`. With the point `after` Newton's step by the whole Hessian it takes no
        pass.
        """

    def is_unbounded(self, point: Point) -> bool:
        """Whether there is no minimum. If there is one, the point must be near it."""


class LinearProblem(Problem, Protocol):
    """A function of raw predictions that are linear in the parameters."""

    value_at_zero: float  #: Value at zero parameters, the scale of small values.
    has_penalty: bool  #: Whether a penalty gives every direction some curvature.
    has_several_classes: bool  #: Whether the target of some rows has several classes.

    def at(self, parameters: Array) -> LinearPoint:
        """The point at parameters, in one pass."""

    def with_l2(self, l2: float) -> LinearProblem:
        """The problem under a penalty of another strength; it takes no pass."""

    def curvature_at(self, parameters: Array) -> Curvature:
        """Curvature at parameters, without storing a point."""

    def family(self, strengths: Array) -> Family | None:
        """The problem under several penalties at once; None unless data are little."""

    def count(self, passes: float) -> None:
        """Add passes, such as those of a part of this problem."""

    def of_outputs(self, outputs: slice) -> LinearProblem:
        """The problem of some outputs; all of them add up if the loss is separable.

        It counts its own passes.
        """

    def intercepts_alone(self) -> LinearProblem | None:
        """The problem with all but the last column at zero; None if that takes a pass.

        It counts its own passes.
        """

    def sample(self, n_rows: int) -> LinearProblem:
        """The problem of about `n_rows` rows, drawn at random.

        It counts its own passes.
        """

    def in_single_precision(self) -> LinearProblem | None:
        """The problem in single precision; None if it would not be accurate enough."""

    def splitting(self, parameters: Array, strength: float, n_kept: int) -> Splitting:
        """A splitting from parameters, in one and a half passes."""

    def has_certificate(self) -> bool:
        """Whether the duality gap vanishes at the minimum; it takes no pass."""


class Shrinkage(Protocol):
    """A convex function of parameters without derivatives where they are zero.

    Arguments and results are matrices (M, size), unless another shape is named. A
    proximal step has a length for each entry, or for each column.
    """

    thresholds: Array  #: For each column, (size,); zero for those that are free.
    is_by_column: bool  #: Whether the entries of a column are zero together.

    def value(self, parameters: Array) -> float:
        """Value at parameters."""

    def change(self, start: Array, end: Array) -> float:
        """Value at an end less that at a start, without the rounding error of both."""

    def smallest_subgradient(self, parameters: Array, gradient: Array) -> Array:
        """The sum of a gradient and a subgradient that is smallest in norm."""

    def slope(self, parameters: Array) -> Array:
        """Derivatives where parameters are not zero; zero where they are."""

    def proximal_step(self, parameters: Array, lengths: Array) -> Array:
        """argmin_w Σ (w - parameters)² / (2 lengths) + value(w)."""

    def model_residual(
        self, parameters: Array, stepped: Array, lengths: Array
    ) -> Array:
        """Right-hand side of Newton's step on the piece of a proximal step's result."""

    def curvature_product(self, parameters: Array, direction: Array) -> Array:
        """Second derivatives where parameters are not zero, times a direction."""

    def largest_curvature(self, parameters: Array) -> Array:
        """Upper bounds on these second derivatives, for each column: (size,)."""

    def common_shift(self, parameters: Array, ridge: Array) -> Array:
        """Shift of the entries of each column at which its penalty is least.

        The ridge (size,) is the rest of the penalty; the result has the same shape.
        """

    def on_piece_of(self, parameters: Array, reference: Array) -> Array:
        """Parameters, with zeros where they leave the orthant of a reference."""


class CompositePoint(Protocol):
    """A composite problem at one point."""

    parameters: Array  #: (n_parameters,).
    value: float
    gradient: Array  #: Smallest subgradient (n_parameters,).
    smooth: LinearPoint  #: The smooth part.


class CompositeProblem(LinearProblem, Protocol):
    """A linear problem whose value is that of a smooth part plus a shrinkage."""

    shrinkage: Shrinkage

    def at(
        self, parameters: Array, known: CompositePoint | None = None
    ) -> CompositePoint:
        """The point at parameters, in one pass.

        It takes half a pass if a `known` point has the same raw predictions: a point of
        a restricted problem, if all other coefficients are zero.
        """

    def at_part(self, whole: CompositePoint, columns: Array) -> CompositePoint:
        """The point at some columns of a point, without a pass.

        This problem is restricted from that of the point, whose other coefficients are
        zero.
        """

    def composed(self, smooth: LinearPoint) -> CompositePoint:
        """The point whose smooth part this is, without a pass."""

    def restricted(self, features: Array) -> CompositeProblem:
        """The problem of some features alone, given by their numbers."""


@cache
def members_of(protocol):
    """Names of the members that a protocol declares."""
    bases = [base for base in protocol.__mro__ if base not in Protocol.__mro__]
    names = {n for base in bases for n in {*vars(base), *base.__annotations__}}
    return {name for name in names if not name.startswith("_")}
