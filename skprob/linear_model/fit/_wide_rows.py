"""Fits to wide rows in the space that they span, where these are faster."""

import numpy as np
from scipy import sparse

from ...data import RowSpace
from ...objective import WideObjective, n_raw_predictions
from ...solvers import Tuning


def wide_objective(spec, rows, loss, l2):
    """The objective in the space of wide rows, where a fit is faster in it; else None.

    Parameters
    ----------
    spec, rows, l2
        As for :func:`row_space_of`.
    loss : Loss
        The loss that is minimised first.

    Returns
    -------
    objective : WideObjective or None
    """
    space = row_space_of(spec, rows, l2)
    if space is None:
        return None
    polytope, tuning = spec.loss.mapping.traits.polytope, spec.tuning
    blocks = rows.blocks(polytope, space.coordinates_of, tuning)
    options = {"fit_intercept": spec.fit_intercept, "tuning": tuning}
    return WideObjective(blocks, loss, space, l2=l2, **options)


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
    is_sparse, tuning = sparse.issparse(X), spec.tuning
    if not is_sparse and not is_wide(*X.shape, n_outputs, traits.has_zeros, tuning):
        return None
    if spec.unit_rows is not None or not traits.is_convex:
        return None
    if l2 == 0 or spec.l1_ratio > 0:
        return None
    if factors is not None and not factors.all():
        return None
    is_sparsemax = traits.is_projection and traits.polytope == "simplex"
    if is_sparse and not is_wide_sparse(X, n_outputs, l2, is_sparsemax, tuning):
        return None
    if is_sparse and not takes_many_passes(spec.loss.mapping, rows.n_scores, tuning):
        return None
    return RowSpace.of(X, rows.weight, spec.fit_intercept, factors, l2)


def is_wide(n_rows, n_features, n_outputs, has_zeros, tuning=Tuning()):
    """Whether the coordinates of dense rows take less time than they save."""
    n_less = n_features - tuning.wide_columns * n_rows
    if n_less <= 0 or n_rows > tuning.wide_rows:
        return False
    n_passes = tuning.wide_passes_with_zeros if has_zeros else tuning.wide_passes
    # Saved time and cost are multiplications for each row.
    saved = 2 * n_passes * min(n_outputs, tuning.wide_outputs) * n_less
    cost = tuning.wide_eigenvalues * n_rows**2
    cost += tuning.wide_gram * n_rows * n_features
    return saved > cost


def takes_many_passes(mapping, n_scores, tuning=Tuning()):
    """Whether the mapping has many exact zeros, so that a fit takes many passes.

    It has many if a slightly higher score takes all probability from the others.
    """
    if not mapping.traits.has_zeros:
        return False
    scores = np.full((1, n_scores), -tuning.wide_lower_score)
    if mapping.traits.polytope == "simplex":
        scores[0, 0] = 0
    return mapping(scores)[0, -1] == 0


def is_wide_sparse(X, n_outputs, l2, is_sparsemax=False, tuning=Tuning()):
    """As :func:`is_wide`, for a CSR matrix and a penalty of strength `l2`.

    A weaker penalty makes the condition number larger, and with it the number of
    passes. For dense rows the penalty is not considered: their passes take more time.
    """
    n_rows, n_features = X.shape
    if n_features <= tuning.wide_columns * n_rows or n_rows > tuning.wide_rows:
        return False
    data = X.data.astype(np.float64, copy=False)
    with np.errstate(over="ignore"):
        of_root = tuning.wide_sparse_passes
        if is_sparsemax and n_outputs > 1:
            of_root = tuning.wide_sparsemax_passes
        n_passes = of_root * np.sqrt(data @ data / l2) / n_rows
    of_pass = X.nnz + n_features + tuning.wide_nonzeros_of_row * n_rows
    of_pass -= tuning.wide_nonzeros_of_coordinate * n_rows**2
    saved = n_passes * of_pass * min(n_outputs, tuning.wide_sparse_outputs)
    cost = tuning.wide_sparse_eigenvalues * n_rows**3
    if saved <= cost:
        return False
    lengths = np.bincount(X.indices).astype(np.float64)
    return saved > cost + tuning.wide_sparse_gram * lengths @ lengths
