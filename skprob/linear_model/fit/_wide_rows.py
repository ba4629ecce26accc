"""When rows are so wide that a fit is faster in the space that they span."""

import numpy as np
from scipy import sparse

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
# The same costs for sparse rows: of n³, and of a multiplication in the Gram matrix. The
# unit is a multiplication in a pass over the non-zeros, about 1.4 ns.
_SPARSE_EIGENVALUES, _SPARSE_GRAM = 0.15, 2
# With 1.5-entmax, or two classes, a fit takes at least this number of passes, times the
# square root of C and of the mean ‖x‖²; with sparsemax of more classes at least the
# second number. With softmax, and where zeros need a score that is higher by more than
# the last number, it takes few passes.
_PASSES_OF_ROOT, _PASSES_OF_SPARSEMAX, _HIGHER_SCORE = 7, 30, 2.2
# A pass takes for each coordinate of a row, and for the probabilities of a row, as long
# as for these numbers of non-zeros.
_NONZEROS_OF_COORDINATE, _NONZEROS_OF_ROW = 0.06, 30
# With more coefficient rows a multiplication in a pass takes less time.
_MOST_SPARSE_OUTPUTS = 3


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
    blocks = rows.blocks(spec.mapping.traits.polytope, space.coordinates_of)
    fit_intercept = spec.fit_intercept
    return WideObjective(blocks, loss, space, l2=l2, fit_intercept=fit_intercept)


def row_space_of(spec, rows, l2):
    """The space of wide rows, where a fit is faster in it; else None.

    It needs a convex loss, because others may have several minima; a ridge on every
    feature; and X in a NumPy array or a CSR matrix. With sparse rows it also needs a
    mapping with many exact zeros: with others a fit takes few passes.

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
    X, factors, traits = rows.wide_X, spec.penalty_factors, spec.loss.traits
    n_outputs = n_raw_predictions(rows.n_scores, traits.polytope)
    is_sparse = sparse.issparse(X)
    if not is_sparse and not is_wide(*X.shape, n_outputs, traits.has_zeros):
        return None
    if spec.unit_rows is not None or not traits.is_convex:
        return None
    if l2 == 0 or spec.l1_ratio > 0:
        return None
    if factors is not None and not factors.all():
        return None
    is_sparsemax = traits.is_projection and traits.polytope == "simplex"
    if is_sparse and not is_wide_sparse(X, n_outputs, l2, is_sparsemax):
        return None
    if is_sparse and not takes_many_passes(spec.mapping, rows.n_scores):
        return None
    return RowSpace.of(X, rows.weight, spec.fit_intercept, factors, l2)


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


def takes_many_passes(mapping, n_scores):
    """Whether a score that is a little higher takes all probability from the others."""
    if not mapping.traits.has_zeros:
        return False
    scores = np.full((1, n_scores), -_HIGHER_SCORE)
    if mapping.traits.polytope == "simplex":
        scores[0, 0] = 0
    return mapping(scores)[0, -1] == 0


def is_wide_sparse(X, n_outputs, l2, is_sparsemax=False):
    """As :func:`is_wide`, for a CSR matrix and a penalty of strength `l2`.

    The number of passes grows with the condition number, which a weaker penalty makes
    larger. The penalty of dense rows is not considered: their passes take more time.
    """
    n_rows, n_features = X.shape
    if n_features <= _COLUMNS_OF_ROW * n_rows or n_rows > _MOST_ROWS:
        return False
    data = X.data.astype(np.float64, copy=False)
    with np.errstate(over="ignore"):
        of_root = _PASSES_OF_ROOT
        if is_sparsemax and n_outputs > 1:
            of_root = _PASSES_OF_SPARSEMAX
        n_passes = of_root * np.sqrt(data @ data / l2) / n_rows
    of_pass = X.nnz + n_features + _NONZEROS_OF_ROW * n_rows
    of_pass -= _NONZEROS_OF_COORDINATE * n_rows**2
    saved = n_passes * of_pass * min(n_outputs, _MOST_SPARSE_OUTPUTS)
    cost = _SPARSE_EIGENVALUES * n_rows**3
    if saved <= cost:
        return False
    lengths = np.bincount(X.indices).astype(np.float64)
    return saved > cost + _SPARSE_GRAM * lengths @ lengths
