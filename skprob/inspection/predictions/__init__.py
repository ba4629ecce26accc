"""Plots of predictions, of any classifier.

`_prediction.py` shows the probabilities of one row or of a few, with `_bars.py`, which
draws one row. `_support_size.py` counts the possible classes of many rows. `_set.py`
shows how often sets contain the truth, in the groups of rows that `_groups.py` makes.
"""

from ._groups import Group
from ._prediction import PredictionDisplay
from ._set import SetDisplay
from ._support_size import SupportSizeDisplay

__all__ = ["Group", "PredictionDisplay", "SetDisplay", "SupportSizeDisplay"]
