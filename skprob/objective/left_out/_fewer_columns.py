"""An objective of rows that are fewer than their columns, in fewer columns.

As :class:`~skprob.data.RowSpace`, for one point in place of a fit: rows are in blocks
and standardised, and features without a penalty keep their columns.
"""

from dataclasses import replace

import numpy as np

from ..._utils.arrays import to_numpy
from ...data import DenseDesign, local_blocks
from .._linear import LinearObjective

# Most numbers of the rows, which are in memory in double precision (512 MiB).
_MOST_NUMBERS = 1 << 26


def may_have_fewer_columns(objective):
    """Whether rows are fewer than the columns, and have few enough numbers."""
    n_rows, size = objective.description.n_rows, objective.shape[1]
    return n_rows < size and n_rows * size <= _MOST_NUMBERS


def number_of_columns(objective):
    """Largest number of columns that the objective has in the coordinates it gets."""
    n_rows, size = objective.description.n_rows, objective.shape[1]
    return min(size, n_rows + 1) if may_have_fewer_columns(objective) else size


def with_fewer_columns(objective, parameters):
    """The same objective of no more penalised columns than rows, and its parameters.

    A change of coordinates makes the penalty that of the identity. There only the part
    of the parameters that is in the span of the rows has an effect on them.
    """
    matrix, diagonal = parameters.reshape(objective.shape), objective.penalty.diagonal
    blocks = objective.blocks.collect(_itself)
    z = [to_numpy(block.design.columns(slice(None))) for block in blocks]
    ends, z = np.cumsum([part.shape[1] for part in z])[:-1], np.hstack(z)
    has_intercept = objective.description.has_intercept
    n_features = len(z) - has_intercept
    penalised = np.flatnonzero(diagonal)
    free = np.setdiff1d(np.arange(n_features), penalised)
    root = np.sqrt(diagonal[penalised])
    scaled = z[penalised] / root[:, None]
    values, vectors = np.linalg.eigh(scaled.T @ scaled)
    is_in_span = values > len(values) * np.finfo(float).eps * values[-1]
    values, vectors = np.sqrt(values[is_in_span]), vectors[:, is_in_span]
    coef = (matrix[:, penalised] * root) @ (scaled @ vectors) / values
    coef = np.hstack([coef, matrix[:, free]])
    features = np.split(np.hstack([vectors * values, z[free].T]), ends)
    parts = zip(blocks, features, strict=True)
    other = LinearObjective(
        local_blocks(replace(block, design=DenseDesign(X)) for block, X in parts),
        objective.loss,
        l2=1.0,
        fit_intercept=has_intercept,
        factors=np.repeat([1.0, 0.0], [len(values), len(free)]),
    )
    intercept = matrix[:, -1] if has_intercept else np.zeros(len(matrix))
    return other, other.from_model(coef, intercept).reshape(-1)


def _itself(block):
    """The block: a function for ``Blocks.collect``."""
    return block
