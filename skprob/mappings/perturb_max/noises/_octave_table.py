"""Functions of a positive variable, as polynomials on cells of a relative width."""

import numpy as np


class OctaveTable:
    """Functions that are smooth in the logarithm of a positive variable.

    Each interval from a power of two to the next is divided into cells of one width,
    with one polynomial for each function. So a power of the variable has the same
    relative error in all cells.

    Parameters
    ----------
    functions : callable
        From an array of values of the variable, the values of all functions,
        (n_functions, *shape).
    low, high : int
        The variable is from 2 ** low to 2 ** high.
    n_cells : int
        Number of cells between two powers of two.
    degree : int
        Degree of the polynomials.
    """

    def __init__(self, functions, low, high, n_cells=8, degree=9):
        self._low, self._high, self._n_cells = low, high, n_cells
        # Values at the Chebyshev points of a cell give coefficients of Chebyshev
        # polynomials, and these give coefficients of the powers of u in [-1, 1].
        angles = np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1)
        u = np.cos(angles)
        to_chebyshev = np.cos(np.outer(angles, np.arange(degree + 1))) * 2 / len(u)
        to_chebyshev[:, 0] /= 2
        to_powers = np.zeros((degree + 1, degree + 1))
        for row, unit in zip(to_powers, np.eye(degree + 1), strict=True):
            powers = np.polynomial.chebyshev.cheb2poly(unit)
            row[: len(powers)] = powers
        starts = 1 + np.arange(n_cells) / n_cells
        octaves = 2.0 ** np.arange(low, high)[:, None, None]
        points = octaves * (starts[:, None] + (1 + u) / (2 * n_cells))
        powers = functions(points) @ to_chebyshev @ to_powers[:, ::-1]
        self._coefficients = np.moveaxis(powers, -1, 0).reshape(degree + 1, -1)
        self._size = len(octaves) * n_cells

    def __call__(self, y, which=0):
        """A function at y.

        Parameters
        ----------
        y : ndarray of float64
            A value beyond an end of the table counts as this end.
        which : int or ndarray of the shape of y
            Index of the function.
        """
        ends = 2.0**self._low, np.nextafter(2.0**self._high, 0)
        u, octave = np.frexp(np.clip(y, *ends))
        # The mantissa, from 1/2 to 1, gives the cell and the place in it from -1 to 1.
        u *= 2 * self._n_cells
        u -= self._n_cells
        cell = u.astype(np.intp)
        u -= cell
        u *= 2
        u -= 1
        octave -= self._low + 1
        octave *= self._n_cells
        cell += octave
        cell += np.multiply(which, self._size)
        # All cells are in the table: "clip" only avoids the time of checking this.
        first, *others = self._coefficients
        value, term = first.take(cell, mode="clip"), np.empty_like(u)
        for coefficients in others:
            value *= u
            value += coefficients.take(cell, out=term, mode="clip")
        return value
