"""A linear objective at zero coefficients, where most fits start.

All rows have the same raw predictions there. If the loss of a row is F(z) - ⟨q, z⟩ with
the scores z of its raw predictions, all rows also have the same probabilities p and the
same Hessian. Then the value is that of one row, and the gradient is computed from the
sums of the columns for each class. `BlockPoint.curvature` evaluates one row, too.

Little data need none of this: `little/` evaluates all rows.
"""

import numpy as np

from ..losses import FenchelYoungLoss
from ..targets import DenseTarget
from . import _block_point
from ._block import predictions_adjoint, split_rows


def has_mean_row(objective):
    """Whether the mean loss of rows with equal raw predictions is that of one row.

    It is if the loss of a row is F(z) - ⟨q, z⟩ with the scores z of its raw
    predictions. The target of the one row is the mean target.
    """
    is_plain = type(objective.loss) is FenchelYoungLoss
    return is_plain and not objective.description.has_row_scores


def mean_row(objective):
    """One row without features, whose target is the mean target."""
    target = DenseTarget(objective.class_means[None])
    return split_rows(np.zeros((1, 0)), target, np.ones(1))


def value_at_zero(objective):
    """Mean loss where all raw predictions are the ``base_score`` of the traits."""
    rows = mean_row(objective) if has_mean_row(objective) else objective.blocks
    n_outputs, loss = objective.shape[0], objective.loss
    (value,) = rows.sum(_block_point.value_at_zero, n_outputs, loss)
    return objective.constant + float(value)


def knows_gradient_at_zero(objective):
    """Whether :func:`mean_loss_at_zero` is defined."""
    return (
        objective.moments is not None
        and objective.traits.base_score == 0
        and has_mean_row(objective)
    )


def mean_loss_at_zero(objective):
    """Value and gradient (M, size) of the mean loss at zero parameters.

    The gradient is Σ s_i (p - q_i) z_iᵀ, with the same probabilities p for all rows:
    the product of p and the means of the columns, less the target sums.
    """
    loss = objective.loss
    p = loss.mapping.probabilities(np.zeros((1, len(objective.class_means))))
    _block_point.check_finite("gradient of the loss", p, loss)
    p = predictions_adjoint(p, objective.shape[0])
    mean, _ = objective.units.standardized_moments(*objective.moments)
    gradient = p.T * mean - objective.target_sums().coupling
    return objective.value_at_zero, objective.without_common_part(gradient)
