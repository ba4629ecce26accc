"""Objectives of little data, where calls of functions take longer than arithmetic.

Read `_little_point.py` first. `_family.py` evaluates several penalties at once.
"""

from ._family import Family
from ._little_point import EvaluatedRows, LittlePoint, LittleRay, is_little

__all__ = ["EvaluatedRows", "Family", "LittlePoint", "LittleRay", "is_little"]
