"""Objectives with a penalty that makes coefficients exactly zero.

Read `_shrinkage.py` first: the part of the penalty that has no derivative at zero, for
single coefficients and for whole features. `_composite.py` adds it to the smooth
objective, and `_gap.py` computes the duality gap.
"""

from ._composite import CompositeObjective, CompositePoint
from ._shrinkage import ColumnShrinkage, EntryShrinkage, PenaltyShape

__all__ = [
    "ColumnShrinkage",
    "CompositeObjective",
    "CompositePoint",
    "EntryShrinkage",
    "PenaltyShape",
]
