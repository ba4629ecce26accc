"""Where a solver is on its way, and whether it is there."""

from collections import deque
from functools import cached_property

import numpy as np

from ._scaling import coordinates_of
from ._solution import Solution

# So many iterations that together lower the objective by no more than its rounding,
# and do not halve the gradient either, show that nothing is left to gain.
_PATIENCE = 10
# Nor is anything left where as many gain so small a part of it: at a kink steps creep.
_CREEPING = 2e-14
# So many times the precision of a value are lost in rounding.
_LOST = 10
#: So many steps tell the least curvature on the way that is left.
RECENT = 10
# Times the tolerance: beside a cold start's, a loss that few rows have a part in.
_FEW = 10
# There so many iterations are looked back on.
_LATELY = 3
# What is still to gain is an estimate: no success is called whose certificate does not
# bear it out so far, relative to the objective.
_CERTAIN = 0.05
# The square of it is nothing beside a cold start's objective, whatever part of the last
# it is.
_NOTHING = 1e-4


class Course:
    """The last point of a solver, when to stop there, and what to say of it.

    Parameters
    ----------
    objective : object
        With ``dtype``, ``is_convex``, ``falls_without_end(parameters, value)`` and the
        methods in `needs`; if it is convex, with ``initial()``,
        ``value_and_gradient(parameters)``, ``has_certificate`` and
        ``duality_gap(parameters, value, gradient, enough)``. What
        :func:`coordinates_of` looks at is used where it is there.
    tol : float
        What the largest entry of the gradient must not exceed, in the original
        coordinates and in standardised ones, and, relative to the objective, what
        is still to gain.
    max_iter : int
    callback : callable or None
        ``callback(n_iter, parameters, value, gradient_norm, last)``.
    needs : sequence of str
        Methods that the solver calls.

    Raises
    ------
    TypeError
        If the objective lacks a method.
    """

    def __init__(self, objective, *, tol, max_iter, callback=None, needs=()):
        needs = ["is_convex", "falls_without_end", *needs]
        if getattr(objective, "is_convex", False):
            needs += ["initial", "value_and_gradient"]
            needs += ["duality_gap", "has_certificate"]
        for name in needs:
            if not hasattr(objective, name):
                raise TypeError(
                    f"The solver needs {name}, which {type(objective).__name__} does "
                    "not define."
                )
        self._objective = objective
        self.standardization = coordinates_of(objective)
        self._eps = np.finfo(objective.dtype).eps
        self.n_iter = 0
        self.stalled = self._stopped = False
        self.tol = tol
        self._max_iter = max_iter
        self._callback = callback
        self._values = deque(maxlen=_PATIENCE + 1)
        self._halved_norm, self._n_since_halved = np.inf, 0

    def arrive(self, parameters, value, gradient, still_to_gain, scaled=None):
        """Be at a point.

        Parameters
        ----------
        parameters, gradient : ndarray of shape (n_parameters,)
        value : float
        still_to_gain : float
            An estimate of by how much the objective there exceeds its minimum; NaN
            if there is none.
        scaled : ndarray of shape (n_parameters,), default=None
            The gradient in standardised coordinates, where it is known.
        """
        if not self._values:
            self._values.append(value)
            initial = self._objective.initial() if self._objective.is_convex else None
            if np.array_equal(parameters, initial):
                self._cold_value = abs(value)
        self.parameters, self.value, self.gradient = parameters, value, gradient
        self._still_to_gain = still_to_gain
        self._gaps = {}
        self.gradient_norm = _largest(gradient)
        if scaled is None:
            scaled = self.standardization.gradient(gradient)
        self._scaled_norm = _largest(scaled)

    @property
    def rounding(self):
        """Values about here that differ by no more may be the same."""
        return rounding_of(self.value, self._objective.dtype)

    @property
    def converged(self):
        """Whether the point is within the tolerance."""
        if self._scaled_norm > self.tol:
            return False
        is_within = self.gradient_norm <= self.tol
        if not self._objective.is_convex:
            # Beyond the point it may do anything.
            return is_within or self.stalled
        if is_within:
            return bool(self._is_certain if self.stalled else self._little_left)
        # Large units put a certificate out of reach as well.
        return self.stalled and not self._still_to_gain > self._uncertain

    @property
    def _little_left(self):
        """Whether the objective is not expected to fall by more than the tolerance."""
        little = self._little
        if np.isnan(self._still_to_gain):
            # A small gradient alone proves nothing.
            return self._is_certified(min(little, self._uncertain))
        # Where next to nothing is left of the loss, few rows have any, and not for
        # long the same: the curvature on the way tells less than the way itself.
        vanishing = little < abs(self.value) <= _FEW * self.tol * self._cold_value
        progress = _before(self._values, _LATELY) - self.value if vanishing else 0.0
        return max(self._still_to_gain, progress) <= little and self._is_certain

    @property
    def _little(self):
        """What may be left to gain."""
        # Beside a value next to zero, a small part of a cold start's is little too.
        little = max(self.tol * abs(self.value), self._eps)
        return little + self.tol * (self.tol * self._cold_value)

    @property
    def _is_certain(self):
        """Whether a certificate, where there can be one, bears a success out."""
        has_any = self._objective.has_certificate
        return not has_any or self._is_certified(self._uncertain)

    @property
    def _uncertain(self):
        """How much more may be left to gain than is thought."""
        nothing = max(min(self.tol, _NOTHING) ** 2 * self._cold_value, self._eps)
        return max(_CERTAIN * abs(self.value), self.tol * abs(self.value), nothing)

    def _is_certified(self, enough):
        """Whether the duality gap of the point is known to be small enough."""
        if enough not in self._gaps:
            self._gaps[enough] = self._objective.duality_gap(
                self.parameters, self.value, self.gradient, enough
            )
        return self._gaps[enough] <= enough

    @cached_property
    def _cold_value(self):
        """The objective's size at its own initial point, wherever the solver began."""
        return abs(self._objective.value_and_gradient(self._objective.initial())[0])

    @property
    def finished(self):
        """Whether there is no reason for another iteration."""
        return (
            self.stalled
            or self._stopped
            or self.n_iter >= self._max_iter
            or self.converged
        )

    def iterated(self):
        """Count an iteration, which ended at the point, and tell the callback."""
        self.n_iter += 1
        self._values.append(self.value)
        gain = self._values[0] - self._values[-1]
        least = max(_LOST * self._eps, _CREEPING) * abs(self.value)
        self._n_since_halved += 1
        if self._scaled_norm <= self._halved_norm / 2:
            self._halved_norm, self._n_since_halved = self._scaled_norm, 0
        self.stalled = self._n_since_halved > _PATIENCE and gain <= least
        if self._callback is not None:
            self._stopped = bool(
                self._callback(
                    self.n_iter,
                    self.parameters,
                    self.value,
                    self.gradient_norm,
                    self.finished,
                )
            )

    def solution(self):
        """The :class:`Solution` that the point is."""
        converged, remedies = self.converged, ("max_iter", "tol", "penalty")
        if converged and self._objective.falls_without_end(self.parameters, self.value):
            converged, remedies = False, ("penalty",)
            message = (
                "no optimum exists, because rows or classes can be told apart without "
                "an error and nothing keeps the coefficients from growing"
            )
        elif converged and self.gradient_norm > self.tol:
            message = (
                "gradient within tol up to rounding: the features' units are large"
            )
        elif converged:
            message = "gradient within tol"
        elif self._stopped:
            message = "stopped by a callback"
        elif self.stalled:
            message = "no step lowers the objective any further in this precision"
            remedies = ("tol", "penalty")
        else:
            message = f"max_iter={self._max_iter} iterations were not enough"
        return Solution(
            self.parameters,
            self.value,
            self.gradient,
            self.gradient_norm,
            self.n_iter,
            converged,
            self._stopped,
            message,
            remedies,
        )


def _before(values, n_iter):
    """The value so many iterations ago, or the first."""
    return values[max(len(values) - 1 - n_iter, 0)]


def rounding_of(value, dtype):
    """By how much an objective's values about this one may differ by rounding alone."""
    # The loss of a row is computed from numbers of the order of one.
    return np.finfo(dtype).eps * (_LOST * abs(value) + 1)


def possible_gain(square, curvature):
    """By how much a function can fall, of a gradient so long (squared) and curvature.

    NaN where there is a gradient and no curvature, which says nothing of it.
    """
    if square == 0:
        return 0.0
    return square / (2 * curvature) if curvature > 0 else np.nan


def _largest(gradient):
    return float(np.abs(gradient).max(initial=0))
