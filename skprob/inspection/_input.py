"""Checks of numbers that are arguments of displays."""

from .._utils.checks import is_integer


def check_count(name, number, at_least):
    """`number` if it is an integer of at least `at_least`."""
    if not is_integer(number) or number < at_least:
        raise ValueError(
            f"{name} must be an integer, {at_least} or more; got {number!r}."
        )
    return number
