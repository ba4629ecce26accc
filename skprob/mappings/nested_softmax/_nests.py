"""Nests of classes: the index of the nest of each class, or lists of class names."""

import numpy as np

from ..._utils.checks import real_or_nan
from ..._utils.names import did_you_mean


def are_by_name(nests):
    """Whether nests are lists of class names, and not one index for each class."""
    if nests is None or isinstance(nests, (str, np.ndarray)) or not np.iterable(nests):
        return False
    return any(isinstance(nest, (list, tuple, set, np.ndarray)) for nest in nests)


def number_of(nests):
    """Number of nests that have a scale, of checked nests."""
    if nests is None:
        return 1
    return len(nests) if are_by_name(nests) else len(np.unique(nests))


def check_nests(nests):
    """Raise unless nests are None, indices 0, ..., n_nests - 1, or lists of names."""
    if nests is None:
        return
    if are_by_name(nests):
        _check_lists(nests)
        return
    indices = np.asarray(nests)
    is_index = indices.ndim == 1 and indices.dtype.kind in "iu" and len(indices) > 0
    n_nests = len(np.unique(indices))
    if not is_index or not (np.unique(indices) == np.arange(n_nests)).all():
        raise ValueError(
            "nests must be integers of shape (n_classes,) that contain each of "
            f"0, ..., n_nests - 1, or lists of class names; got {nests!r}."
        )


def check_scales(scales, n_nests):
    """The scales of the nests, a list of floats."""
    values = real_or_nan(scales)
    if values.shape in ((), (1,)):
        values = np.broadcast_to(values, n_nests)
    if values.shape != (n_nests,) or not ((values > 0) & (values <= 1)).all():
        raise ValueError(
            "scales must be a number above 0 and up to 1, or one for each of the "
            f"{n_nests} nests; got {scales!r}."
        )
    return [float(value) for value in values]


def indices_of(nests, names, n_classes):
    """The nest of each class, from lists of names.

    Parameters
    ----------
    nests : list of lists
        A class that is in no list is a nest of its own, after the others.
    names : list
        Names of the classes, at most n_classes; further classes have no name.
    n_classes : int

    Returns
    -------
    indices : ndarray of int of shape (n_classes,)

    Raises
    ------
    ValueError
        If a name is not that of a class.
    """
    columns = {name: k for k, name in enumerate(names)}
    by_text = {str(name): k for name, k in columns.items()}
    indices = np.full(n_classes, -1)
    for index, nest in enumerate(nests):
        for name in nest:
            column = columns.get(name, by_text.get(str(name)))
            if column is None:
                texts = [known for known in names if isinstance(known, str)]
                raise ValueError(
                    f"nests must name classes, {list(names)[:10]}; got {name!r}."
                    f"{did_you_mean(name, texts)}"
                )
            indices[column] = index
    alone = indices < 0
    indices[alone] = len(nests) + np.arange(np.count_nonzero(alone))
    return indices


def _check_lists(nests):
    names = []
    for nest in nests:
        is_list = isinstance(nest, (list, tuple, set, np.ndarray))
        if not is_list or len(nest) == 0:
            raise ValueError(
                "nests must be lists of class names, each with one name or more; got "
                f"{nest!r}."
            )
        names += [str(name) for name in nest]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(
            f"nests must name each class once at most; got {repeated} more than once."
        )
