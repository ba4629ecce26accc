"""The mappings in fifty digits: the definitions that the tests compare with."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.mappings.definitions import probabilities

__all__ = ["probabilities"]
