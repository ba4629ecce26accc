"""Folds of rows of label sets, and probabilities of rows by models of other folds."""

import warnings
from itertools import chain

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from ..._utils.arrays import take
from ..._utils.parts import Repeatable

#: Most entries of a block that is joined from smaller blocks (0.5 MiB).
MOST_JOINED = 1 << 16


def splits_with_labels(number, labels):
    """Folds whose training rows have labels; at least two rows have some."""
    labelled = np.diff(labels.indptr) > 0
    shuffled = {"shuffle": True, "random_state": 0}
    if labelled.all():
        return list(KFold(number, **shuffled).split(labelled))
    with warnings.catch_warnings():
        # scikit-learn warns where there are fewer empty rows than folds.
        warnings.simplefilter("ignore", UserWarning)
        return list(StratifiedKFold(number, **shuffled).split(labelled, labelled))


def out_of_fold(models, X, splits, given):
    """Probabilities of each row by the model that was fitted to the other folds.

    Returns
    -------
    probabilities : iterable of ndarray of shape (n_rows, n_classes)
    rows : ndarray of shape (n_samples,)
        The numbers of the rows, in the order of the blocks.
    """
    tests = [test for _, test in splits]
    blocks = [
        model.probabilities(take(X, test), given.of(test)).on_host()
        for model, test in zip(models, tests, strict=True)
    ]
    return chained(blocks), np.concatenate(tests)


def chained(iterables):
    """Blocks of several iterables one after the other, any number of times.

    Small blocks that follow each other are one block: a call of a function for each of
    them takes longer than its arithmetic.
    """
    return Repeatable(_joined, iterables)


def _joined(iterables):
    parts, size = [], 0
    for block in chain.from_iterable(iterables):
        if parts and size + block.size > MOST_JOINED:
            yield _one_array(parts)
            parts, size = [], 0
        parts.append(block)
        size += block.size
    if parts:
        yield _one_array(parts)


def _one_array(parts):
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
