"""Iterables that can be iterated over any number of times."""


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
