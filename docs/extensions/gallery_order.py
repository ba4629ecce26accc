"""The order of the examples: those first that show what the package is for."""

FIRST = [
    "demo.py",
    "sets_with_a_guarantee.py",
    "possible_classes.py",
    "alpha.py",
    "alpha_and_penalty.py",
]


def position(filename):
    """Sort key of an example: the first ones in their order, then by name."""
    return (FIRST.index(filename) if filename in FIRST else len(FIRST), filename)
