"""The common part of the linear classifiers.

Read `_base.py` first: it has `fit`, from a user's arguments to fitted attributes. It
makes a `FitSpec` of the parameters, which `_parameters.py` lists, and names the mixins
for the rest. `_prediction_mixin.py` has the methods that predict.
"""

from ._base import (
    BaseLinearClassifier,
    fitted_attributes,
    replace_fitted,
    unchanged_on_error,
)
from ._parameters import constraints_but

__all__ = [
    "BaseLinearClassifier",
    "constraints_but",
    "fitted_attributes",
    "replace_fitted",
    "unchanged_on_error",
]
