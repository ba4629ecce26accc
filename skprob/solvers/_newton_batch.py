"""Newton's method for one small objective under several penalties at once."""

import math

import numpy as np

from ._course import rounding_of
from ._line_search import LineSearch, Trial
from ._newton_cholesky import newton_steps
from ._scaling import coordinates_of

# The first trial of a line search, in units of what the last one ended with.
_ROOM = 2
# A start that promises to gain so much of the objective is another loss's minimum, too
# far out for this one: so much of it is nearer.
_FAR, _NEARER = 0.1, 0.6
# So many evaluations are more than from the minimum under the penalty before.
_LONG = 16


def newton_batch(objective, penalties, initial, *, tol, max_iter):
    """Minimise a convex objective under several penalties, all at the same time.

    Each goes its own way by Newton steps with the whole Hessian and a line search;
    but what they need next is computed for all of them in one go. A start that is far
    out, as that of another mapping may be, is taken nearer to zero. Where a way is
    long, because under little penalty rows lose their curvature, it waits for the end
    of the one before, and goes on from there.

    Parameters
    ----------
    objective : object
        With ``under(penalties, mean, scale)``, which gives a ``PenaltyBatch``,
        and what :class:`Standardization` asks for.
    penalties : ndarray of shape (n_penalties,)
        Positive, from the largest to the least.
    initial : sequence of n_penalties ndarray of shape (n_parameters,)
        Where to start.
    tol : float
        As for :func:`lbfgs`; what is still to gain is what the quadratic model at
        the point says.
    max_iter : int
        Steps of each, at most.

    Returns
    -------
    parameters : list of ndarray of shape (n_parameters,)
    converged : ndarray of shape (n_penalties,)
        Whether each is within the tolerance. The others came to an end that another
        solver may know a way out of.
    """
    coordinates = coordinates_of(objective)
    batch = objective.under(penalties, coordinates.mean, coordinates.scale)
    ways = []
    for start in initial:
        before = ways[-1] if ways else None
        ways.append(_Way(batch.from_original(start), tol, max_iter, before))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        while left := [i for i, way in enumerate(ways) if way.goes_on]:
            _advance(batch, np.array(left), [ways[i] for i in left])
    parameters = [batch.to_original(way.point) for way in ways]
    return parameters, np.array([way.converged for way in ways])


def _advance(batch, which, ways):
    """Evaluate the next point of each way, and tell it."""
    points = np.array([way.next_point() for way in ways])
    there = batch.linearize(which, points)
    found = zip(ways, points, there.values.tolist(), there.gradients, strict=True)
    arrived = [k for k, (way, *point) in enumerate(found) if way.is_at(*point)]
    if not arrived:
        return
    gradients = there.gradients[arrived]
    ridges = batch.ridges[which[arrived]]
    steps = newton_steps(there.hessians(arrived), ridges, gradients, np.float64)
    slopes = np.einsum("kp,kp->k", steps, gradients)
    norms = np.abs(gradients).max(axis=1)
    original_norms = np.abs(batch.original_gradients(gradients)).max(axis=1)
    columns = (a.tolist() for a in (slopes, norms, original_norms))
    for k, step, *numbers in zip(arrived, steps, *columns, strict=True):
        ways[k].set_out(step, *numbers)


class _Way:
    """From a start to the minimum under one of the penalties.

    Parameters
    ----------
    start : ndarray of shape (n_parameters,)
    tol : float
    max_iter : int
    before : _Way or None
        That under the penalty before, on which the first one does not wait.

    Attributes
    ----------
    point : ndarray of shape (n_parameters,)
        How far it has come.
    ended, converged : bool
    """

    def __init__(self, start, tol, max_iter, before):
        self.point = start
        self.ended = self.converged = False
        self._tol, self._n_left = tol, max_iter
        self._search, self._before = None, before
        self._n_points = 0

    @property
    def goes_on(self):
        """Whether a next point is to be asked for."""
        before = self._before
        waits = before is not None and not before.ended and self._n_points >= _LONG
        return not (self.ended or waits)

    def next_point(self):
        """Where to evaluate the objective."""
        before = self._before
        if before is not None and before.ended:
            if before.converged and self._n_points >= _LONG:
                self.point, self._search = before.point, None
            self._before = None
        self._n_points += 1
        if self._search is None:
            return self.point
        return self.point + self._search.length * self._step

    def is_at(self, point, value, gradient):
        """Whether the way goes by the point, which it has asked for."""
        if self._search is not None:
            slope = float(gradient @ self._step)
            trial = Trial(self._search.length, value, slope, None)
            self._search.tell(trial)
            if not self._search.over:
                return False
            self._n_left -= 1
            self.ended = self._search.best is not trial
        self.ended = self.ended or not math.isfinite(value)
        if not self.ended:
            self.point, self._value = point, value
        return not self.ended

    def set_out(self, step, slope, norm, original_norm):
        """Take a Newton step, unless the way ends here or had better begin nearer.

        `norm` is the gradient's largest entry, and `original_norm` that in the original
        coordinates.
        """
        to_gain = -slope / 2
        if self._n_points == 1 and to_gain > _FAR * self._value and self.point.any():
            self.point = _NEARER * self.point
            return
        self._step = step
        rounding = rounding_of(self._value, float)
        within = original_norm <= self._tol and to_gain <= self._tol * abs(self._value)
        self.converged = bool(
            norm <= self._tol and (within or abs(to_gain) <= rounding)
        )
        # Where the last step was too long, because rows gained curvature on the way,
        # so is the next.
        length = min(1.0, _ROOM * self._search.length) if self._search else 1.0
        start = Trial(0.0, self._value, slope, None)
        self._search = LineSearch(start, rounding, length)
        self.ended = self.converged or self._n_left == 0 or self._search.over
