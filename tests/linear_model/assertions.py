"""Assertions about calls."""

import pytest


def assert_refused(message, call, *args, **kwargs):
    """A call raises a ValueError with a text in which the pattern is found."""
    with pytest.raises(ValueError, match=f"(?s){message}"):
        call(*args, **kwargs)
        pytest.fail(f"Taken without an error: {args} {kwargs}")
