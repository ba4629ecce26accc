"""Searches over C and a parameter of the mapping, by cross-validation.

Read `_path_search_cv.py` first. `_grid.py` holds the values, `_path.py` fits them one
after another from each other's solutions, `_scoring.py` scores the models of a fold by
predictions that `_precomputed.py` computes for several models together,
`_label_sets.py` chooses thresholds of label sets by the rows that folds leave out, and
`_search_results.py` chooses the pair with the highest mean score.
"""

from typing import TYPE_CHECKING

from ..._utils.lazy import lazy_attribute

if TYPE_CHECKING:
    from ._entmax_classifier_cv import EntmaxClassifierCV as EntmaxClassifierCV
    from ._perturb_max_classifier_cv import (
        PerturbMaxClassifierCV as PerturbMaxClassifierCV,
    )

__all__ = ["EntmaxClassifierCV", "PerturbMaxClassifierCV"]

_MODULES = {
    "EntmaxClassifierCV": "_entmax_classifier_cv",
    "PerturbMaxClassifierCV": "_perturb_max_classifier_cv",
}


def __getattr__(name):
    return lazy_attribute(__name__, _MODULES, name)
