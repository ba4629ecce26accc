"""Losses between scores and a target, through a mapping.

Read `_base.py` first: the class :class:`Loss` declares the methods of a loss, above all
:meth:`Loss.linearize`, the values and derivatives at some scores. `_fenchel_young.py`
has the loss of most fits, and chooses the default loss of a mapping. The others are
`_log.py` for any mapping, `_gradient_field.py` for a plain function, `_infimum.py` for
candidates, `_accuracy.py`, `_sparse_softmax.py`, and `_margin.py`, which adds a margin
to another loss. `_difference.py` has losses of two classes as functions of the
difference of their scores. `_user_methods.py` has the methods that check their
arguments, and `_mapping_results.py` checks what the kernels of a mapping return. A new
loss is a class, and a line in `_registry.py`.
"""

from ._accuracy import AccuracyLoss
from ._base import Loss, LossLinearization
from ._base import LossLike as LossLike
from ._difference import evaluate_difference as evaluate_difference
from ._difference import in_difference as in_difference
from ._difference import linearize_difference as linearize_difference
from ._fenchel_young import FenchelYoungLoss
from ._fenchel_young import matching_loss as matching_loss
from ._gradient_field import GradientFieldLoss
from ._infimum import InfimumLoss
from ._infimum import loss_of_candidates as loss_of_candidates
from ._log import LogLoss
from ._margin import MarginLoss
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
