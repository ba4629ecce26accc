"""The default loss of a mapping."""

from ._fenchel_young import FenchelYoungLoss
from ._gradient_field import GradientFieldLoss
from ._log import LogLoss


def matching_loss(mapping):
    """The default loss of a mapping in a fit.

    Parameters
    ----------
    mapping : Mapping

    Returns
    -------
    loss : Loss
        The Fenchel-Young loss if the mapping has a potential; the gradient field for a
        mapping that is only a function; otherwise the log loss.
    """
    if mapping.traits.has_potential:
        return FenchelYoungLoss(mapping)
    if mapping.traits.is_only_a_function:
        return GradientFieldLoss(mapping)
    return LogLoss(mapping)
