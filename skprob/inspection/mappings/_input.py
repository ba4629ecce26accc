"""Checks of mappings with their labels, and of rows of numbers."""

from collections.abc import Mapping as Mappable

import numpy as np

from ...mappings import Mapping, get_mapping


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
