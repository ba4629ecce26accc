"""The loss that goes with a mapping."""

from ._fenchel_young import FenchelYoungLoss
from ._gradient_field import GradientFieldLoss
from ._log import LogLoss


def matching_loss(mapping):
    """The loss that a mapping is trained with unless another is asked for.

    Parameters
    ----------
    mapping : Mapping

    Returns
    -------
    loss : Loss
        The Fenchel-Young loss where the mapping has a potential; else the gradient
        field of a mapping that is only a function; else the log loss.
    """
    if mapping.traits.has_potential:
        return FenchelYoungLoss(mapping)
    if mapping.traits.is_only_a_function:
        return GradientFieldLoss(mapping)
    return LogLoss(mapping)
