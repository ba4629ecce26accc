"""The penalty of a fit: its shape, and its strength for a number C."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...data import least_spread
from ...objective import LinearObjective
from ._penalty_factors import checked_factors


@dataclass(frozen=True)
class PenaltyChoice:
    """A penalty but for its strength; see the parameters of a classifier.

    Attributes
    ----------
    l1_ratio : float
    by_feature : bool
        Whether coefficients of a feature are zero for all classes together.
    factors : array-like of shape (n_features,), dict or None
        As given; an array or None after :meth:`for_features`.
    """

    l1_ratio: float = 0.0
    by_feature: bool = False
    factors: Any = None

    def for_features(self, n_features, names=None):
        """The penalty with checked factors: see :func:`checked_factors`."""
        factors = checked_factors(self.factors, n_features, names)
        return replace(self, factors=None if (factors == 1).all() else factors)

    def check_without_penalty(self):
        """Raise where a penalty is chosen for scores that have none."""
        if self.l1_ratio > 0 or self.factors is not None:
            raise ValueError(
                "similarity='cosine' has no penalty: l1_ratio must be 0 and "
                f"penalty_factors None; got l1_ratio={self.l1_ratio:g} and "
                f"penalty_factors={self.factors!r}."
            )

    def objective(self, blocks, loss, strength, fit_intercept):
        """The objective of blocks under the penalty of a strength.

        Features with an infinite factor are left out.
        """
        factors, features = self.factors, None
        if factors is not None and np.isinf(factors).any():
            features = np.flatnonzero(np.isfinite(factors))
            factors = np.where(np.isfinite(factors), factors, 1.0)
        is_free = strength == 0 or not (factors is None or factors[features].any())
        if self.l1_ratio > 0 and not is_free:
            # Imported when used: the import takes milliseconds.
            from ...objective import CompositeObjective, PenaltyShape

            shape = PenaltyShape(float(self.l1_ratio), self.by_feature, factors)
            objective = CompositeObjective(
                blocks,
                loss,
                strength=strength,
                shape=shape,
                fit_intercept=fit_intercept,
            )
        else:
            l2 = (1 - self.l1_ratio) * strength
            objective = LinearObjective(
                blocks, loss, l2=l2, fit_intercept=fit_intercept, factors=factors
            )
        if not objective.has_penalty:
            self._check_spread(objective, strength)
        return objective if features is None else objective.restricted(features)

    def _check_spread(self, objective, strength):
        """Raise if features without a penalty have too small a spread."""
        tiny = objective.tiny_features()
        if self.factors is not None:
            has_coef = np.isfinite(self.factors[tiny])
            is_free = has_coef & ((self.factors[tiny] == 0) | (strength == 0))
        else:
            is_free = np.full(len(tiny), strength == 0)
        if is_free.any():
            dtype = objective.description.dtype
            large_enough = "are constant or have a standard deviation"
            if not objective.description.has_intercept:
                large_enough = "are zero or have a root mean square"
            raise ValueError(
                f"X must have features that {large_enough} above "
                f"{least_spread(dtype):.1g} in {dtype} where there is no penalty; "
                f"column {tiny[is_free][0]} has a smaller one. Scale the features."
            )


def penalty_strength(C, total):
    """The strength 1 / (C Σs) of the penalty, for weights with this sum."""
    weight = float(C) * float(total)
    l2 = 1 / weight if weight > 0 else np.inf
    if l2 == np.inf:
        raise ValueError(
            f"C must be larger: with C={C} and weights of the rows that sum to "
            f"{total:.6g}, the penalty 1 / (C * sum) overflows."
        )
    return l2
