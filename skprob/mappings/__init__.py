"""Mappings from scores to probabilities, row by row.

Read `_base.py` first: the class :class:`Mapping` declares the methods of a mapping.
Losses use its kernels, which do not check their arguments. Users call the methods of
`_user_methods.py`, which check them. `_softmax.py` is the shortest mapping;
`_linearization.py` and `_jacobian.py` hold the derivatives, `_traits.py` the properties
that losses and fits read. `kernel_checks/` checks the kernels of users' mappings.

A mapping of several files has a folder: `entmax/`, `sigmoid/`, `sparse_softmax/`,
`nested_softmax/`, `taylor/`, `perturb_max/`; `functions/` has those made from a user's
function. A new mapping is a class, and a line in `_registry.py`.
"""

from typing import TYPE_CHECKING

from .._utils.lazy import lazy_attribute
from ._base import Mapping
from ._base import MappingLike as MappingLike
from ._entropy_invariant_softmax import (
    EntropyInvariantSoftmax,
    entropy_invariant_softmax,
)
from ._linearization import Linearization
from ._registry import MAPPINGS, get_mapping
from ._row_matrices import DiagonalMatrices as DiagonalMatrices
from ._row_matrices import RowMatrices as RowMatrices
from ._row_matrices import matrices_by_products as matrices_by_products
from ._sampling import gumbel_max, gumbel_softmax
from ._softmax import Softmax, softmax
from ._temperature import Temperature
from ._traits import Traits
from .entmax import Entmax, Sparsemax, entmax, sparsemax
from .functions import FunctionMapping, NormalizedMapping, ThresholdMapping
from .functions import gauss_lobatto as gauss_lobatto
from .kernel_checks import check_derivatives as check_derivatives
from .kernel_checks import check_probabilities as check_probabilities
from .kernel_checks import check_shift_invariance as check_shift_invariance
from .kernel_checks import is_of_user as is_of_user
from .nested_softmax import NestedSoftmax, nested_softmax
from .perturb_max import PerturbMax, perturb_max
from .sigmoid import Sigmoid, sigmoid
from .sparse_softmax import SparseSoftmax, sparse_softmax
from .sparse_softmax import top_k as top_k
from .taylor import TaylorSoftmax, taylor_softmax

if TYPE_CHECKING:
    from .perturb_max import GeneralizedNormal, SkewNormal, StudentT
    from .perturb_max import check_shape as check_shape

__all__ = [
    "MAPPINGS",
    "Entmax",
    "EntropyInvariantSoftmax",
    "FunctionMapping",
    "GeneralizedNormal",
    "Linearization",
    "Mapping",
    "NestedSoftmax",
    "NormalizedMapping",
    "PerturbMax",
    "Sigmoid",
    "SkewNormal",
    "Softmax",
    "SparseSoftmax",
    "Sparsemax",
    "StudentT",
    "TaylorSoftmax",
    "Temperature",
    "ThresholdMapping",
    "Traits",
    "entmax",
    "entropy_invariant_softmax",
    "get_mapping",
    "gumbel_max",
    "gumbel_softmax",
    "nested_softmax",
    "perturb_max",
    "sigmoid",
    "softmax",
    "sparse_softmax",
    "sparsemax",
    "taylor_softmax",
]

# Imported when used: other mappings need no noise.
_MODULES = dict.fromkeys(
    ["GeneralizedNormal", "SkewNormal", "StudentT", "check_shape"], "perturb_max"
)


def __getattr__(name):
    return lazy_attribute(__name__, _MODULES, name)
