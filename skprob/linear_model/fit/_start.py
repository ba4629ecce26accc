"""The start of a fit from the coefficients of the last one."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..._utils.arrays import to_numpy
from ..._utils.checks import order_by_name, order_of


class LastFit(NamedTuple):
    """The coefficients of the last fit, from which a fit may start.

    Attributes
    ----------
    coef : ndarray or CSR array of shape (M, n_features)
        Coefficients of the transformed rows of X.
    intercept : ndarray of shape (M,)
    classes : ndarray of shape (n_classes,) or None
        None if the coefficients were assigned: they are those of the new classes.
    target_type : str or None
    """

    coef: np.ndarray
    intercept: np.ndarray
    classes: np.ndarray | None
    target_type: str | None


def start_from(objective, last_fit, rows):
    """Parameters of an objective from the coefficients of the last fit.

    If zero coefficients have a lower value, as after a change of the features' units,
    the result is the objective's initial parameters. With features in a thousandth of
    the units, standardised iris then takes 7 iterations instead of 13, and standardised
    digits 96 instead of 361.

    Parameters
    ----------
    objective : LinearObjective or CosineObjective
    last_fit : LastFit
    rows : RowsInMemory or DaskRows
        Their classes may be in another order than those of the last fit.

    Returns
    -------
    parameters : ndarray of shape (n_parameters,)
    """
    coef, intercept = last_fit.coef, last_fit.intercept
    if sparse.issparse(coef):
        coef = coef.toarray()
    order = _order_of_last_fit(last_fit, rows)
    if coef.shape != objective.coef_shape:
        raise ValueError(
            "warm_start=True starts from the last fit, whose coef_ has shape "
            f"{coef.shape}; these data need {objective.coef_shape}. Use "
            "warm_start=False or a clone."
        )
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        raise ValueError(
            "warm_start=True starts from coef_ and intercept_, which must be finite; "
            "they have NaN or infinity. Use warm_start=False or a clone."
        )
    if len(coef) == 1:
        # The difference of two classes.
        sign = 1 if order == [0, 1] else -1
        coef, intercept = sign * coef, sign * intercept
    else:
        # The class of rows without a label is the last.
        order += range(len(order), len(coef))
        coef, intercept = coef[order], intercept[order]
    parameters = objective.from_model(coef, intercept)
    return objective.initial() if _is_too_far(objective, parameters) else parameters


def _is_too_far(objective, parameters):
    """Whether the value is higher than at zero, or not finite; in one pass."""
    description = objective.description
    # A loss that is not convex may need this start. For remote rows the comparison
    # would take a round trip.
    if not description.is_convex or description.is_remote:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        value, _ = objective.value_and_gradient(parameters)
    return not value <= objective.value_at_zero


def _order_of_last_fit(last_fit, rows):
    """The positions of the new classes among the classes of the last fit."""
    new = to_numpy(rows.classes_like_y).tolist()
    if last_fit.classes is None:
        return list(range(len(new)))
    old = last_fit.classes.tolist()
    if last_fit.target_type == rows.target_type == "class":
        order = order_by_name(old, new)
    else:
        order = order_of(old, new, are_labels=False)
    if order is None:
        raise ValueError(
            "warm_start=True starts from the last fit, which had the classes "
            f"{old[:10]}; these data have {new[:10]}. Use warm_start=False or a clone."
        )
    return order
