"""The common part of the linear classifiers.

Read `_base.py` first: it has `fit`, from a user's arguments to fitted attributes, and
names the mixins for the rest. `_parameters.py` holds the parameters of all classifiers,
`_training_rows.py` checks the arguments of `fit`, and `_prediction_mixin.py` has the
methods that predict.
"""

from ._base import (
    BaseLinearClassifier,
    fitted_attributes,
    replace_fitted,
    unchanged_on_error,
)
from ._parameters import constraints_but
from ._training_rows import checked_data, training_rows

__all__ = [
    "BaseLinearClassifier",
    "checked_data",
    "constraints_but",
    "fitted_attributes",
    "replace_fitted",
    "training_rows",
    "unchanged_on_error",
]
