"""Losses between scores and a target, through a mapping."""

from ._accuracy import AccuracyLoss
from ._base import Loss, LossLinearization
from ._base import LossLike as LossLike
from ._base import in_difference as in_difference
from ._fenchel_young import FenchelYoungLoss
from ._gradient_field import GradientFieldLoss
from ._infimum import InfimumLoss
from ._infimum import loss_of_candidates as loss_of_candidates
from ._log import LogLoss
from ._margin import MarginLoss
from ._matching import matching_loss as matching_loss
from ._registry import LOSSES, get_loss
from ._sparse_softmax import SparseSoftmaxLoss

__all__ = [
    "LOSSES",
    "AccuracyLoss",
    "FenchelYoungLoss",
    "GradientFieldLoss",
    "InfimumLoss",
    "LogLoss",
    "Loss",
    "LossLinearization",
    "MarginLoss",
    "SparseSoftmaxLoss",
    "get_loss",
]
