"""The penalty on the coefficients, where it has derivatives."""

import copy
from typing import NamedTuple

import numpy as np


class Ridge:
    """Half the squared norm of the coefficients, times a strength.

    Another penalty can take its place if it has these members.

    Parameters
    ----------
    strength : float
    units : Standardization
        Means and scales of the features; intercepts are free.
    factors : ndarray of shape (n_features,), default=None
        Multiples of the strength for each feature; None stands for ones.

    Attributes
    ----------
    diagonal : ndarray of shape (size,)
        Second derivatives in the parameters of a raw prediction.
    free_columns : list of int
        Numbers of the columns that are not penalised.
    has_free_features : bool
        Whether a feature has the factor zero.
    """

    def __init__(self, strength, units, factors=None):
        self.strength, self._units, self._factors = float(strength), units, factors
        # Square roots of the second derivatives at a strength of one, which could
        # overflow.
        self._weights = np.zeros(units.size)
        self._weights[: len(units.scale)] = 1 / units.scale
        if factors is not None:
            self._weights[: len(factors)] *= np.sqrt(factors)
        self.diagonal = self.strength * self._weights * self._weights
        self.free_columns = (self.diagonal == 0).nonzero()[0].tolist()
        self.has_free_features = factors is not None and not factors.all()

    def with_free_columns(self, columns):
        """The penalty of the other columns, with these columns free."""
        other = copy.copy(self)
        other.free_columns = columns
        return other

    def with_strength(self, strength):
        """The penalty with another strength."""
        return Ridge(strength, self._units, self._factors)

    def restricted(self, features):
        """The penalty of some features alone, given by their numbers."""
        factors = None if self._factors is None else self._factors[features]
        return Ridge(self.strength, self._units.restricted(features), factors)

    def value(self, parameters):
        """Penalty of parameters (M, size)."""
        scaled = (parameters * self._weights).reshape(-1)
        return self.strength / 2 * float(scaled.dot(scaled))

    def values(self, parameters):
        """Penalty of each row of parameters (M, size): (M,)."""
        return self.strength / 2 * np.square(parameters * self._weights).sum(axis=1)

    def product(self, direction):
        """Hessian times a direction (M, size); of parameters it is the gradient."""
        return self.diagonal * direction

    def along(self, value, parameters, step):
        """A `RidgeAlongStep` from parameters (M, size) with a known value."""
        product = self.product(step).reshape(-1)
        slope = float(product.dot(parameters.reshape(-1)))
        return RidgeAlongStep(value, slope, float(product.dot(step.reshape(-1))))

    def along_rows(self, parameters, step):
        """As :meth:`along` for each row of parameters (M, size): arrays (M,)."""
        product = self.product(step)
        slopes = (product * parameters).sum(axis=1)
        curvatures = (product * step).sum(axis=1)
        return RidgeAlongStep(self.values(parameters), slopes, curvatures)


class RidgeAlongStep(NamedTuple):
    """The penalty along a step: a quadratic function of the length.

    Its fields are numbers or, if each raw prediction has its own length, arrays.
    """

    value: float | np.ndarray  #: At the start.
    slope: float | np.ndarray  #: Derivative in the length there.
    curvature: float | np.ndarray

    def take(self, rows):
        """The penalties of some raw predictions, given by their numbers."""
        return RidgeAlongStep(*(field[rows] for field in self))

    def at(self, length):
        """Value and slope at a length of the step."""
        change = length * self.curvature
        return self.value + length * (self.slope + change / 2), self.slope + change


def add_penalty(hessian, diagonal, common_columns):
    """Add a penalty to Hessians (..., M, size, M, size), in place.

    `diagonal`, of shape (..., size), has the second derivatives of the penalty. In the
    common columns, equal changes of all raw predictions do not change the objective:
    curvature is added along this direction, so that no step leads along it.
    """
    for column in common_columns:
        hessian[..., column, :, column] += 1 / hessian.shape[-2]
    entries = np.einsum("...ijij->...ij", hessian)  # A view of the diagonals.
    entries += diagonal[..., None, :]
