"""One fit: from checked rows and a `FitSpec` to fitted attributes.

Read `_run.py` first, from top to bottom: rows, spec, objective, minimise, attributes.
`_spec.py` holds what a fit does, as plain data: an estimator makes it, and nothing here
sees the estimator. `_other_objectives.py` makes the objectives of fits with another
penalty than a ridge. `_in_turn.py` minimises several of them, and runs fits that
callbacks follow. `_chosen_C.py` chooses C, and `_start.py` the first parameters.
`_learnt_noise.py` searches the noise of a mapping; `_folds.py` has the thresholds of
label sets, and fits the folds from which they are chosen. `_wide_rows.py` decides when
the features are replaced by coordinates. `_outliers.py` examines a fit that huge values
may have ended too early. `_advice.py` warns of a fit that did not converge.
"""

from ..._utils.lazy import lazy_attribute
from ._automatic_C import C_of_loss
from ._folds import SeparateFolds, labelled_rows, rule_of_label_sets
from ._penalty_factors import checked_factors
from ._run import (
    attributes_of,
    fit_to_rows,
    model_of,
    objectives_of,
    penalty_strength,
)
from ._spec import FitSpec
from ._start import LastFit

__all__ = [
    "C_of_loss",
    "FitSpec",
    "LastFit",
    "NoiseSearch",
    "ScaleSearch",
    "SeparateFolds",
    "attributes_of",
    "check_leave_one_out",
    "checked_factors",
    "fit_to_rows",
    "folds_to_leave_out",
    "labelled_rows",
    "model_of",
    "objectives_of",
    "penalty_strength",
    "rule_of_label_sets",
    "warn_not_converged",
    "with_chosen_C",
]

# Imported when used: most fits need none of them.
_MODULES = {
    "NoiseSearch": "_learnt_noise",
    "ScaleSearch": "_learnt_noise",
    "check_leave_one_out": "_chosen_C",
    "folds_to_leave_out": "_chosen_C",
    "warn_not_converged": "_advice",
    "with_chosen_C": "_chosen_C",
}


def __getattr__(name):
    return lazy_attribute(__name__, _MODULES, name)
