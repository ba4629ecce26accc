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
    feature; and X in a NumPy array or a CSR matrix.

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
    if spec.unit_rows is not None or not traits.is_convex:
        return None
    if l2 == 0 or spec.l1_ratio > 0:
        return None
    if factors is not None and not factors.all():
        return None
    n_outputs = n_raw_predictions(rows.n_scores, traits.polytope)
    if not suits_row_space(X, n_outputs, l2, traits.is_projection, spec.tuning):
        return None
    return RowSpace.of(X, rows.weight, spec.fit_intercept, factors, l2)


def suits_row_space(X, n_outputs, l2, is_projection=False, tuning=Tuning()):
    """Whether coordinates of the space of rows save more time than they cost.

    For each output a pass over the features takes two products with X, and operations
    with vectors of all features. A pass over the coordinates takes the same with an
    array of rows by rows. The number of passes is that of conjugate gradients: it grows
    with the root of the largest curvature over the penalty.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
    n_outputs : int
        Number of raw predictions of a row.
    l2 : float
        Strength of the penalty, for weights that sum to one.
    is_projection : bool, default=False
        Whether probabilities are a projection of the scores, as those of sparsemax:
        then a fit takes more passes.
    tuning : Tuning, default=Tuning()

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.linear_model.fit._wide_rows import suits_row_space
    >>> suits_row_space(np.ones((100, 5000)), n_outputs=3, l2=0.01)
    True
    >>> suits_row_space(np.ones((1000, 1100)), n_outputs=3, l2=0.001)
    False
    """
    n_rows, n_features = X.shape
    if n_rows >= n_features or n_rows > tuning.wide_rows:
        return False
    is_sparse = sparse.issparse(X)
    # Costs are numbers of multiplications. To read X takes as long as several outputs.
    n_stored = tuning.wide_sparse * X.nnz if is_sparse else X.size
    products = n_outputs + tuning.wide_reading
    vectors = tuning.wide_vectors * n_outputs
    of_features = products * n_stored + vectors * n_features
    of_coordinates = products * n_rows**2 + vectors * n_rows
    cost = n_rows * n_stored / 4 + tuning.wide_eigenvalues * n_rows**3

    values = X.data if is_sparse else X
    axes = list(range(values.ndim))
    with np.errstate(over="ignore"):
        # The sum of the squares in float64, without a copy of X.
        square = np.einsum(values, axes, values, axes, [], dtype=np.float64)
        curvature = square / n_rows**2  # The largest one, if rows are orthogonal.
    passes = tuning.wide_passes_of_projection if is_projection else tuning.wide_passes
    n_passes = passes * np.sqrt(curvature / l2)
    return bool(n_passes * (of_features - of_coordinates) > cost)
