"""Checks of predictions: columns in one order, and labels as an indicator."""

import numpy as np

from ..._utils.checks import common_names, distinct_classes, in_order


def frames_in_order(classes, *, are_labels, **frames):
    """The names of the columns, and DataFrames with their columns in this order.

    Parameters
    ----------
    classes : array-like of shape (n_classes,) or None
        None stands for the names of the first DataFrame.
    are_labels : bool
        Whether the classes are labels, so that 0, 1, ... are names, too.
    **frames : array-like, sparse matrix, DataFrame or None
        The matrices by the argument that errors name.

    Returns
    -------
    classes : ndarray of shape (n_classes,) or None
        None if no matrix has names and none are given.
    frames : list
    """
    if classes is None:
        classes = common_names(**frames)
    if classes is None:
        return None, list(frames.values())
    classes = np.asarray(classes)
    return classes, [
        in_order(name, data, classes, are_labels=are_labels)
        for name, data in frames.items()
    ]


def indicator_of(name, labels, classes):
    """Indicator (n_samples, n_classes) of a label in each row.

    Errors call the labels `name`.
    """
    labels, classes = np.asarray(labels), distinct_classes(classes)
    is_label = labels[:, None] == classes
    known = is_label.any(axis=1)
    if not known.all():
        raise ValueError(
            f"{name} must be one of the classes {classes[:10].tolist()}; got "
            f"{labels[~known][:1].tolist()[0]!r}."
        )
    return is_label.astype(float)
