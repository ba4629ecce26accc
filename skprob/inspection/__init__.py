"""Tables and plots of mappings, of predictions and of fits.

Displays of mappings need no data. Displays of predictions show the probabilities of a
fitted classifier for one row or many. :class:`SetDisplay` shows how often predicted
sets contain the truth. :class:`ConvergenceDisplay` shows how a fit converged,
and :class:`PathDisplay` the coefficients along a path over C.

Each display has a file: a class method computes its numbers, and ``plot`` draws them.
Read `_profile.py` first, the shortest. `_input.py` checks arguments, `_matplotlib.py`
imports the library when it is used, and `_curves.py` is the base of displays with a
curve for each mapping. `coefficients/` has the tables of a fitted model.
"""

from ._convergence import ConvergenceDisplay
from ._entropy import EntropyDisplay
from ._mapping_display import MappingDisplay
from ._path import PathDisplay
from ._prediction import PredictionDisplay
from ._profile import ProfileDisplay
from ._properties import PROPERTIES, Counterexample, find_counterexamples
from ._set import Group, SetDisplay
from ._support import SupportDisplay
from ._support_size import SupportSizeDisplay
from ._table import MappingSummary, mapping_table
from .coefficients import (
    CoefficientSummary,
    MarginalEffect,
    coefficient_table,
    marginal_effects,
)

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
