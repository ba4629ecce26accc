"""Steps by Douglas-Rachford splitting with Anderson acceleration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.arrays import precision
from .._utils.tuning import Tuning
from .._utils.typing import Array
from ._line_search import search_along
from ._state import State


@dataclass(frozen=True, kw_only=True)
class SplittingState(State):
    """State of the splitting."""

    # The next step continues from the last iterate, not from the point.
    splitting: Any = None
    #: Inner products of the stored residuals.
    gram: Array | None = None


class DouglasRachford:
    """Steps to the result of iterations of Douglas-Rachford splitting, ten or more.

    The iterations use the loss of each row and no quadratic model, which is wrong as
    soon as another class enters the support. Their result need not lower the objective.
    So a line search follows. If it finds no lower point, the iterations continue from
    their last result. Another solver continues if several tries lower nothing.

    The expected decrease is not known: if there is a certificate, the duality gap
    itself must be within the tolerance. On bibtex it is 6 times the distance to the
    minimum.

    Parameters
    ----------
    tuning : Tuning

    References
    ----------
    Fu, Zhang, Boyd, "Anderson accelerated Douglas-Rachford splitting", SIAM Journal on
    Scientific Computing 2020.
    """

    name = "splitting"

    def __init__(self, tuning=Tuning()):
        self._tuning = tuning

    def init(self, problem, point):
        """The state at a point; it is spent if there is no curvature."""
        curvature, _ = point.total_curvature()
        between = float(np.sqrt(curvature.mean() * point.ridge.mean()))
        strength = self._tuning.splitting_strength * between
        if not strength > 0:
            return SplittingState(point=point, is_spent=True)
        n_kept = self._tuning.splitting_memory + 1
        splitting = problem.splitting(point.parameters, strength, n_kept)
        return SplittingState(point=point, splitting=splitting, gram=np.empty((0, 0)))

    def step(self, problem, state):
        """Iterate ten times, and search along the step to the result.

        The result of the first ten need not be lower than the point. Then ten more
        follow, up to a number of tries.
        """
        tuning, point = self._tuning, state.point
        splitting, gram = state.splitting, state.gram
        # Products of residuals that are nearly the same have this rounding error.
        rounding = precision(problem.description.dtype) ** (2 / 3)
        for _ in range(tuning.splitting_tries):
            splitting, gram, parameters = self._iterate(splitting, gram, rounding)
            step = parameters - point.parameters
            arrival = search_along(problem, point, step, tuning.slope_left, tuning)
            if arrival is not None:
                before, (point, _) = point.value, arrival
                if before - point.value > tuning.splitting_end * point.value:
                    return SplittingState(point=point, splitting=splitting, gram=gram)
        return SplittingState(point=point, is_spent=True)

    def _iterate(self, splitting, gram, rounding):
        """The splitting, products of its residuals, and parameters, after ten."""
        memory = self._tuning.splitting_memory
        for _ in range(memory):
            splitting, parameters, products = splitting.step()
            gram = np.pad(gram[-memory:, -memory:], (0, 1))
            gram[-1] = gram[:, -1] = products
            splitting = splitting.mixed(_anderson_shares(gram, rounding))
        return splitting, gram, parameters


def _anderson_shares(gram, rounding):
    """Weights, with sum one, of the mixture of the residuals of smallest norm."""
    shares = np.append(np.zeros(len(gram) - 1), 1.0)
    differences = np.diff(np.diff(gram, axis=0), axis=1)
    if np.trace(differences) > 0:
        diagonal = differences.reshape(-1)[:: len(differences) + 1]
        diagonal += rounding * np.trace(differences)
        ahead = np.linalg.solve(differences, np.diff(gram[-1]))
        shares[1:] -= ahead
        shares[:-1] += ahead
    return shares
