"""Folds, and the responses of rows that a classifier is not fitted to."""

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params

from ..._utils.checks import rows_of_folds
from ._responses import response_of


def splits_of(cv, X, y, is_class, arguments):
    """Pairs of the numbers of the training rows and of those left out.

    Parameters
    ----------
    cv : int, cross-validation generator or iterable
    X : object
    y : array or sparse matrix
    is_class : bool
        Whether `y` holds labels, by which folds are stratified.
    arguments : dict
        Further arguments of the splitter.

    Raises
    ------
    ValueError
        If there is no split, or one leaves out no rows; if a class has no row in the
        training part of a fold.
    """
    splits = rows_of_folds(cv, X, y, is_class, arguments)
    if not splits or not all(len(left_out) for _, left_out in splits):
        raise ValueError(
            "cv must have at least one split, and each must leave out rows for the "
            f"calibration; got {[len(left_out) for _, left_out in splits]} rows in "
            f"{len(splits)} split(s)."
        )
    if is_class:
        _check_classes(y, [train for train, _ in splits])
    return splits


def _check_classes(y, training_rows):
    """Raise where a class has no row in the training part of a fold."""
    classes = np.unique(y)
    for rows in training_rows:
        missing = np.setdiff1d(classes, y[rows])
        if len(missing):
            raise ValueError(
                "cv must leave rows of every class in the training part of each fold; "
                f"a fold has none of the {np.sum(y == missing[0])} row(s) of class "
                f"{missing.tolist()[0]!r}. Shuffle or stratify the folds, merge rare "
                "classes, or use cv='prefit'."
            )


def responses_out_of_fold(estimator, X, y, arguments, *, splits, response_type, n_jobs):
    """The responses of the rows that each split leaves out.

    Parameters
    ----------
    estimator : estimator
        A clone of it is fitted for each split.
    X, y : object
        The rows, as the estimator takes them.
    arguments : Arguments
        Those of the fit and of predictions.
    splits : list of pair of ndarray of int
    response_type : ResponseType
    n_jobs : int or None

    Returns
    -------
    folds : list of (ndarray of int, Response)
        For each split the rows that are left out, and the response for them of the
        clone that is fitted to the others.
    """
    responses = Parallel(n_jobs=n_jobs)(
        delayed(_out_of_fold)(estimator, X, y, arguments, split, response_type)
        for split in splits
    )
    left_out = [rows for _, rows in splits]
    return list(zip(left_out, responses, strict=True))


def _out_of_fold(estimator, X, y, arguments, split, response_type):
    train, left_out = split
    model = clone(estimator)
    X_train, y_train = _safe_split(model, X, y, train)
    of_fit = _check_method_params(X, arguments.fit, indices=train)
    model.fit(X_train, y_train, **of_fit)
    X_left_out, _ = _safe_split(model, X, None, left_out, train)
    about_rows = _check_method_params(X, arguments.predict, indices=left_out)
    return response_of(model, X_left_out, response_type, about_rows)
