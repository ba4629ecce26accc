"""Mappings from scores to probabilities."""

from ._base import Linearization, Mapping
from ._entmax import Entmax, entmax
from ._function import FunctionMapping
from ._registry import MAPPINGS, get_mapping
from ._softmax import Softmax, softmax
from ._sparsemax import Sparsemax, sparsemax
from ._temperature import Temperature

__all__ = [
    "MAPPINGS",
    "Entmax",
    "FunctionMapping",
    "Linearization",
    "Mapping",
    "Softmax",
    "Sparsemax",
    "Temperature",
    "entmax",
    "get_mapping",
    "softmax",
    "sparsemax",
]
