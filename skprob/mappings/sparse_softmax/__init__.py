"""Sparse softmax: softmax over the classes with the largest scores.

Read `_sparse_softmax.py` first. `_selection.py` finds these classes without sorting.
"""

from ._sparse_softmax import SparseSoftmax, sparse_softmax

__all__ = ["SparseSoftmax", "sparse_softmax"]
