"""What a solver returns."""

from typing import NamedTuple

import numpy as np


class Solution(NamedTuple):
    """The result of a solver: the point where it stopped."""

    parameters: np.ndarray
    value: float
    gradient: np.ndarray
    gradient_norm: float  #: Largest absolute entry of the gradient.
    n_iter: int
    converged: bool  #: Whether all criteria are met.
    stopped: bool  #: Whether the callback asked to stop.
    message: str  #: Why it stopped, in words.
    #: Which of "max_iter", "tol" and "penalty" could help a fit that did not converge,
    #: if they were larger.
    remedies: tuple
    #: "newton-cholesky", "newton-cg", "splitting", "lbfgs" or "bundle", or two
    #: joined by "+".
    solver: str
    #: For the start and each iteration: its number, objective, gradient norm, duality
    #: gap (NaN where it was not computed), passes over X, seconds, round trips to
    #: remote blocks and bytes sent to and fro so far.
    history: list
    point: tuple  #: All that is known there, to go on from.
