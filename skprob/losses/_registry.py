"""The losses by name."""

from __future__ import annotations

from numbers import Number
from pickle import PicklingError

import joblib

from .._utils.names import did_you_mean
from ..mappings import Mapping, MappingLike, get_mapping
from ._accuracy import AccuracyLoss
from ._base import Loss, LossLike
from ._fenchel_young import FenchelYoungLoss, matching_loss
from ._gradient_field import GradientFieldLoss
from ._infimum import InfimumLoss
from ._log import LogLoss
from ._sparse_softmax import SparseSoftmaxLoss

#: Losses by name. A new loss is one line here.
LOSSES = {
    "fenchel_young": FenchelYoungLoss,
    "log": LogLoss,
    "cross_entropy": LogLoss,
    "sparse_softmax": SparseSoftmaxLoss,
    "accuracy": AccuracyLoss,
    "gradient_field": GradientFieldLoss,
    "infimum": InfimumLoss,
}


def get_loss(loss: LossLike, mapping: MappingLike) -> Loss:
    """The checked loss of a name, through a mapping.

    Parameters
    ----------
    loss : str or Loss
        A registered name, or a loss with ``mapping=None`` or with a mapping of the same
        type and parameters. "auto" is the matching loss of the mapping: the
        Fenchel-Young loss if the mapping has a potential, the gradient-field loss for a
        plain function, otherwise the log loss.
    mapping : Mapping or str
        A mapping, or its registered name.

    Returns
    -------
    loss : Loss
        With `mapping` as its mapping; a copy if a loss was given.

    Raises
    ------
    ValueError
        If the name is not registered, or the loss has another mapping or cannot be used
        with this one.

    See Also
    --------
    skprob.mappings.get_mapping : The same for mappings.

    Examples
    --------
    >>> from skprob.losses import get_loss
    >>> get_loss("auto", "sparsemax")
    FenchelYoungLoss(mapping=Sparsemax())
    """
    mapping = get_mapping(mapping)
    if isinstance(loss, Loss):
        if loss._parameter_constraints:
            loss._validate_params()
        if loss.mapping is not None and not _same(get_mapping(loss.mapping), mapping):
            raise ValueError(
                f"loss has the mapping {get_mapping(loss.mapping)!r}, but the mapping "
                f"is {mapping!r}. Leave the loss's mapping as None."
            )
        loss = loss.with_mapping(mapping)
    elif loss == "auto":
        mapping._validate_params()
        return matching_loss(mapping)
    elif isinstance(loss, str) and loss in LOSSES:
        loss = LOSSES[loss](mapping)
    else:
        raise ValueError(
            f"loss must be 'auto', a Loss or one of the names {sorted(LOSSES)}; "
            f"got {loss!r}.{did_you_mean(loss, ['auto', *LOSSES])}"
        )
    loss.check()
    return loss


def _same(one, other):
    """Whether both are mappings of one type with the same parameters, or equal."""
    if isinstance(one, Mapping):
        if type(one) is not type(other):
            return False
        mine, theirs = one.get_params(deep=False), other.get_params(deep=False)
        return all(_same(mine[name], theirs[name]) for name in mine)
    if isinstance(one, Number) and isinstance(other, Number):
        return one == other
    try:
        # Compare the content: a distribution of scipy equals only itself.
        return one is other or joblib.hash(one) == joblib.hash(other)
    except (AttributeError, PicklingError, TypeError):
        return False  # For example a function without a name.
