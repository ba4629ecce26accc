"""The parameters at which a fit starts."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..._utils.arrays import to_numpy
from ..._utils.columns import order_by_name, order_of
from ...mappings import get_mapping
from ...objective import LinearObjective


class LastFit(NamedTuple):
    """The coefficients of the last fit, from which a fit may start.

    Attributes
    ----------
    coef : ndarray or CSR array of shape (M, n_features)
        Of transformed rows of X.
    intercept : ndarray of shape (M,)
    classes : ndarray of shape (n_classes,) or None
        None if the coefficients were assigned: they are those of the new classes.
    target_type : str or None
    """

    coef: np.ndarray
    intercept: np.ndarray
    classes: np.ndarray | None
    target_type: str | None


def start_of(objective, last_fit, rows):
    """Parameters of an objective at which all rows have probabilities.

    They are zeros for most mappings. Where zero scores have no probabilities, all
    intercepts are the same; without intercepts the coefficients are the means of the
    classes, of which the largest entry becomes 1.

    Parameters
    ----------
    objective : LinearObjective or CosineObjective
    last_fit : LastFit or None
        The start, if there is one.
    rows : RowsInMemory or DaskRows
        Their classes may be in another order than those of the last fit.

    Returns
    -------
    parameters : ndarray of shape (n_parameters,)
    """
    if last_fit is not None:
        return _start_from(last_fit, objective, rows)
    base = get_mapping(objective.loss.mapping).traits.base_score
    if base == 0 or not isinstance(objective, LinearObjective):
        return objective.initial()
    if objective.description.has_intercept:
        intercept = np.full(objective.coef_shape[0], base)
        return objective.from_model(np.zeros(objective.coef_shape), intercept)
    means = objective.target_sums().coupling
    return means.ravel() / (np.abs(means).max() or 1)


def _start_from(last_fit, objective, rows):
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
    if len(coef) == 1:
        # The difference of two classes.
        sign = 1 if order == [0, 1] else -1
        coef, intercept = sign * coef, sign * intercept
    else:
        # The class of rows without a label is the last.
        order += range(len(order), len(coef))
        coef, intercept = coef[order], intercept[order]
    return objective.from_model(coef, intercept)


def _order_of_last_fit(last_fit, rows):
    """The positions of the new classes among the classes of the last fit."""
    new = to_numpy(rows.labels).tolist()
    if last_fit.classes is None:
        return list(range(len(new)))
    old = last_fit.classes.tolist()
    if last_fit.target_type == rows.kind == "class":
        order = order_by_name(old, new)
    else:
        order = order_of(old, new, are_labels=False)
    if order is None:
        raise ValueError(
            "warm_start=True starts from the last fit, which had the classes "
            f"{old[:10]}; these data have {new[:10]}. Use warm_start=False or a clone."
        )
    return order
