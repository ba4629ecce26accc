"""Items in parts, so that what is computed for a part fits into memory."""


def slices(n_items, size):
    """Slices of at most `size` items, one after the other; none without items.

    Examples
    --------
    >>> slices(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    starts = range(0, n_items, size)
    return [slice(start, min(start + size, n_items)) for start in starts]
