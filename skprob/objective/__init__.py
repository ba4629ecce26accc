"""Training objectives: sums over blocks of rows, for a solver to minimise."""

from ._base import Linearization
from ._block_linearization import BlockLinearization
from ._blocks import (
    Block,
    block_moments,
    block_value_and_gradient,
    model_outputs,
    row_slices,
    scores_of,
    split_rows,
    trial_scores,
)
from ._cosine import CosineObjective
from ._linear import LinearObjective
from ._path_objective import PathObjective
from ._penalty_batch import PenaltyBatch

__all__ = [
    "Block",
    "BlockLinearization",
    "CosineObjective",
    "LinearObjective",
    "Linearization",
    "PathObjective",
    "PenaltyBatch",
    "block_moments",
    "block_value_and_gradient",
    "model_outputs",
    "row_slices",
    "scores_of",
    "split_rows",
    "trial_scores",
]
