"""Tables and plots of mappings, which need no data.

Read `_profile.py` first, the shortest display. `_curves.py` is the base of displays
with a curve for each mapping, and `_mapping_display.py` has several in one figure.
`_table.py` compares mappings on one row of scores. `_counterexamples.py` searches for
scores at which a mapping does not have a property of `_properties.py`.
"""

from ._counterexamples import find_counterexamples
from ._entropy import EntropyDisplay
from ._mapping_display import MappingDisplay
from ._profile import ProfileDisplay
from ._properties import PROPERTIES, Counterexample
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
