"""Where the rows of X live and how one multiplies with them.

A :class:`DesignMatrix` is the rows of one block, :class:`Blocks` a collection of
whatever belongs to a block, with two verbs: ``map`` and ``sum``. Nothing outside this
package knows how X is stored, or where the blocks are.
"""

from ._array_api import ArrayDesign
from ._blocks import Blocks, LocalBlocks
from ._csr import CSRDesign
from ._dask import Cluster, DaskBlocks, Partition, wait_for
from ._dense import DenseDesign
from ._design import DesignMatrix, as_design
from ._rows import row_slices
from ._standardized import Standardization, StandardizedDesign, standardized

__all__ = [
    "ArrayDesign",
    "Blocks",
    "CSRDesign",
    "Cluster",
    "DaskBlocks",
    "DenseDesign",
    "DesignMatrix",
    "LocalBlocks",
    "Partition",
    "Standardization",
    "StandardizedDesign",
    "as_design",
    "row_slices",
    "standardized",
    "wait_for",
]
