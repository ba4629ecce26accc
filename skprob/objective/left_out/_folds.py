"""Folds of rows that are left out together, where the Hessian takes too long."""

import numpy as np

from ..._utils.arrays import to_numpy


class Fold:
    """One of `n_folds` folds of the rows of an objective.

    Each block has the same share of its rows in each fold, drawn at random.

    Parameters
    ----------
    objective : LinearObjective
    number : int
        Number of the fold, from 0.
    n_folds : int

    Attributes
    ----------
    rows : ndarray of int
        Numbers of the rows of the fold.
    """

    def __init__(self, objective, number, n_folds):
        self._objective, self._fold = objective, (number, n_folds)
        lengths = objective.blocks.collect(_number_of_rows)
        starts = np.cumsum([0, *lengths[:-1]])
        pairs = zip(starts, lengths, strict=True)
        self.rows = np.concatenate([at + _members(n, *self._fold) for at, n in pairs])

    def others(self, strength):
        """The objective of all other rows, at the C that has this strength.

        The strength is that with all rows. The mean loss of fewer rows has the stronger
        penalty.
        """
        blocks = self._objective.blocks.map(_without_fold, *self._fold)
        objective, share = self._objective.of_rows(blocks)
        return objective.with_l2(strength / (share or 1.0))

    def raw(self, parameters):
        """Raw predictions (n_rows, M) of the rows of the fold, in float64."""
        matrix = parameters.reshape(self._objective.shape)
        raw = self._objective.blocks.collect(_raw_of_fold, matrix, *self._fold)
        return np.concatenate(raw)


def _members(n_rows, number, n_folds):
    """Numbers of the rows of a block that are in a fold, in order."""
    order = np.random.default_rng(0).permutation(n_rows)
    return np.sort(order[number::n_folds])


# Functions of a block, for Blocks.collect and Blocks.map.


def _number_of_rows(block):
    return block.weight.shape[0]


def _without_fold(block, number, n_folds):
    n_rows = _number_of_rows(block)
    return block.take(np.delete(np.arange(n_rows), _members(n_rows, number, n_folds)))


def _raw_of_fold(block, matrix, number, n_folds):
    rows = _members(_number_of_rows(block), number, n_folds)
    return to_numpy(block.design.take(rows).matvec(matrix)).astype(np.float64)
