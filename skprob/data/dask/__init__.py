"""Blocks on the workers of a Dask cluster.

Read `_dask_blocks.py` first. `_workers.py` ends a fit whose workers cannot finish it.
"""

from ._dask_blocks import Cluster, DaskBlocks, Partition
from ._workers import wait_for

__all__ = ["Cluster", "DaskBlocks", "Partition", "wait_for"]
