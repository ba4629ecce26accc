"""Mappings made from functions of users.

`_function.py` takes a function from scores to probabilities, `_normalized_mapping.py`
divides a positive function by its sum, and `_threshold_mapping.py` shifts scores such
that the values of an increasing function sum to one. `_user_function.py` checks the
values that such functions return; `_increasing_function.py`, `_antiderivative.py` and
`_monotone_root.py` integrate, by the rules of `_lobatto.py`, and invert them.
"""

from ._function import FunctionMapping
from ._lobatto import gauss_lobatto
from ._normalized_mapping import NormalizedMapping
from ._threshold_mapping import ThresholdMapping

__all__ = [
    "FunctionMapping",
    "NormalizedMapping",
    "ThresholdMapping",
    "gauss_lobatto",
]
