"""Coefficients and marginal effects of a fitted model, with standard errors.

`_fitted_rows.py` has the coefficients and the scores of a model's rows. From these and
the target, `_covariance.py` computes the covariance of the coefficients: the inverse
Hessian or the sandwich, of rows or of groups of rows. `_bootstrap.py` refits the model
to resampled rows instead. `_coefficient_table.py` and `_marginal_effects.py` are the
tables. Read `_coefficient_table.py` first.
"""

from ._coefficient_table import CoefficientSummary, coefficient_table
from ._marginal_effects import MarginalEffect, marginal_effects

__all__ = [
    "CoefficientSummary",
    "MarginalEffect",
    "coefficient_table",
    "marginal_effects",
]
