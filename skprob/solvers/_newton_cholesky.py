"""Newton's method with the whole Hessian, for small ones."""

from collections import deque
from functools import cache

import numpy as np
from scipy.linalg.lapack import dposv

from .._blas import serial_numpy_blas
from ._course import Course
from ._line_search import first_length, search_along

# The first trial of a line search, in units of what the last one ended with: where a
# step was too long, because rows gained curvature on the way, so is the next.
_ROOM = 2
# So many steps that together lower the objective by no more than such a part of it go
# from kink to kink, and may do so for ever.
_MANY, _LITTLE = 20, 0.02


@serial_numpy_blas
def newton_cholesky(objective, initial, *, tol, max_iter, callback=None):
    """Minimise a convex objective by Newton's method with a line search.

    On little data the calls of functions take longer than what they compute, and a
    Hessian that is written out takes fewer of them than its products with vectors.
    Under a mapping with exact zeros, where rows have no curvature, steps may lower
    next to nothing. That ends the way: :func:`newton_cg` may know how to go on.

    Parameters
    ----------
    objective : object
        With ``linearize(parameters)``, and with ``hessian(mean, scale)``, which gives
        a function from linearizations to Hessians in :class:`Standardization`, but for
        the penalty, which is its ``ridge``.
    initial : ndarray of shape (n_parameters,)
        Where to start.
    tol : float
        As for :func:`lbfgs`; what is still to gain is what the quadratic model at the
        point says.
    max_iter : int
        Steps at most.
    callback : callable, optional
        As for :func:`lbfgs`.

    Returns
    -------
    solution : Solution

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.losses import FenchelYoungLoss, SparseTarget
    >>> from skprob.mappings import Softmax
    >>> from skprob.objective import LinearObjective, split_rows
    >>> from skprob.solvers import newton_cholesky
    >>> X = np.array([[0.0], [1e6], [2e6], [3e6]])
    >>> target = SparseTarget.from_labels(np.array([0, 1, 0, 1]), n_classes=2)
    >>> blocks = split_rows(X, target, np.ones(4))
    >>> objective = LinearObjective(blocks, FenchelYoungLoss(Softmax()), l2=0.0)
    >>> solution = newton_cholesky(objective, np.zeros(2), tol=1e-6, max_iter=100)
    >>> solution.converged, round(solution.value, 4)
    (True, 0.5869)
    """
    needs = ["linearize", "hessian"]
    course = Course(
        objective, tol=tol, max_iter=max_iter, callback=callback, needs=needs
    )
    coordinates = course.standardization
    hessian = objective.hessian(coordinates.mean, coordinates.scale)

    def arrive(parameters, here):
        """Be at a point, and know the Newton step from there."""
        scaled = coordinates.gradient(here.gradient)
        (step,) = newton_steps(
            hessian(here)[None], hessian.ridge[None], scaled[None], objective.dtype
        )
        gain = -float(scaled @ step) / 2
        course.arrive(parameters, here.value, here.gradient, gain, scaled)
        return coordinates.to_original(step)

    here = objective.linearize(initial)
    step, length = arrive(initial, here), first_length(objective, initial)
    values = deque([here.value], maxlen=_MANY + 1)
    while not course.finished:
        if len(values) > _MANY and values[0] - values[-1] <= _LITTLE * values[0]:
            break
        best = search_along(
            objective, course.parameters, step, here, course.rounding, length
        )
        if best.length == 0:
            course.stalled = True
            break
        values.append(best.value)
        here, length = best.point, min(1.0, _ROOM * best.length)
        step = arrive(course.parameters + best.length * step, here)
        course.iterated()
    return course.solution()


def newton_steps(hessians, ridges, gradients, dtype):
    """Newton's steps; NaN where a Hessian is not positive definite.

    Parameters
    ----------
    hessians : ndarray of shape (n, n_parameters, n_parameters)
        Without the penalties; overwritten.
    ridges : ndarray of shape (n or 1, n_parameters)
        What the penalties add to their diagonals: all of them something, or none.
    gradients : ndarray of shape (n, n_parameters)
    dtype : dtype
        Of the data that the gradients come from.

    Returns
    -------
    steps : ndarray of shape (n, n_parameters)
    """
    # A view of the diagonals.
    diagonals = hessians.reshape(len(hessians), -1)[:, :: ridges.shape[1] + 1]
    largest = diagonals.max(axis=1, initial=0, keepdims=True)
    diagonals += ridges
    # What makes them positive definite.
    diagonals += _vanishing(dtype, bool(ridges.any())) * largest
    steps = -gradients
    for k, hessian in enumerate(hessians):
        # Symmetric: its transpose is in the order that LAPACK asks for.
        _, steps[k], failed = dposv(hessian.T, steps[k], overwrite_a=True)
        if failed:
            steps[k] = np.nan
    return steps


@cache
def _vanishing(dtype, has_penalty):
    """What is added to a diagonal, in units of the largest curvature.

    A step divides the rounding of the gradient by it where there is no curvature, as
    there may be without a penalty.
    """
    return float(np.finfo(dtype).eps) ** (0.83 if has_penalty else 0.6)
