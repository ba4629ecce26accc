"""The argument cv: rows of its folds."""

from collections.abc import Iterable
from reprlib import repr as short_repr

import numpy as np

_GROUPS = (
    " fit passes its argument groups to cv if scikit-learn's metadata routing is on: "
    "call sklearn.set_config(enable_metadata_routing=True)."
)


def rows_of_folds(cv, X, y, is_class, params):
    """Numbers of the training and test rows of each fold of a user's `cv`.

    Parameters
    ----------
    cv : int, splitter, or iterable of pair of array-like
        The pairs are numbers of rows, or masks of all rows.
    X, y : array-like
        `y` has the attribute `shape`.
    is_class : bool
        Whether folds of an integer `cv` are stratified by the labels.
    params : dict
        Further arguments of the method `split`.

    Raises
    ------
    ValueError
        If there are no such folds, a row is not among those of X, or a fold is no pair;
        if `cv` is a class.

    Examples
    --------
    >>> rows_of_folds([([True, False], [-1])], [[0], [1]], np.array([0, 1]), True, {})
    [(array([0]), array([1]))]
    """
    from sklearn.model_selection import check_cv  # Imported when used.

    if isinstance(cv, type):
        raise ValueError(
            f"cv must be an object; got the class {cv.__name__}. Give an instance, "
            f"{cv.__name__}(...)."
        )
    n_samples = y.shape[0]
    rows = np.arange(n_samples)
    try:
        if isinstance(cv, Iterable) and not hasattr(cv, "split"):
            folds = list(cv)
        else:
            folds = list(check_cv(cv, y, classifier=is_class).split(X, y, **params))
        for i, fold in enumerate(folds):
            if not (hasattr(fold, "__len__") and len(fold) == 2):
                raise ValueError(f"Fold {i} is no pair, but {short_repr(fold)}.")
        pairs = [(rows[train], rows[test]) for train, test in folds]
        n_axes = {part.ndim for pair in pairs for part in pair}
        if n_axes - {1}:
            raise ValueError(f"Found an array with {max(n_axes)} axes, not one.")
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise ValueError(
            "cv must make pairs of training and test rows, as numbers from 0 to "
            f"{n_samples - 1} or as masks of all {n_samples} rows. {error}"
            f"{_GROUPS if 'groups' in str(error) else ''}"
        ) from error
    return pairs
