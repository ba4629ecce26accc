"""Matrices of costs: a row for each true class, a column for each decision."""

import numpy as np

from .columns import in_order, names_of_columns
from .matrices import as_real


def as_costs(name, costs, n_classes=None, classes=None):
    """A matrix of costs as a checked array.

    Parameters
    ----------
    name : str
        The argument that errors name.
    costs : array-like or pandas DataFrame of shape (n_classes, n_classes)
        The cost of each decision (column) for each true class (row). Rows and columns
        of a DataFrame are matched with the classes by name.
    n_classes : int, default=None
        Number of classes; None allows any number.
    classes : ndarray of shape (n_classes,), default=None
        The order of the result; None is that of the columns of a DataFrame.

    Returns
    -------
    costs : ndarray of shape (n_classes, n_classes)
        float64.

    Raises
    ------
    ValueError
        If it is not a square matrix of finite real numbers of this size, or a DataFrame
        has other names than the classes.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skprob._utils.checks import as_costs
    >>> names = ["sick", "well"]
    >>> frame = pd.DataFrame([[0, 9], [1, 0]], index=names, columns=names)
    >>> as_costs("costs", frame, classes=np.array(["well", "sick"]))
    array([[0., 1.],
           [9., 0.]])
    """
    names = names_of_columns(name, costs)
    if names is not None:
        if not hasattr(costs, "iloc"):
            raise ValueError(
                f"{name} must be an array or a pandas DataFrame, whose rows have "
                f"names; got {type(costs).__module__}.{type(costs).__name__}."
            )
        order = names if classes is None else classes
        costs = in_order(name, costs, order, are_labels=True).T
        costs = in_order(name, costs, order, are_labels=True, part="rows").T
    matrix = as_real(name, costs).astype(np.float64, copy=False)
    size = len(matrix) if matrix.ndim and n_classes is None else n_classes
    if matrix.shape != (size, size):
        raise ValueError(
            f"{name} must be a matrix of shape (n_classes, n_classes)"
            f"{'' if n_classes is None else f', {(size, size)}'}, a row for each true "
            f"class; got shape {matrix.shape}."
        )
    finite = np.isfinite(matrix)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise ValueError(
            f"{name} must be finite; got {matrix[row, column]} in row {row}, column "
            f"{column}."
        )
    return matrix


def as_margins(margin, n_classes=None, classes=None):
    """A matrix of costs that are added to scores, as a checked array.

    Arguments are as in :func:`as_costs`; errors name `margin`.

    Raises
    ------
    ValueError
        As :func:`as_costs`; if a cost is negative, or the right decision has one.

    Examples
    --------
    >>> from skprob._utils.checks import as_margins
    >>> as_margins([[0, 9], [1, 0]])
    array([[0., 9.],
           [1., 0.]])
    """
    matrix = as_costs("margin", margin, n_classes, classes)
    if matrix.min(initial=0) < 0 or matrix.diagonal().any():
        raise ValueError(
            "margin must be a matrix of non-negative numbers, with zeros on the "
            f"diagonal; got a minimum of {matrix.min():.6g} and the diagonal "
            f"{matrix.diagonal()[:5].tolist()}"
            f"{' and so on' if len(matrix) > 5 else ''}."
        )
    return matrix
