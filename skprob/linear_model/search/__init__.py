"""Searches over C and a parameter of the mapping, by cross-validation.

Read `_path_search_cv.py` first: its `fit` has the steps. `_prepared.py` holds the
checked data, the grid of `_grid.py` and the folds of `_folds.py`. `_search.py` runs the
folds, `_path.py` fits the grid of one of them, each fit from its neighbours'
solutions, and `_scoring.py` scores the models by predictions that `_precomputed.py`
computes for several models together. `_search_results.py` chooses the pair with the
highest mean score, and `_label_sets.py` the thresholds of label sets, by the rows that
folds leave out. `_leave_one_out.py` is for ``cv="loo"``. To search over another
mapping, write a subclass such as that in `_entmax_classifier_cv.py`.
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
