"""Fits to Dask collections: rows stay on the workers, sums come back.

Read `_rows.py` first: its class has the methods of `RowsInMemory` in
`_training_rows.py` of the parent folder. `_collections.py` divides X, y and weights
into the same partitions, `_partition.py` holds the functions that run on a worker, and
`_prediction.py` predicts one partition at a time.
"""

from ._collections import refuse_for_dask
from ._prediction import lazily, score
from ._rows import dask_rows

__all__ = ["dask_rows", "lazily", "refuse_for_dask", "score"]
