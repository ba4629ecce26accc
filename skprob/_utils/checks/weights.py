"""Weights of rows."""

import numpy as np

from ..arrays import check_no_gradient, is_foreign, to_numpy
from ..compat import check_weights
from .naming import naming


def check_sample_weight(sample_weight, X):
    """Weights of the rows of `X`, of shape (n_samples,); ones for None."""
    if sample_weight is None:
        return np.ones(X.shape[0])
    with naming("sample_weight"):
        if is_foreign(sample_weight):
            check_no_gradient("sample_weight", sample_weight)
            sample_weight = to_numpy(sample_weight)
        if np.asarray(sample_weight).dtype.kind == "c":
            raise ValueError("Complex numbers were found.")
        if is_foreign(X):  # The weights are a NumPy array in any case.
            X = np.empty((X.shape[0], 0))
        return check_weights(sample_weight, X)
