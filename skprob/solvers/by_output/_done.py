"""The criteria by which an output is done."""

import numpy as np


def outputs_done(problem, criteria, point, expected, fallen):
    """Mask of the outputs of a point that are accepted as their minima.

    The criteria are those of :class:`Criteria`, for each output alone. If all outputs
    fulfil them, so does their sum.

    Parameters
    ----------
    problem : SeparableProblem
    criteria : Criteria
    point : OutputsPoint
    expected : ndarray of shape (m,)
        Expected decrease of each value; NaN if unknown.
    fallen : ndarray of shape (m,) or None
        Decrease of each value by the last step; None at the start.

    Returns
    -------
    done : ndarray of bool of shape (m,)
    gaps : ndarray of shape (m,)
        Bounds on the values less their minima; NaN without a duality gap.
    """
    tol = criteria.tol_at_start if fallen is None else criteria.tol
    n_outputs = problem.description.shape[0]
    sizes, at_zero = np.abs(point.values), abs(problem.value_at_zero) / n_outputs
    eps = float(np.finfo(problem.description.dtype).eps)
    limits = tol * sizes + tol * (tol * at_zero) + eps
    done = np.abs(point.gradient).max(axis=1) <= tol
    # A decrease of NaN, which is unknown, is not compared.
    done &= ~(expected > limits)
    if not problem.has_output_gaps or not criteria.uses_gap:
        # Criterion 2 without a gap, and criterion 3 for the last step only.
        slope = (point.gradient * point.parameters).sum(axis=1)
        done &= np.maximum(-3 * slope, slope) <= limits
        if fallen is not None:
            done &= fallen <= limits
        return done, np.full(len(done), np.nan)
    gaps = point.duality_gaps()
    enough = max(tol, criteria.tuning.loose_gap) * sizes
    enough = np.where(np.isnan(expected), np.minimum(enough, limits), enough)
    # The loss of a label in no row is as large as the precision at its first intercept.
    rounding = criteria.tuning.rounding * eps
    enough = np.maximum(enough, max(min(tol, 1e-4) ** 2 * at_zero, rounding))
    return done & (gaps <= enough), gaps
