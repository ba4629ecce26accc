"""The C below which all penalised coefficients are zero."""

from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._utils.warnings import warn
from ..solvers import solve_in_turn
from .fit import objectives_of

# Tolerance of the gradient in the free parameters, and largest number of iterations.
_TOL, _MAX_ITER = 1e-13, 1000
# The returned C is below the limit by this relative margin, so that rounding errors of
# a fit with this C do not make a coefficient enter. On iris, wine, digits and breast
# cancer the errors are below 1e-9 in float64 and 1e-6 in float32.
_MARGIN = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-5}
# A gradient counts as zero if it is at most this number of rounding errors.
_ROUNDING_ERRORS = 10


def entry_C(spec, rows):
    """The largest C at which all penalised coefficients are zero, for a lasso.

    It is the C for l1_ratio=1, and in proportion to l1_ratio. The free parameters are
    the intercepts and the coefficients with a factor of zero. At the minimum over
    these, let g be the gradient of the mean loss in the penalised coefficients. They
    are zero at the minimum over all parameters if no entry of g is larger than the
    strength l1_ratio / (C Σs) times the factor of its feature. With groups this holds
    for the norms of the columns of g.

    Parameters
    ----------
    spec : FitSpec
        Its C and l1_ratio have no effect.
    rows : RowsInMemory or DaskRows

    Returns
    -------
    C : float
        Infinite if no coefficient enters under any penalty.
    """
    spec = replace(spec, C=np.inf).for_rows(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        # Without a penalty, and without the features that have infinite factors.
        objectives = objectives_of(spec, rows)
    objective, factors = objectives[-1], spec.penalty_factors
    if factors is None:
        factors = np.ones(objective.n_features)
    factors = factors[np.isfinite(factors)]
    free, penalised = np.flatnonzero(factors == 0), np.flatnonzero(factors)
    parameters = np.zeros(objective.shape)
    columns = objective.units.columns_of(free)
    if len(columns):
        parts = [each.restricted(free) for each in objectives]
        minimum = _minimum(spec, parts)
        parameters[:, columns] = minimum.reshape(len(parameters), -1)
    gradient = objective.at(parameters.ravel()).gradient.reshape(objective.shape)
    gradient = gradient[:, penalised]
    if spec.select == "features":
        sizes = np.sqrt(np.square(gradient).sum(axis=0))
    else:
        sizes = np.abs(gradient).max(axis=0)
    # Standardised features have a deviation of about one.
    if not sizes.max(initial=0) > _ROUNDING_ERRORS * np.finfo(rows.dtype).eps:
        return np.inf
    strength = (sizes * objective.units.scale[penalised] / factors[penalised]).max()
    margin = _MARGIN.get(np.dtype(rows.dtype), _MARGIN[np.dtype(np.float32)])
    return float((1 - margin) / (strength * rows.total_weight))


def _minimum(spec, objectives):
    """The free parameters at the minimum, where the others are zero."""
    solution = solve_in_turn(
        objectives,
        objectives[0].initial(),
        solver=spec.solver,
        tol=_TOL,
        max_iter=max(spec.max_iter, _MAX_ITER),
        tuning=spec.tuning,
    )
    if solution.remedies == ("penalty",) or solution.gradient_norm > spec.tol:
        warn(
            "smallest_C is not exact: the minimum over the intercepts and the features "
            f"with penalty factor 0 was not found ({solution.message}).",
            ConvergenceWarning,
        )
    return solution.parameters
