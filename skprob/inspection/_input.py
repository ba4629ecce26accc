"""Checks of the arguments of displays: mappings with their labels, and numbers."""

from collections.abc import Mapping as Mappable

import numpy as np

from .._utils.checks import common_names, in_order, is_integer
from ..mappings import Mapping, get_mapping


def labelled(mappings):
    """The mappings by their labels, from a dict of them or from a sequence.

    In a sequence, a name labels itself, a function is labelled with its name and a
    mapping with its representation.
    """
    if isinstance(mappings, Mappable):
        pairs = list(mappings.items())
    elif isinstance(mappings, (str, Mapping)) or not np.iterable(mappings):
        raise ValueError(
            "mappings must be a sequence of mappings or a dict of them by label; got "
            f"{mappings!r}."
        )
    else:
        pairs = [(_label(mapping), mapping) for mapping in mappings]
    if not pairs:
        raise ValueError("mappings must hold at least one mapping, got none.")
    checked = {}
    for label, mapping in pairs:
        if label in checked:
            raise ValueError(
                f"Two mappings have the label {label!r}: give a dict of mappings by "
                "label."
            )
        checked[label] = get_mapping(mapping)
    return checked


def _label(mapping):
    if isinstance(mapping, str):
        return mapping
    return getattr(mapping, "__name__", repr(mapping))


def check_row(name, values):
    """`values` as a vector of one finite float or more."""
    try:
        row = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be real numbers, got {values!r}.") from None
    if row.ndim != 1 or len(row) == 0 or not np.isfinite(row).all():
        raise ValueError(
            f"{name} must be a row of one finite number or more; got {values!r}."
        )
    return row


def check_count(name, number, at_least):
    """`number` if it is an integer of at least `at_least`."""
    if not is_integer(number) or number < at_least:
        raise ValueError(
            f"{name} must be an integer, {at_least} or more; got {number!r}."
        )
    return number


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
    labels, classes = np.asarray(labels), np.asarray(classes)
    is_label = labels[:, None] == classes
    known = is_label.any(axis=1)
    if not known.all():
        raise ValueError(
            f"{name} must be one of the classes {classes[:10].tolist()}; got "
            f"{labels[~known][:1].tolist()[0]!r}."
        )
    return is_label.astype(float)
