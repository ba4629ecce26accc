"""Sparse softmax: softmax over the classes with the largest scores.

Read `_sparse_softmax.py` first. `_selection.py` finds these classes without sorting.
`_top_k.py` finds `k` of them, for decisions and metrics, too. `_array_api.py` finds
them in arrays of other libraries than NumPy.
"""

from ._sparse_softmax import SparseSoftmax, sparse_softmax
from ._top_k import top_k

__all__ = ["SparseSoftmax", "sparse_softmax", "top_k"]
