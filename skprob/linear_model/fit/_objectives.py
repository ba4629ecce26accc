"""The objectives of a fit: the mean loss of its rows, and the penalty."""

import numpy as np

from ...losses import LOSSES, FenchelYoungLoss
from ...mappings import MAPPINGS, Softmax
from ...objective import LinearObjective
from .._trials import check_kernel, check_loss
from ._penalty_factors import check_spread_without_penalty


def objectives_of(spec, rows):
    """The objectives to minimise one after the other, or only the last of them.

    Parameters
    ----------
    spec : FitSpec
        The spec of these rows. If it has coefficients to start from, only the last
        objective is returned.
    rows : RowsInMemory or DaskRows

    Returns
    -------
    objectives : list of LinearObjective or CosineObjective
    """
    strength = penalty_strength(spec.C, rows.total_weight)
    _check_on_rows(spec, rows)
    losses = spec.loss.stages()
    if spec.last_fit is not None:
        losses = losses[-1:]
    elif spec.mapping.traits.is_only_a_function:
        # The gradient may vanish at zero scores: start from the solution of softmax.
        losses = [FenchelYoungLoss(Softmax()), *losses]
    objective = None
    if rows.wide_X is not None:
        from ._wide_rows import wide_objective  # Imported when used.

        objective = wide_objective(spec, rows, losses[0], strength)
    if objective is None:
        objective = _objective(spec, rows, losses[0], strength)
    return [objective, *map(objective.with_loss, losses[1:])]


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


def _check_on_rows(spec, rows):
    """Raise if mapping and loss cannot be used with these features and targets."""
    mapping, loss = spec.mapping, spec.loss
    polytope = mapping.traits.polytope
    if polytope == "cube":  # The sum of marginals may have a budget.
        rows.check_target(loss)
    if type(mapping) not in MAPPINGS.values():  # It may be a user's own.
        check_kernel(mapping, rows.n_scores, rows.dtype)
    if type(loss) not in LOSSES.values():  # It may be a user's own.
        check_loss(loss, rows.n_scores)
    loss.check_on(lambda: rows.trial_scores(polytope, spec.unit_rows))


def _objective(spec, rows, loss, strength):
    """The objective of the features of X: of cosines, or of penalised scores.

    Features with an infinite penalty factor are left out.
    """
    tuning = spec.tuning
    if spec.l1_ratio > 0:
        tuning = tuning._replace(block_bytes=tuning.block_bytes_of_l1)
    blocks = rows.blocks(spec.mapping.traits.polytope, spec.unit_rows, tuning)
    if spec.unit_rows is not None:
        from ...objective import CosineObjective  # Imported when used.

        return CosineObjective(blocks, loss)
    factors, features = spec.penalty_factors, slice(None)
    leaves_out = factors is not None and np.isinf(factors).any()
    if leaves_out:
        features = np.flatnonzero(np.isfinite(factors))
        factors = np.where(np.isfinite(factors), factors, 1.0)
    has_penalty = strength > 0 and (factors is None or factors[features].any())
    if spec.l1_ratio > 0 and has_penalty:
        # Imported when used: the import takes milliseconds.
        from ...objective import CompositeObjective, PenaltyShape

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
        check_spread_without_penalty(objective, spec.penalty_factors, strength)
    return objective.restricted(features) if leaves_out else objective
