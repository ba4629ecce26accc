"""Tests and confidence intervals of estimates with a normal distribution."""

import numpy as np
from scipy import stats

from ..._utils.checks import is_number
from ..._utils.names import did_you_mean

_CHOICES = {
    "method": ("asymptotic", "bootstrap"),
    "covariance": ("auto", "hessian", "sandwich"),
}


def check_choices(method, covariance, level):
    """Raise unless the arguments of a table are allowed."""
    for name, value in (("method", method), ("covariance", covariance)):
        if not isinstance(value, str) or value not in _CHOICES[name]:
            raise ValueError(
                f"{name} must be one of {_CHOICES[name]}; got {value!r}."
                f"{did_you_mean(value, _CHOICES[name])}"
            )
    if method == "bootstrap" and covariance != "auto":
        raise ValueError(
            "covariance must be 'auto' with method='bootstrap', which uses none; got "
            f"{covariance!r}."
        )
    if not (is_number(level) and 0 < level < 1):
        raise ValueError(f"level must be between 0 and 1; got {level!r}.")


def normal_test(estimate, error, level):
    """z, two-sided p-value and ends of the confidence interval, as arrays."""
    with np.errstate(divide="ignore", invalid="ignore"):
        z = estimate / error
    half = stats.norm.ppf((1 + level) / 2) * error
    return z, 2 * stats.norm.sf(np.abs(z)), estimate - half, estimate + half
