"""Names of the labels in sets."""

from __future__ import annotations

from itertools import pairwise

from scipy import sparse

from .._utils.checks import as_real, distinct_classes, in_order
from .._utils.labels import plain_names
from .._utils.typing import ArrayLike, MatrixLike
from ._input import as_indicator


def names_of(indicator: MatrixLike, classes: ArrayLike) -> list[list]:
    """Names of the labels in each set.

    Parameters
    ----------
    indicator : array-like or sparse matrix of shape (n_samples, n_classes)
        0/1 indicator of the sets. Columns of a DataFrame are matched with the classes
        by name.
    classes : array-like of shape (n_classes,)
        Names of the columns, such as ``classes_`` of the classifier.

    Returns
    -------
    names : list of n_samples lists
        Python's own types, and NumPy's for dates, in the order of the classes.

    Raises
    ------
    ValueError
        If `indicator` is not a matrix of 0 and 1 with a column for each class, the
        columns of a DataFrame have other names, or a class occurs twice.

    See Also
    --------
    ConformalSets.predict_set : Sets of classes.
    TopK : Sets of k labels.

    Examples
    --------
    >>> from skprob.decision import names_of
    >>> names_of([[1, 0, 1], [0, 1, 0]], ["calm", "sad", "quiet"])
    [['calm', 'quiet'], ['sad']]
    """
    classes = distinct_classes(classes)
    indicator = in_order("indicator", indicator, classes)
    if not sparse.issparse(indicator):
        indicator = as_real("indicator", indicator)
    n_rows = indicator.shape[0] if indicator.ndim else 0
    sets = as_indicator(indicator, (n_rows, len(classes)), "indicator")
    names = plain_names(classes[sets.indices])
    ends = sets.indptr.tolist()
    return [names[i:j] for i, j in pairwise(ends)]
