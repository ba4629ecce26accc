"""The mappings by name."""

from __future__ import annotations

from .._utils.names import did_you_mean
from ._base import Mapping, MappingLike
from ._entropy_invariant_softmax import EntropyInvariantSoftmax
from ._softmax import Softmax
from .entmax import Entmax, Sparsemax
from .functions import FunctionMapping
from .nested_softmax import NestedSoftmax
from .perturb_max import PerturbMax
from .sigmoid import Sigmoid
from .sparse_softmax import SparseSoftmax
from .taylor import TaylorSoftmax

#: Mappings by name. A new mapping is one line here.
MAPPINGS = {
    "softmax": Softmax,
    "sparsemax": Sparsemax,
    "entmax": Entmax,
    "taylor_softmax": TaylorSoftmax,
    "sparse_softmax": SparseSoftmax,
    "entropy_invariant_softmax": EntropyInvariantSoftmax,
    "perturb_max": PerturbMax,
    "nested_softmax": NestedSoftmax,
    "sigmoid": Sigmoid,
}


def get_mapping(mapping: MappingLike) -> Mapping:
    """The mapping of a name or of a function; a mapping itself.

    Parameters
    ----------
    mapping : str, Mapping or callable
        A registered name, a mapping, or a function from scores of shape (n_samples,
        n_classes) to probabilities.

    Returns
    -------
    mapping : Mapping

    Raises
    ------
    ValueError
        If the name is not registered or `mapping` is something else.

    See Also
    --------
    skprob.losses.get_loss : The same for losses.

    Examples
    --------
    >>> from skprob.mappings import get_mapping
    >>> get_mapping("entmax")
    Entmax()
    """
    if isinstance(mapping, Mapping):
        return mapping
    if isinstance(mapping, str) and mapping in MAPPINGS:
        return MAPPINGS[mapping]()
    if callable(mapping) and not isinstance(mapping, type):
        return FunctionMapping(mapping)
    advice = did_you_mean(mapping, MAPPINGS)
    if isinstance(mapping, type):
        advice = f" Give an instance, {mapping.__name__}(...)."
    raise ValueError(
        "mapping must be a Mapping, a function or one of the names "
        f"{sorted(MAPPINGS)}; got {mapping!r}.{advice}"
    )
