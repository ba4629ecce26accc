"""What a solver needs to know of an objective."""

from math import inf
from typing import Any, Protocol


class Objective(Protocol):
    """A function to minimise, or several that differ in the penalty alone.

    Parameters are vectors of float64, in units in which a curvature of about one is
    ordinary. Points are several of them, of shape (n_points, n_parameters), and `which`
    is the number of the problem at each point.
    """

    #: Passes over the data so far.
    passes: float
    #: Round trips to remote blocks, and bytes sent to and fro, so far.
    traffic: tuple
    #: Its size and kind: see :class:`skprob.objective.Description`.
    description: Any
    #: The objective at zero, by which values are judged small.
    value_at_zero: float
    #: Whether there is a penalty, which leaves no direction without curvature.
    has_penalty: bool
    #: Whether the duality gap vanishes at the minimum.
    has_certificate: bool

    def initial(self):
        """Parameters to start from."""

    def value_and_gradient(self, points, which=(0,)):
        """Values (n_points,) and gradients (n_points, n_parameters)."""

    def linearize(self, points, which=(0,), keep=True):
        """Second derivatives: `values`, `gradients`, ``hessian_product(direction)``.

        If the objective is linear there are also ``sandwiches(by_output, n_drawn)``,
        ``moments()``, `ridge` (what the penalty adds to the diagonal in each column)
        and `is_at_zero`, and if it is convex ``hessians(places)``. Without `keep`
        there are these only, for which nothing is kept of the rows.
        """

    def splitting(self, parameters, strength, n_kept):
        """Iterations of a splitting that starts at parameters: `step`, `go_on`.

        There is one where ``description.has_proximal_step``.
        """

    def duality_gap(
        self, problem, parameters, value, gradient, enough=0.0, known=inf, step=None
    ):
        """A bound on value less minimum, infinite where there is none.

        No larger than one that is `known`, and not made tighter than `enough`. A `step`
        is Newton's from there, by the whole Hessian.
        """

    def is_unbounded(self, parameters, value):
        """Whether there is no minimum, judged at parameters near it if there is one."""


_NEEDED = sorted(
    name
    for name in {*vars(Objective), *Objective.__annotations__}
    if not name.startswith("_")
)


def check_objective(objective):
    """Raise TypeError where an objective lacks something that solvers need."""
    kind = type(objective)
    # First of the class, so that no property is computed.
    missing = [n for n in _NEEDED if not (hasattr(kind, n) or hasattr(objective, n))]
    if missing:
        raise TypeError(
            f"The solver needs {', '.join(missing)}, which {type(objective).__name__} "
            "does not define."
        )
