"""A block of rows and its part of the training objective, as pure functions.

Conventions, for the whole package:

- Row i has features x_i, target q_i and weight s_i. The weights are normalised:
  they sum to one over *all* blocks.
- A model has M coefficient rows W of shape (M, n_features) and M intercepts b. Its
  M outputs W x + b are the scores of M = K classes; if there is one output u, for
  two classes, the scores are (-u/2, +u/2).

A block's contribution is a pure function of (coefficients, block, loss); nothing here
keeps state between calls, and whatever can map a function over blocks can compute
the sum: a loop, worker processes, a cluster.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..mappings._pair import pair_adjoint, pair_scores
from ._products import compressed, outputs, weighted_sum

# X of a block is so large that the calls are worth their while, and so small that it
# is still in cache for the second product. Its scores, in numbers, fit a core's own
# cache. With many classes neither matters as much as that the rows are not few beside
# them, for the speed of BLAS and the gradients that are added up.
_BLOCK_BYTES = 1 << 22
_SCORES_SIZE = 1 << 16
_FEWEST_ROWS = 512
# Squares that are not as small are summed to full precision.
_VANISHING = 1e-200


class Block(NamedTuple):
    """Some rows of the data.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n_rows, n_features)
        float32 or float64.
    target : DenseTarget or SparseTarget
    weight : ndarray of shape (n_rows,)
        Normalised over all blocks.
    """

    X: np.ndarray | sparse.csr_array
    target: object
    weight: np.ndarray


def split_rows(X, target, weight):
    """Cut data in memory into blocks, without copying X.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_samples, n_features)
    target : DenseTarget or SparseTarget of shape (n_samples, n_classes)
    weight : ndarray of shape (n_samples,)
        Non-negative weights; they are normalised here.

    Returns
    -------
    blocks : list of Block
    """
    weight = (weight / weight.sum()).astype(X.dtype, copy=False)
    return [
        Block(_rows_of(X, rows), target.block(rows), weight[rows])
        for rows in row_slices(X, target.shape[1])
    ]


def row_slices(X, n_outputs):
    """Slices of the rows of X that make blocks of a good size, in order."""
    n_samples, n_features = X.shape
    size = _BLOCK_BYTES / X.dtype.itemsize
    most = _SCORES_SIZE / n_outputs
    if not sparse.issparse(X):
        step = min(size / max(n_features, 1), most)
        step = max(step, min(12 * n_outputs, 2 * _FEWEST_ROWS))
    else:
        # The coefficients are touched once a block: keep them fewer than the block,
        # and rather have scores that are not in cache.
        width = max(X.nnz / n_samples, 1)
        step = min(size / width, max(4 * most, _FEWEST_ROWS))
        step = max(step, 4 * n_features / width)
    n_blocks = max(math.ceil(n_samples / max(step, 1)), 1)
    # Of equal sizes: threads are to have done at the same time.
    ends = [n_samples * i // n_blocks for i in range(n_blocks + 1)]
    return [slice(*pair) for pair in itertools.pairwise(ends)]


def _rows_of(X, rows):
    if not sparse.issparse(X):
        return X[rows]
    first, last = X.indptr[rows.start], X.indptr[rows.stop]
    # Filled in afterwards: the constructor would copy small parts of an array.
    block = sparse.csr_array((rows.stop - rows.start, X.shape[1]), dtype=X.dtype)
    block.data, block.indices = X.data[first:last], X.indices[first:last]
    block.indptr = X.indptr[rows.start : rows.stop + 1] - first
    return block


def model_outputs(X, coef, intercept):
    """Outputs W x + b of a linear model, of shape (n_rows, M)."""
    found = outputs(X, coef)
    found += intercept
    return found


def scores_of(outputs):
    """Scores of the classes, from a model's outputs."""
    return outputs if outputs.shape[1] > 1 else pair_scores(outputs)


def outputs_adjoint(residual, n_outputs):
    """Adjoint of :func:`scores_of`."""
    return residual if n_outputs > 1 else pair_adjoint(residual)


def linearize_outputs(loss, outputs, target):
    """The loss as a function of a model's outputs: a `LossLinearization`."""
    if outputs.shape[1] > 1:
        return loss.linearize(outputs, target)
    return loss.linearize_difference(outputs, target)


def weighted_total(values, weight):
    # In float64 whatever the data: a line search compares totals.
    return float(np.dot(values, weight.astype(np.float64, copy=False)))


def block_value_and_gradient(coef, intercept, block, loss):
    """A block's part of the objective, without the penalty.

    Parameters
    ----------
    coef : ndarray of shape (M, n_features)
    intercept : ndarray of shape (M,)
    block : Block
    loss : Loss

    Returns
    -------
    value : float
        Without the loss's constant.
    coef_gradient : ndarray of shape (M, n_features)
    intercept_gradient : ndarray of shape (M,)
    """
    scores = scores_of(model_outputs(block.X, coef, intercept))
    values, residual = loss.evaluate(scores, block.target)
    residual *= block.weight[:, None]
    residual = outputs_adjoint(residual, len(coef))
    value = weighted_total(values, block.weight)
    return value, weighted_sum(block.X, residual), residual.sum(axis=0)


def block_moments(block):
    """Weight of a block, and the weighted mean and deviation of its features.

    Computed in float64 and, where a square could overflow or vanish, with each feature
    in units of its largest entry.

    Returns
    -------
    total : float
    mean, deviation : ndarray of shape (n_features,)
    """
    X, total = block.X, block.weight.sum(dtype=np.float64)
    share = block.weight / (total or np.float64(1))
    if not sparse.issparse(X):
        unit = 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            mean, shift, variance = _moments(X, share)
            squares = mean**2 + variance
        # A feature of zeros has nothing that could vanish.
        if not np.isfinite(squares).all() or X[:, squares < _VANISHING].any():
            unit = np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)
            unit[unit == 0] = 1
            mean, shift, variance = _moments(X / unit, share)
    else:
        # As an index NumPy wants this type, and would convert others every time.
        column, n_features = X.indices.astype(np.intp, copy=False), X.shape[1]
        unit = np.zeros(n_features)
        np.maximum.at(unit, column, np.abs(X.data))
        unit[unit == 0] = 1

        def share_of(values):
            return compressed(sparse.csc_array, X.shape[::-1], values, X) @ share

        z = X.data / unit[column]
        # The zeros that are not stored have the weight that the others leave; added
        # up in the same order, so that a full column leaves exactly nothing.
        absent = np.cumsum(share)[-1] - share_of(np.ones_like(z))
        mean = share_of(z)
        z -= mean[column]
        shift = share_of(z) - absent * mean
        variance = np.maximum(absent, 0) * mean**2 + share_of(np.square(z, out=z))
    # What rounding has left in the mean would give a constant feature a spread.
    mean = mean + shift
    variance = np.maximum(variance - shift**2, 0)
    return total, unit * mean, unit * np.sqrt(variance)


def _moments(X, share):
    """Mean, what rounding has left of it, and mean square about it."""
    mean = share @ X
    z = X - mean
    return mean, share @ z, share @ np.square(z, out=z)


def trial_scores(block, n_rows=64):
    """Scores of some rows under random coefficients, about as large as after a fit.

    For a check of a loss on the data at hand; the same at every call.
    """
    X = block.X[:n_rows]
    n_classes = block.target.shape[1]
    shape = (1 if n_classes == 2 else n_classes, X.shape[1])
    coef = np.random.default_rng(0).standard_normal(shape)
    outputs = model_outputs(X, coef, 0.0)
    outputs = outputs - outputs.mean(axis=0)
    spread = outputs.std(axis=0)
    return scores_of(2 * outputs / np.where(spread > 0, spread, 1))
