"""Distributions over the classes as targets."""

import numpy as np
from scipy import sparse

from ._dense import DenseTarget
from ._indicator import if_encoded

# Largest error of the sum of a distribution, which is then normalised.
_SUM_TOLERANCE = 1e-5


def checked_distributions(y, dtype):
    """The target of a user's distributions, the rows of a dense matrix."""
    if sparse.issparse(y):
        raise ValueError("target_type='distribution' needs a dense y, got sparse.")
    if y.dtype.kind not in "biuf":
        raise ValueError(f"Distributions must be real numbers, got dtype {y.dtype}.")
    hint = if_encoded(y)
    # In C order, rounding errors do not depend on the memory order of a DataFrame.
    y = y.astype(np.float64, order="C")
    with np.errstate(over="ignore", invalid="ignore"):
        total = y.sum(axis=1, keepdims=True)
    good = (np.abs(total[:, 0] - 1) <= _SUM_TOLERANCE) & (y >= 0).all(axis=1)
    if not good.all():
        row = int(np.argmin(good))
        raise ValueError(
            "As distributions, the rows of y must be non-negative and sum to one; row "
            f"{row} has sum {total[row, 0]:.6g} and minimum {y[row].min():.6g}. (Label "
            "sets are 0/1 indicators, labels are one-dimensional; counts of votes are "
            f"divided by the sums of their rows.){hint}"
        )
    y /= total
    return DenseTarget(y.astype(dtype, copy=False))
