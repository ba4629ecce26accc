"""Newton's method for several little problems at once.

The problems differ in the penalty. In each round one point of every problem that has
not converged is evaluated, all of them together.
"""

from __future__ import annotations

import numpy as np

from ..._utils.arrays import precision
from ..._utils.tuning import Tuning


def minimize_family(
    problem, strengths, starts, *, tol, tol_at_start, max_iter, tuning=Tuning()
):
    """Minimise a problem under several penalties by Newton's method.

    A problem has converged where no entry of the gradient is larger than the tolerance
    and the decrease that its quadratic model expects is within it (criteria 1 and 2 of
    :class:`Criteria`). A step is halved until the value falls.

    Parameters
    ----------
    problem : LinearProblem
        A problem with a family: its data are little.
    strengths : ndarray of shape (n_problems,)
    starts : ndarray of shape (n_problems, n_parameters)
    tol, tol_at_start : float
        Tolerance after and before the first step.
    max_iter : int
        Largest number of steps of each problem.
    tuning : Tuning

    Returns
    -------
    parameters : ndarray of shape (n_problems, n_parameters)
    n_iter : ndarray of int of shape (n_problems,)
        Number of steps; -1 for a problem that has not converged.
    """
    family, n_problems = problem.family(strengths), len(strengths)
    eps = precision(problem.description.dtype)
    damping = eps**0.83
    at_zero = abs(problem.value_at_zero)

    def newton(gradients, hessians):
        """Newton's steps and their expected decreases."""
        diagonals = hessians.reshape(len(hessians), -1)[:, :: hessians.shape[1] + 1]
        diagonals += damping * diagonals.max(axis=1, keepdims=True)
        steps = -np.linalg.solve(hessians, gradients[:, :, None])[:, :, 0]
        return steps, -(gradients * steps).sum(axis=1) / 2

    def met(values, gradients, expected, tolerance):
        allowed = tolerance * values + tolerance**2 * at_zero + eps
        return (np.abs(gradients).max(axis=1) <= tolerance) & (expected <= allowed)

    # 0. Evaluate the starts. Halve a start with a large expected decrease: it is the
    #    minimum of another loss, with too large coefficients for this one.
    which, points = np.arange(n_problems), starts.copy()
    values, gradients, hessians = family.at(points, which)
    steps, expected = newton(gradients, hessians)
    far = expected > tuning.far_start * values
    far &= points.any(axis=1)
    if far.any():
        points[far] /= 2
        values[far], gradients[far], hessians = family.at(points[far], which[far])
        steps[far], expected[far] = newton(gradients[far], hessians)
    n_iter, lengths = np.zeros(n_problems, dtype=int), np.ones(n_problems)
    active = which[~met(values, gradients, expected, tol_at_start)]

    for _ in range(tuning.family_rounds if max_iter > 0 else 0):
        if len(active) == 0:
            break
        # 1. Try a length of each step.
        trials = points[active] + lengths[active, None] * steps[active]
        new_values, new_gradients, hessians = family.at(trials, active)
        change = new_values - values[active]
        enough = -2 * tuning.sufficient_decrease * lengths[active] * expected[active]
        rounding = eps * (tuning.rounding * np.abs(values[active]) + 1)
        has_fallen = change <= np.maximum(enough, rounding)
        # 2. Where the value has fallen, move there; else halve the step.
        moved = active[has_fallen]
        lengths[active[~has_fallen]] /= 2
        if len(moved):
            points[moved], values[moved] = trials[has_fallen], new_values[has_fallen]
            gradients[moved] = new_gradients[has_fallen]
            steps[moved], expected[moved] = newton(
                gradients[moved], hessians[has_fallen]
            )
            n_iter[moved] += 1
            lengths[moved] = 1
            # 3. Test.
            done = moved[met(values[moved], gradients[moved], expected[moved], tol)]
            active = np.setdiff1d(active, done, assume_unique=True)
            active = active[n_iter[active] < max_iter]
    tolerance = np.where(n_iter > 0, tol, tol_at_start)
    n_iter[~met(values, gradients, expected, tolerance)] = -1
    return points, n_iter
