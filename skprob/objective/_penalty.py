"""The penalty on the coefficients, where it has derivatives."""

import copy

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
    """

    def __init__(self, strength, units, factors=None):
        self.strength = float(strength)
        # Square roots of the second derivatives at a strength of one, which could
        # overflow.
        self._weights = np.zeros(units.size)
        self._weights[: len(units.scale)] = 1 / units.scale
        if factors is not None:
            self._weights[: len(factors)] *= np.sqrt(factors)
        self._set_diagonal()

    def _set_diagonal(self):
        #: Second derivatives in the parameters of a raw prediction, of shape (size,).
        self.diagonal = self.strength * self._weights * self._weights
        #: Numbers of the columns that are not penalised.
        self.free_columns = (self.diagonal == 0).nonzero()[0].tolist()

    def with_free_columns(self, columns):
        """The penalty of the other columns, with these columns free."""
        other = copy.copy(self)
        other.free_columns = columns
        return other

    def restricted(self, columns):
        """The penalty of some columns alone."""
        other = copy.copy(self)
        other._weights = self._weights[columns]
        other._set_diagonal()
        return other

    def value(self, parameters):
        """Penalty of parameters (M, size)."""
        scaled = (parameters * self._weights).reshape(-1)
        return self.strength / 2 * float(scaled.dot(scaled))

    def values(self, parameters):
        """Penalty of each row of parameters (M, size): (M,)."""
        return self.strength / 2 * np.square(parameters * self._weights).sum(axis=1)

    def gradient(self, parameters):
        """Gradient at parameters (M, size)."""
        return self.product(parameters)

    def product(self, direction):
        """Hessian times a direction (M, size)."""
        return self.diagonal * direction
