"""Proofs that a point is near the minimum, or that there is none.

Read `_gap.py` first: a bound on value less minimum, by Fenchel duality, with the
formulas. `_intercepts.py` makes it tight. `_separability.py` tests whether the data are
such that there is no minimum.
"""

from ._gap import TargetSums, duality_gap, mixture, sums_of_block
from ._separability import has_descent_direction

__all__ = [
    "TargetSums",
    "duality_gap",
    "has_descent_direction",
    "mixture",
    "sums_of_block",
]
