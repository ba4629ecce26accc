"""The folds of a search, by its parameter cv."""

import numpy as np

from ..._utils.checks import rows_of_folds


def folds_of(cv, data, params):
    """Training and test rows of each fold.

    Parameters
    ----------
    cv : int, splitter, iterable or None
        None stands for five folds, or for as many as the largest class has rows.
    data : TrainingData
    params : dict
        Further arguments of the splitter.

    Returns
    -------
    folds : list of tuple of ndarray

    Raises
    ------
    ValueError
        If there are no folds, or a fold has no row for the fit or for the score.
    """
    splitter = _default_number(data) if cv is None else cv
    folds = rows_of_folds(splitter, data.X, data.y, True, params)
    if not folds:
        raise ValueError(f"cv must make one or more folds; {cv!r} made none.")
    for number, (fitted, scored) in enumerate(folds):
        if not (len(fitted) and len(scored)):
            raise ValueError(
                "cv must have rows for the fit and for the score in each fold; fold "
                f"{number} has {len(fitted)} for the fit and {len(scored)} for the "
                "score."
            )
    return folds


def _default_number(data):
    """Number of folds without `cv`: that of the rows of the largest class, up to 5."""
    y, is_class = data.y, data.encoded.target_type == "class"
    n_rows = np.unique(y, return_counts=True)[1].max() if is_class else y.shape[0]
    if n_rows < 2:
        of_class = " of some class" if is_class else ""
        raise ValueError(
            f"y must have two or more rows{of_class} for the folds of cv=None; got one "
            f"row{' of each class' if is_class else ''}."
        )
    return min(5, int(n_rows))
