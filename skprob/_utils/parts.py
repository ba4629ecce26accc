"""Data in parts, so that the arrays of a part fit into memory."""


def slices(n_items, size):
    """Slices of at most `size` items, one after the other; none without items.

    Examples
    --------
    >>> slices(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    starts = range(0, n_items, size)
    return [slice(start, min(start + size, n_items)) for start in starts]


class Repeatable:
    """The items of an iterator that is made anew for each iteration.

    Parameters
    ----------
    make : callable
        ``make(*arguments)`` is an iterable of the items, such as a generator.
    *arguments : object

    Examples
    --------
    >>> squares = Repeatable(map, lambda x: x**2, [1, 2, 3])
    >>> list(squares), list(squares)
    ([1, 4, 9], [1, 4, 9])
    """

    def __init__(self, make, *arguments):
        self._make, self._arguments = make, arguments

    def __iter__(self):
        return iter(self._make(*self._arguments))
