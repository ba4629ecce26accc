"""Beginning under a stronger penalty than the objective's own.

If nearly all rows are separable, their curvature vanishes with their loss: the
quadratic model of a step has no information on rows with a large margin, and the step
is too long for them. Under a stronger penalty the margins are smaller. Its minimum is
closer to the start than the objective's own, and need not be reached.
"""

import math
from typing import NamedTuple

import numpy as np

from ._newton import CGDirection

# The penalty to begin with, in units of the objective's own: digits and news20 at
# C = 100 take 0.6 to 0.8 times the passes.
_TIMES = 10
# It ends when a whole step lowers the objective by less than this part.
_SLOW = 0.2


class StrongerPenalty(CGDirection):
    """Newton's steps by conjugate gradients under ten times the penalty.

    It is spent as soon as its steps gain little, or promise little from the beginning.

    References
    ----------
    Allgower, Georg, "Numerical continuation methods: an introduction", Springer 1990.
    """

    def view(self, point):
        own, n_parameters = point.linearization, point.parameters.size
        ridge = np.resize((_TIMES - 1) * own.ridge, n_parameters)
        slope = ridge * point.parameters
        return point._replace(
            value=point.value + slope @ point.parameters / 2,
            gradient=point.gradient + slope,
            linearization=_Penalised(own, ridge),
        )

    def begin(self, here):
        here, expected = yield from super().begin(here)
        square = float(self._descent(here.gradient)[1].sum())
        self._first = self._last = here.value
        # A step can gain half of the squared length of the gradient.
        self.is_spent = square <= here.value
        return here, expected

    def arrive(self, here, length):
        self._learn()
        value = self.view(here).value
        is_slow = length >= 0.5 and self._last - value < _SLOW * value
        # With more than half of the first objective left the rows are not separable.
        self.is_spent = is_slow or 2 * value > self._first
        self._last = value
        # What is left to gain under another penalty tells nothing.
        return math.nan
        yield  # Never reached: a generator that asks for nothing.


class _Penalised(NamedTuple):
    """A linearization under a stronger penalty."""

    own: object
    added: np.ndarray

    def __getattr__(self, name):
        return getattr(self.own, name)

    @property
    def ridge(self):
        return _TIMES * self.own.ridge

    def hessian_product(self, direction):
        return self.own.hessian_product(direction) + self.added * direction
