"""A measure of the agreement of predicted and true label sets."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.metrics import precision_score, recall_score

from .._utils.checks import (
    check_indicator,
    check_sample_weight,
    fill_unknown,
    known_part,
    lined_up,
)
from .._utils.typing import ArrayLike, MatrixLike
from ._truth import as_array


def harmonic_macro_f1_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    sample_weight: ArrayLike | None = None,
    zero_division: float = 0,
) -> float:
    """Harmonic mean of macro-precision and macro-recall.

    This is the macro-F1 of the sparsemax paper. ``sklearn.metrics.f1_score`` with
    ``average="macro"`` is defined differently: it is the mean of the F1 scores of the
    labels, which is never larger. For micro-F1 use ``f1_score`` with
    ``average="micro"``.

    Parameters
    ----------
    y_true : {array-like, sparse matrix} of shape (n_samples, n_classes)
        True label sets, as an indicator of 0 and 1. Entries that are not known, NaN,
        are left out: they count neither as right nor as wrong.
    y_pred : {array-like, sparse matrix} of shape (n_samples, n_classes)
        Predicted label sets, as an indicator of 0 and 1. Columns of two DataFrames are
        matched by name.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights of the rows; 1 if not given.
    zero_division : {0, 1}, default=0
        The value of the precision of a label that is never predicted, and of the recall
        of a label that never occurs. The score itself is 0 if both macro-precision and
        macro-recall are 0.

    Returns
    -------
    score : float
        From 0 to 1.

    Raises
    ------
    ValueError
        If the arrays are no indicators of the same shape, or the weights or
        ``zero_division`` are not allowed.

    See Also
    --------
    sklearn.metrics.f1_score : The mean of the F1 of each label, with average='macro'.

    References
    ----------
    Martins, Astudillo, "From softmax to sparsemax", ICML 2016, table 2.

    Opitz, Burst, "Macro F1 and macro F1", 2019, on the two definitions.

    Examples
    --------
    >>> from skprob.metrics import harmonic_macro_f1_score
    >>> y_true = [[1, 0], [1, 1], [0, 1]]
    >>> y_pred = [[1, 0], [1, 0], [1, 1]]
    >>> round(harmonic_macro_f1_score(y_true, y_pred), 4)  # of 5/6 and 3/4
    0.7895

    As ``scoring`` of a search:

    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.metrics import make_scorer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skprob import EntmaxClassifier
    >>> X, Y = make_multilabel_classification(allow_unlabeled=False, random_state=0)
    >>> search = GridSearchCV(
    ...     EntmaxClassifier(),
    ...     {"threshold": [0.05, 0.2, 0.5]},
    ...     scoring=make_scorer(harmonic_macro_f1_score),
    ... )
    >>> search.fit(X, Y).best_params_
    {'threshold': 0.05}
    """
    if zero_division not in (0, 1):
        raise ValueError(f"zero_division must be 0 or 1; got {zero_division!r}.")
    _, (y_true, y_pred) = lined_up(y_true=y_true, y_pred=y_pred)
    y_true, y_pred = _matrix("y_true", y_true), _matrix("y_pred", y_pred)
    if y_true.shape != y_pred.shape:
        raise ValueError(
            f"y_true and y_pred must have the same shape; got {y_true.shape} and "
            f"{y_pred.shape}."
        )
    check_indicator("y_pred", y_pred)
    weight = check_sample_weight(sample_weight, y_true)
    y_true, known = fill_unknown(y_true)
    y_pred, weight = known_part("y_true", known, y_pred, weight)
    check_indicator("y_true", y_true)
    options = {
        "average": "macro",
        "sample_weight": weight / weight.max(),  # The sum of large ones overflows.
        "zero_division": zero_division,
    }
    y_true, y_pred = _counted(y_true), _counted(y_pred)
    precision = precision_score(y_true, y_pred, **options)
    recall = recall_score(y_true, y_pred, **options)
    if precision + recall == 0:
        return 0.0
    return float(2 * precision * recall / (precision + recall))


def _counted(indicator):
    """An indicator of integers, whose stored zeros scikit-learn would count as ones."""
    counted = indicator.astype(np.int64)
    if sparse.issparse(counted):
        counted.eliminate_zeros()
    return counted


def _matrix(name, y):
    y = as_array(name, y)
    if y.ndim != 2:
        raise ValueError(
            f"{name} must be an indicator of label sets, of shape (n_samples, "
            f"n_classes); got shape {y.shape}. For labels take sklearn's f1_score."
        )
    return y
