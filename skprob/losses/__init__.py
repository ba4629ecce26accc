"""Losses between scores and a target, through a mapping."""

from ._accuracy import AccuracyLoss
from ._base import Loss, LossLinearization
from ._fenchel_young import FenchelYoungLoss
from ._gradient_field import GradientFieldLoss
from ._log import LogLoss
from ._margin import MarginLoss
from ._registry import LOSSES, get_loss
from ._smoothed_target import SmoothedTarget
from ._sparse_softmax import SparseSoftmaxLoss
from ._target import DenseTarget, SparseTarget

__all__ = [
    "LOSSES",
    "AccuracyLoss",
    "DenseTarget",
    "FenchelYoungLoss",
    "GradientFieldLoss",
    "LogLoss",
    "Loss",
    "LossLinearization",
    "MarginLoss",
    "SmoothedTarget",
    "SparseSoftmaxLoss",
    "SparseTarget",
    "get_loss",
]
