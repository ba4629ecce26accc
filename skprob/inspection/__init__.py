"""What a mapping does: as a table, as a drawing, and property by property."""

from ._entropy import EntropyDisplay
from ._mapping_display import MappingDisplay
from ._profile import ProfileDisplay
from ._properties import PROPERTIES, Counterexample, find_counterexamples
from ._support import SupportDisplay
from ._table import MappingSummary, mapping_table

__all__ = [
    "PROPERTIES",
    "Counterexample",
    "EntropyDisplay",
    "MappingDisplay",
    "MappingSummary",
    "ProfileDisplay",
    "SupportDisplay",
    "find_counterexamples",
    "mapping_table",
]
