"""Training objectives: sums over blocks of rows, for a solver to minimise."""

from ._block import Block, raw_predictions, scores_of, split_rows
from ._cosine import CosineObjective
from ._linear import LinearObjective
from ._linearization import Linearization
from ._mean_loss import Description
from ._penalty import Ridge

__all__ = [
    "Block",
    "CosineObjective",
    "Description",
    "LinearObjective",
    "Linearization",
    "Ridge",
    "raw_predictions",
    "scores_of",
    "split_rows",
]
