"""When rows are so wide that a fit is faster in the space that they span."""

from ...data import RowSpace
from ...objective import WideObjective, n_raw_predictions

# Costs of the coordinates of n rows of p features: n³ for eigenvalues and n² p for the
# Gram matrix, times these. The unit is a multiplication in a pass over X.
_COST_OF_EIGENVALUES, _COST_OF_GRAM = 0.75, 0.1
# Passes of a fit, about: with exact zeros they are many more, because the support
# changes.
_PASSES, _PASSES_WITH_ZEROS = 25, 400
# With more coefficient rows a multiplication in a pass takes less time.
_MOST_OUTPUTS = 8
# A pass over the coordinates takes as long as one over this number of columns for each
# row.
_COLUMNS_OF_ROW = 1.5
# Most rows, which take 230 MB: about six arrays of rows by rows.
_MOST_ROWS = 2000


def wide_objective(spec, rows, loss, l2):
    """The objective in the space of wide rows, where a fit is faster in it; else None.

    Parameters
    ----------
    spec, rows, l2
        As for :func:`row_space_of`.
    loss : Loss
        The first that is minimised.

    Returns
    -------
    objective : WideObjective or None
    """
    space = row_space_of(spec, rows, l2)
    if space is None:
        return None
    blocks = rows.blocks(space.coordinates_of, spec.mapping.traits.polytope)
    fit_intercept = spec.fit_intercept
    return WideObjective(blocks, loss, space, l2=l2, fit_intercept=fit_intercept)


def row_space_of(spec, rows, l2):
    """The space of wide rows, where a fit is faster in it; else None.

    It needs a convex loss, because others may have several minima; a ridge on every
    feature; and X in a NumPy array.

    Parameters
    ----------
    spec : FitSpec
        The spec of these rows, from its method ``for_rows``.
    rows : RowsInMemory or DaskRows
    l2 : float
        The smallest strength of the penalty that is fitted.

    Returns
    -------
    space : RowSpace or None
    """
    X, penalty, traits = rows.wide_array, spec.penalty, spec.loss.traits
    n_outputs = n_raw_predictions(rows.n_scores, traits.polytope)
    if not is_wide(*X.shape, n_outputs, traits.has_zeros):
        return None
    if spec.inputs.are_unit_rows or not traits.is_convex:
        return None
    if l2 == 0 or penalty.l1_ratio > 0:
        return None
    if penalty.factors is not None and not penalty.factors.all():
        return None
    return RowSpace.of(X, rows.weight, spec.fit_intercept, penalty.factors, l2)


def is_wide(n_rows, n_features, n_outputs, has_zeros):
    """Whether the time of the coordinates is less than the time that they save."""
    n_less = n_features - _COLUMNS_OF_ROW * n_rows
    if n_less <= 0 or n_rows > _MOST_ROWS:
        return False
    n_passes = _PASSES_WITH_ZEROS if has_zeros else _PASSES
    # Both for each row.
    saved = 2 * n_passes * min(n_outputs, _MOST_OUTPUTS) * n_less
    cost = _COST_OF_EIGENVALUES * n_rows**2 + _COST_OF_GRAM * n_rows * n_features
    return saved > cost
