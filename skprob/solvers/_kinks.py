"""Descent for convex objectives whose gradient jumps.

At a kink the gradient is large even at the minimum. There, a convex combination of
gradients at points nearby is zero: with weights λ, gradients g_j at points x_j and
their linearization errors e_j = f(x) - f(x_j) - ⟨g_j, x - x_j⟩, for all y

    f(y) ≥ f(x) + ⟨Σ λ_j g_j, y - x⟩ - Σ λ_j e_j.

So the smallest combination takes the place of the gradient: it is a descent direction,
or else it shows that the objective cannot fall by more than the errors.

Lemaréchal, "An extension of Davidon methods to non differentiable problems",
Mathematical Programming Study 3, 1975; Wolfe, "A method of conjugate subgradients for
minimizing nondifferentiable functions", ibid.
"""

import math

import numpy as np
from scipy.optimize import nnls

from ._base import Point
from ._convergence import gain_by_scaling

# Most gradients of a bundle, and most numbers (256 MiB).
_MOST_GRADIENTS, _MOST_NUMBERS = 150, 1 << 25
# A trial is lower if the objective falls by this part of length times slope. A trial
# that is not lower is shortened to this part ...
_SUFFICIENT, _SHORTER = 0.1, 0.3
# ... until its linearization error is at most this part of the allowed error.
_ERROR = 0.1
# Tolerances at first, in units of those at the end, and what they are divided by. With
# those of the end alone, fits with tol=1e-6 take 2 to 10 times as many evaluations.
_FIRST_LOOSENESS, _TIGHTER = 1e3, 10


def descend_across_kinks(objective, convergence, coordinates):
    """Minimise from the last point of a :class:`Convergence` until that is finished.

    The smallest convex combination of the gradients stands for the gradient of its
    points. An iteration ends with a lower point, or with a combination within tol.

    Parameters
    ----------
    objective : Objective
        Convex, with one problem.
    convergence : Convergence
    coordinates : object with methods `gradient` and `to_parameters`
        Coordinates in which the curvature is about one.
    """
    bundle = _Bundle(objective, convergence, coordinates)
    while not convergence.finished:
        if not bundle.improve():
            convergence.stall()
            break
        parameters, value, _ = bundle.point
        here = Point(parameters, value, bundle.smallest)
        convergence.arrive(here, math.nan)
        convergence.iterated()


class _Bundle:
    """A point, and gradients at points where the objective is nearly linear from there.

    Attributes
    ----------
    point : tuple
        Parameters, value and gradient.
    smallest : ndarray of shape (n_parameters,)
        The smallest convex combination of the gradients.
    """

    def __init__(self, objective, convergence, coordinates):
        self._objective, self._convergence = objective, convergence
        self._coordinates, self._looseness = coordinates, _FIRST_LOOSENESS
        self.point = convergence.parameters, convergence.value, convergence.gradient
        self._most = max(min(_MOST_GRADIENTS, _MOST_NUMBERS // len(self.point[0])), 2)
        self._points, self._slopes = [], []
        self._add(self.point)

    def improve(self):
        """Find a lower point, or a combination within tol; returns whether one was."""
        while True:
            while self._is_small():
                if self._looseness == 1:
                    return True
                self._looseness = max(self._looseness / _TIGHTER, 1)
                self._forget()
                self._combine()
            if len(self._points) > self._most:
                return False
            trial, is_lower = self._trial()
            if trial is None:
                return False
            if is_lower:
                self.point = trial
                self._forget()
            self._add(trial)
            if is_lower:
                return True

    @property
    def _allowed_error(self):
        return self._looseness * self._convergence.allowed_decrease

    def _is_small(self):
        """Whether the smallest combination is within tol, and the gain that is left."""
        gain = gain_by_scaling(self.smallest, self.point[0])
        largest = np.abs(self.smallest).max()
        within_tol = largest <= self._looseness * self._convergence.tol
        return within_tol and gain <= self._allowed_error

    def _trial(self):
        """A lower point along the combination, or one nearby; and whether it is lower.

        None if the step is too short to change the parameters.
        """
        parameters, value, _ = self.point
        step = self._coordinates.to_parameters(-self._direction)
        square, length = float(self._direction @ self._direction), 1.0
        while True:
            there = parameters + length * step
            if np.array_equal(there, parameters):
                return None, False
            values, gradients = self._objective.value_and_gradient(there[None])
            trial = there, float(values[0]), gradients[0]
            if trial[1] <= value - _SUFFICIENT * length * square:
                return trial, True
            if self._error(trial) <= _ERROR * self._allowed_error:
                return trial, False
            length *= _SHORTER

    def _error(self, other):
        """Linearization error, at the point, of the gradient at another point."""
        parameters, value, gradient = other
        return self.point[1] - value - gradient @ (self.point[0] - parameters)

    def _forget(self):
        """Forget gradients whose linearization error is too large, and old ones."""
        allowed, n_points = self._allowed_error, len(self._points)
        # Leave room for as many gradients as a new point may need.
        kept = [
            i
            for i, point in enumerate(self._points)
            if point is self.point
            or (i >= n_points - self._most // 2 and self._error(point) <= allowed)
        ]
        self._points = [self._points[i] for i in kept]
        self._slopes = [self._slopes[i] for i in kept]

    def _add(self, point):
        """Add the gradient at a point, and find the smallest combination."""
        self._points.append(point)
        self._slopes.append(self._coordinates.gradient(point[2]))
        self._combine()

    def _combine(self):
        """Find the smallest combination, in the coordinates.

        Non-negative least squares, with the equation that the weights sum to one, gives
        a multiple of its weights.
        """
        slopes = np.array(self._slopes)
        unit = np.sqrt((slopes**2).sum(axis=1).max()) or 1.0
        system = np.vstack([slopes.T / unit, np.ones(len(slopes))])
        weights, _ = nnls(system, np.append(np.zeros(len(system) - 1), 1.0))
        weights /= weights.sum()
        self._direction = weights @ slopes
        self.smallest = weights @ np.array([point[2] for point in self._points])
