"""Where the rows of X are stored, and products with them.

A :class:`DesignMatrix` holds the rows of one block, :class:`Blocks` is a collection of
blocks or of results for each block, with two methods: ``map`` and ``sum``. Nothing
outside this package depends on how X is stored, or where the blocks are.

Read `_design.py` and `_blocks.py` first. `units/` centres and scales the columns, and
copies little data to a single array. `_rounded.py` multiplies rows of float64 in single
precision. Several blocks are computed by threads,
`_local_blocks.py`, or by the workers of a Dask cluster, `dask/`. `_row_space.py`
replaces many features by as many coordinates as there are rows; it multiplies with the
rows of `_centred_rows.py`.
"""

from ._array_api import ArrayDesign
from ._blocks import Blocks, SingleBlock, as_design, row_slices
from ._csr import CSRDesign
from ._dense import DenseDesign
from ._design import DesignMatrix
from ._local_blocks import LocalBlocks, local_blocks
from ._memory import keep_freed_memory
from ._row_space import RowSpace
from .dask import Cluster, DaskBlocks, Partition, wait_for
from .units import (
    LittleDesign,
    Standardization,
    StandardizedDesign,
    least_spread,
    restricted,
    rounding_error,
    standardized,
)

__all__ = [
    "ArrayDesign",
    "Blocks",
    "CSRDesign",
    "Cluster",
    "DaskBlocks",
    "DenseDesign",
    "DesignMatrix",
    "LittleDesign",
    "LocalBlocks",
    "Partition",
    "RowSpace",
    "SingleBlock",
    "Standardization",
    "StandardizedDesign",
    "as_design",
    "keep_freed_memory",
    "least_spread",
    "local_blocks",
    "restricted",
    "rounding_error",
    "row_slices",
    "standardized",
    "wait_for",
]
