"""Tables and plots of mappings, of predictions and of fits.

Displays of mappings need no data. Displays of predictions show the probabilities of a
fitted classifier for one row or many. :class:`SetDisplay` shows how often predicted
sets contain the truth. :class:`ConvergenceDisplay` shows how a fit converged,
and :class:`PathDisplay` the coefficients along a path over C.

Each display has a file: a class method computes its numbers, and ``plot`` draws them.
Read `mappings/_profile.py` first, the shortest. `mappings/` needs no data, and
`predictions/` takes those of any classifier. `coefficients/` has the tables of a fitted
model. `_input.py` checks arguments, and `_matplotlib.py` imports the library when it is
used.
"""

from ._convergence import ConvergenceDisplay
from ._path import PathDisplay
from .coefficients import (
    CoefficientSummary,
    MarginalEffect,
    coefficient_table,
    marginal_effects,
)
from .mappings import (
    PROPERTIES,
    Counterexample,
    EntropyDisplay,
    MappingDisplay,
    MappingSummary,
    ProfileDisplay,
    SupportDisplay,
    find_counterexamples,
    mapping_table,
)
from .predictions import Group, PredictionDisplay, SetDisplay, SupportSizeDisplay

__all__ = [
    "PROPERTIES",
    "CoefficientSummary",
    "ConvergenceDisplay",
    "Counterexample",
    "EntropyDisplay",
    "Group",
    "MappingDisplay",
    "MappingSummary",
    "MarginalEffect",
    "PathDisplay",
    "PredictionDisplay",
    "ProfileDisplay",
    "SetDisplay",
    "SupportDisplay",
    "SupportSizeDisplay",
    "coefficient_table",
    "find_counterexamples",
    "mapping_table",
    "marginal_effects",
]
