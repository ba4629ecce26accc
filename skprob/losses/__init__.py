"""Losses between scores and a target, through a mapping."""

from ._base import Loss, LossLinearization
from ._fenchel_young import FenchelYoungLoss
from ._log import LogLoss
from ._registry import LOSSES, get_loss
from ._sparse_softmax import SparseSoftmaxLoss
from ._target import DenseTarget, SparseTarget

__all__ = [
    "LOSSES",
    "DenseTarget",
    "FenchelYoungLoss",
    "LogLoss",
    "Loss",
    "LossLinearization",
    "SparseSoftmaxLoss",
    "SparseTarget",
    "get_loss",
]
