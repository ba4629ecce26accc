"""Fits to Dask collections: rows stay on the workers, sums come back.

Read `_rows.py` first, which does for partitions what `fit/_rows.py` does for arrays.
`_collections.py` lines X, y and weights up, `_partition.py` holds the functions that
run on a worker, `_prediction.py` predicts a partition at a time.
"""

from ._collections import refuse_for_dask
from ._prediction import lazily, score
from ._rows import dask_rows

__all__ = ["dask_rows", "lazily", "refuse_for_dask", "score"]
