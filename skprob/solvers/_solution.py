"""What a solver returns."""

from typing import NamedTuple

import numpy as np


class Solution(NamedTuple):
    """Where a solver stopped.

    Attributes
    ----------
    parameters : ndarray of shape (n_parameters,)
    value : float
        Objective there.
    gradient : ndarray of shape (n_parameters,)
        Of the objective there.
    gradient_norm : float
        Its largest absolute entry.
    n_iter : int
    converged : bool
        Whether the tolerance was met.
    stopped : bool
        Whether the callback asked it to stop.
    message : str
        Why it stopped, in words.
    remedies : tuple of str
        Which parameters, if they were larger, could make a fit that did not converge
        do so: "max_iter", "tol", "penalty".
    """

    parameters: np.ndarray
    value: float
    gradient: np.ndarray
    gradient_norm: float
    n_iter: int
    converged: bool
    stopped: bool
    message: str
    remedies: tuple = ("max_iter", "tol", "penalty")
