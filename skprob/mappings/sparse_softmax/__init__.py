"""Sparse softmax: softmax over the classes with the largest scores.

Read `_sparse_softmax.py` first. `_selection.py` selects these classes without sorting.
`_top_k.py` selects `k` of them, also for decisions and metrics. `_array_api.py` selects
them in arrays of other libraries than NumPy.
"""

from ._sparse_softmax import SparseSoftmax, sparse_softmax
from ._top_k import top_k

__all__ = ["SparseSoftmax", "sparse_softmax", "top_k"]
