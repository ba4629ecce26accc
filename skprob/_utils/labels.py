"""Labels among the classes."""

import numpy as np


def names_of(classes):
    """Names of classes as Python objects; dates and durations as those of NumPy.

    Python has whole numbers for those in nanoseconds.

    Examples
    --------
    >>> import numpy as np
    >>> names_of(np.array(["b", "a"]))
    ['b', 'a']
    """
    return list(classes) if classes.dtype.kind in "mM" else classes.tolist()


def positions_of(labels, classes):
    """The number of each label among the classes.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
    classes : ndarray of shape (n_classes,)
        Distinct, in any order.

    Returns
    -------
    positions : ndarray of int of shape (n_samples,)
        -1 for labels that are none of the classes.

    Examples
    --------
    >>> import numpy as np
    >>> positions_of(np.array(["b", "c", "a"]), np.array(["b", "a"]))
    array([ 0, -1,  1])
    """
    order = np.argsort(classes, kind="stable")
    try:
        positions = np.searchsorted(classes, labels, sorter=order)
    except TypeError:  # Strings and numbers have no order.
        return np.full(len(labels), -1)
    positions = order[np.minimum(positions, len(order) - 1)]
    return np.where(classes[positions] == labels, positions, -1)
