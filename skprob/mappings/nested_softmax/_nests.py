"""Nests of classes: the index of the nest of each class, or lists of class names."""

import numpy as np

from ..._utils.checks import real_or_nan
from ..._utils.names import did_you_mean

# Largest nest for which the sums of all nests are computed class by class: the first
# classes of all nests, then the second ones, and so on. With 500 nests of two this
# takes 0.25 times as long as reduceat, with 5 nests of 100 as long.
_FEW_CLASSES = 32


class ClassesOfNests:
    """The classes of each nest, for sums over the classes and values of the nests.

    Parameters
    ----------
    number : ndarray of shape (n_classes,)
        Number of the nest of each class; each nest has one.
    scales : list of float
        Scale of each nest.
    """

    def __init__(self, number, scales):
        sizes = np.bincount(number)
        self.number, self.scales = number, np.array(scales)
        order = np.argsort(number, kind="stable")
        first = np.cumsum(sizes) - sizes
        if sizes.max() > _FEW_CLASSES:
            self._parts, self._order, self._first = None, order, first
            return
        # For each n, the nests with more than n classes, and their class number n.
        nests = [np.flatnonzero(sizes > n) for n in range(sizes.max())]
        self._parts = [(some, order[first[some] + n]) for n, some in enumerate(nests)]

    def of_classes(self, dtype):
        """Scale of the nest of each class."""
        return self.scales[self.number].astype(dtype)

    def sums(self, array):
        """Sums over the classes of each nest: (n_samples, n_nests)."""
        return self._reduced(np.add, array)

    def largest(self, array):
        """Largest number of the classes of each nest: (n_samples, n_nests)."""
        return self._reduced(np.maximum, array)

    def spread(self, values):
        """The value of its nest for each class: (n_samples, n_classes)."""
        return values.take(self.number, axis=1)

    def _reduced(self, function, array):
        if self._parts is None:
            in_order = array.take(self._order, axis=1)
            return function.reduceat(in_order, self._first, axis=1)
        (_, classes), *parts = self._parts
        reduced = array.take(classes, axis=1)
        for nests, classes in parts:
            part = array.take(classes, axis=1)
            if len(nests) == reduced.shape[1]:
                function(reduced, part, out=reduced)
            else:
                reduced[:, nests] = function(reduced[:, nests], part)
        return reduced


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
