"""Mappings from scores to probabilities."""

from ._base import Linearization, Mapping
from ._entmax import Entmax
from ._registry import MAPPINGS, get_mapping
from ._softmax import Softmax
from ._sparsemax import Sparsemax

__all__ = [
    "MAPPINGS",
    "Entmax",
    "Linearization",
    "Mapping",
    "Softmax",
    "Sparsemax",
    "get_mapping",
]
