"""The penalty of a fitted model, feature by feature."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._utils.fitted_params import fitted_params


class FittedPenalty(NamedTuple):
    """The penalty that the sum of all losses of a fitted model has.

    It is Σ_j [ridge_j / 2 ‖W_·j‖² + lasso_j r(W_·j)] with r the sum of absolute values,
    or the Euclidean norm.

    Attributes
    ----------
    ridge, lasso : ndarray of shape (n_features,)
        Infinite for features that are left out.
    by_feature : bool
        Whether r is the norm.
    """

    ridge: np.ndarray
    lasso: np.ndarray
    by_feature: bool

    @classmethod
    def of(cls, model):
        """The penalty of a fitted linear classifier."""
        strength = 0.0 if np.isinf(model.C_) else 1 / float(model.C_)
        select = fitted_params(model).get("select", "coefficients")
        factors = _factors(model)
        is_out = np.isinf(factors)
        l1_ratio = l1_ratio_of(model)
        total = strength * np.where(is_out, 0.0, factors)
        ridge, lasso = (
            np.where(is_out, np.inf, share * total)
            for share in (1 - l1_ratio, l1_ratio)
        )
        return cls(ridge, lasso, select == "features")

    @property
    def selects(self):
        """Whether it makes coefficients exactly zero."""
        return bool((self.lasso[np.isfinite(self.lasso)] > 0).any())

    def of_features(self, features):
        """The penalty of some features alone."""
        return self._replace(ridge=self.ridge[features], lasso=self.lasso[features])

    def slope(self, coef, gradient):
        """Smallest subgradient of loss and penalty, less the gradient of the loss.

        Parameters
        ----------
        coef, gradient : ndarray of shape (M, n_features)
        """
        slope = self.ridge * coef
        if not self.selects:
            return slope
        size = np.linalg.norm(coef, axis=0) if self.by_feature else np.abs(coef)
        is_zero = np.broadcast_to(size == 0, coef.shape)
        at_others = self.lasso * coef / np.where(size == 0, 1.0, size)
        norm = np.linalg.norm(gradient, axis=0) if self.by_feature else abs(gradient)
        shrunk = np.maximum(norm - self.lasso, 0) / np.where(norm == 0, 1.0, norm)
        return slope + np.where(is_zero, gradient * shrunk - gradient, at_others)

    def curvature(self, coef):
        """Second derivatives at coefficients (M, n_features): (n_features, M, M)."""
        total = self.ridge[:, None, None] * np.eye(len(coef))
        if not (self.selects and self.by_feature):
            return total
        size = np.linalg.norm(coef, axis=0)
        unit = (coef / size).T
        across = np.eye(len(coef)) - unit[:, :, None] * unit[:, None, :]
        return total + (self.lasso / size)[:, None, None] * across


def l1_ratio_of(model):
    """The l1_ratio of a fitted classifier: the parameter, or the choice of a search."""
    return getattr(model, "l1_ratio_", fitted_params(model).get("l1_ratio", 0.0))


def _factors(model):
    """Penalty factors of the features, of the parameter as it was given."""
    given = fitted_params(model).get("penalty_factors")
    n_features = model.n_features_in_
    if not isinstance(given, dict):
        return np.ones(n_features) if given is None else np.asarray(given, dtype=float)
    names = getattr(model, "feature_names_in_", ())
    return np.array([given.get(name, 1.0) for name in names], dtype=float)
