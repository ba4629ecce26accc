"""Constraints of parameters: which values they allow, and how errors show them."""

from skprob._utils.checks import OneOf

NAMES = ["one", "two", "three", "four", "five", "six", "seven", "eight"]


def test_errors_list_names_in_their_order():
    """A set has another order in each process."""
    allowed = OneOf(*NAMES)
    assert str(allowed) == f"a str among {{{', '.join(map(repr, NAMES))}}}"
    assert allowed.is_satisfied_by("eight")
    assert not allowed.is_satisfied_by("nine")
    assert not allowed.is_satisfied_by(1)
