"""Cholesky factors and inverses of Hessians, in double and in single precision."""

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, spotrf, spotri

from ..._utils.single_precision import smallest_pivot


def cholesky_factor(hessian):
    """The lower Cholesky factor of a Hessian, with a larger diagonal if necessary.

    The diagonal is increased where there is no factor, and where the inverse would
    overflow. The argument is then overwritten.
    """
    diagonal = hessian.reshape(-1)[:: len(hessian) + 1]
    added = np.finfo(float).eps * float(diagonal.max(initial=0)) or 1.0
    while True:
        factor, failed = dpotrf(hessian.T, lower=True)
        if not failed and np.isfinite(1 / np.square(np.diagonal(factor))).all():
            return factor
        diagonal += added
        added *= 100


def inverse(hessian):
    """The inverse of a Hessian, with a larger diagonal if necessary."""
    return _with_both_halves(dpotri(cholesky_factor(hessian), lower=True)[0])


def single_precision_inverse(hessian, least_pivot):
    """The inverse in single precision; None where that is not accurate enough.

    The least pivot is in units of the diagonal. The Hessian is overwritten.
    """
    scale = 1 / np.sqrt(np.diagonal(hessian))
    hessian *= scale[:, None]
    hessian *= scale
    factor, failed = spotrf(hessian.astype(np.float32).T, lower=True)
    if failed or not smallest_pivot(np.diagonal(factor), 1.0) >= least_pivot:
        return None
    scale = scale.astype(np.float32)
    scaled_inverse = _with_both_halves(spotri(factor, lower=True)[0])
    scaled_inverse *= scale[:, None]
    scaled_inverse *= scale
    return scaled_inverse


def _with_both_halves(lower):
    """The symmetric matrix with this lower half; the other half is zero."""
    matrix = lower + lower.T
    np.einsum("ii->i", matrix)[...] /= 2
    return matrix
