"""Nested softmax: softmax of nests, and softmax of the classes inside a nest.

Read `_nested_softmax.py` first. `_nests.py` checks the nests of the classes and their
scales.
"""

from ._nested_softmax import NestedSoftmax, nested_softmax

__all__ = ["NestedSoftmax", "nested_softmax"]
