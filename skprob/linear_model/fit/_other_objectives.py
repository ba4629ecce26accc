"""Objectives of fits with another penalty than a ridge, of cosines and of wide rows."""

import numpy as np

from ...data import Standardization, least_spread
from ...objective import (
    CompositeObjective,
    CosineObjective,
    LinearObjective,
    PenaltyShape,
)
from ._wide_rows import wide_objective


def other_objective(spec, rows, loss, strength):
    """The objective of wide rows, of cosines, or of scores with any penalty.

    Features with an infinite penalty factor are left out.
    """
    if rows.wide_X is not None:
        objective = wide_objective(spec, rows, loss, strength)
        if objective is not None:
            return objective
    tuning = spec.tuning
    if spec.l1_ratio > 0:
        tuning = tuning._replace(block_bytes=tuning.block_bytes_of_l1)
    blocks = rows.blocks(spec.loss.mapping.traits.polytope, spec.unit_rows, tuning)
    if spec.unit_rows is not None:
        return CosineObjective(blocks, loss)
    factors, features = spec.penalty_factors, slice(None)
    leaves_out = factors is not None and np.isinf(factors).any()
    if leaves_out:
        features = np.flatnonzero(np.isfinite(factors))
        factors = np.where(np.isfinite(factors), factors, 1.0)
    has_penalty = strength > 0 and (factors is None or factors[features].any())
    if spec.l1_ratio > 0 and has_penalty:
        shape = PenaltyShape(spec.l1_ratio, spec.select == "features", factors)
        objective = CompositeObjective(
            blocks,
            loss,
            strength=strength,
            shape=shape,
            fit_intercept=spec.fit_intercept,
            tuning=spec.tuning,
        )
    else:
        objective = LinearObjective(
            blocks,
            loss,
            l2=(1 - spec.l1_ratio) * strength,
            fit_intercept=spec.fit_intercept,
            factors=factors,
            tuning=spec.tuning,
        )
    if not objective.has_penalty:
        _check_spread(objective, spec.penalty_factors, strength)
    return objective.restricted(features) if leaves_out else objective


def _check_spread(objective, factors, strength):
    """Raise if features without a penalty have too small a spread."""
    dtype, has_intercept = objective.description.dtype, objective.units.fit_intercept
    tiny = Standardization.tiny(*objective.moments, has_intercept, dtype)
    if factors is not None:
        has_coef = np.isfinite(factors[tiny])
        is_free = has_coef & ((factors[tiny] == 0) | (strength == 0))
    else:
        is_free = np.full(len(tiny), strength == 0)
    if is_free.any():
        large_enough = "are constant or have a standard deviation"
        if not has_intercept:
            large_enough = "are zero or have a root mean square"
        raise ValueError(
            f"X must have features that {large_enough} above "
            f"{least_spread(dtype):.1g} in {dtype} where there is no penalty; "
            f"column {tiny[is_free][0]} has a smaller one. Scale the features."
        )
