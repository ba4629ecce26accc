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
    gradient_norm : float
        Largest absolute entry of the objective's gradient there.
    n_iter : int
    converged : bool
        Whether the tolerance was met.
    stopped : bool
        Whether the callback asked it to stop.
    message : str
        Why it stopped, in words.
    """

    parameters: np.ndarray
    value: float
    gradient_norm: float
    n_iter: int
    converged: bool
    stopped: bool
    message: str
