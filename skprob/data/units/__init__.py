"""Columns in standard units, by means and scales of the features.

Read `_standardization.py` first: it has the formulas. Little data are copied to one
array, the ``LittleDesign`` of `_little_design.py`. The rows of other data are not
copied: `_standardized_design.py` computes products in the units from products with the
user's rows, and `_standardized_array.py` does so in other array libraries.
`_restricted.py` makes designs of some of the columns.
"""

from ._little_design import LittleDesign
from ._restricted import restricted
from ._standardization import (
    Standardization,
    least_spread,
    rounding_error,
    standardized,
)
from ._standardized_design import StandardizedDesign

__all__ = [
    "LittleDesign",
    "Standardization",
    "StandardizedDesign",
    "least_spread",
    "restricted",
    "rounding_error",
    "standardized",
]
