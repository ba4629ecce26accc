"""The penalty on the coefficients."""

import numpy as np


class Ridge:
    """Half the squared norm of the coefficients, times a strength.

    Another penalty can stand in its place if it has these methods.

    Parameters
    ----------
    strengths : float or ndarray of shape (n_problems,)
        One for each of several problems that differ in nothing else.
    units : Standardization
        What the parameters are the coefficients of; the intercepts are free.
    """

    def __init__(self, strengths, units):
        self.strengths = np.atleast_1d(np.asarray(strengths, dtype=np.float64))
        # Divided twice: the square could overflow.
        weights = np.append(1 / units.scale, np.zeros(int(units.fit_intercept)))
        self._weights = weights
        #: Second derivatives, of shape (n_problems, 1, size).
        self.diagonal = (self.strengths[:, None] * weights * weights)[:, None, :]

    def value(self, points, which):
        """Of points of shape (n_points, M, size), one for each problem in `which`."""
        squares = np.square(points * self._weights)
        return self.strengths[which] / 2 * squares.sum(axis=(1, 2))

    def gradient(self, points, which):
        """Gradients at points, and Hessians times directions, likewise."""
        return self.diagonal[which] * points
