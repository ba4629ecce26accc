"""Losses of predictions for targets of all three kinds."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from .._utils.arrays import dense, weighted_mean
from .._utils.checks import (
    as_distributions,
    as_real,
    as_rows,
    check_sample_weight,
    check_target,
    distinct_classes,
    fill_unknown,
    known_part,
    naming,
)
from .._utils.scores import standard_scores
from .._utils.typing import ArrayLike, MatrixLike
from .._utils.warnings import warn
from ..losses import FenchelYoungLoss
from ..mappings import MappingLike, get_mapping
from ..targets import encode_target
from ._lined_up import lined_up_with

# Most numbers of a block of rows, which stays in the cache of a core.
_BLOCK_SIZE = 1 << 16


def fenchel_young_loss(
    y_true: MatrixLike,
    scores: ArrayLike,
    *,
    mapping: MappingLike = "softmax",
    classes: ArrayLike | None = None,
    target_type: str = "auto",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean Fenchel-Young loss of scores.

    Unlike the log loss it is finite where a true class has probability zero. Losses of
    different mappings are not comparable: to choose between models with different
    mappings, give the same mapping for all of them here, or use :func:`brier_loss`.

    Parameters
    ----------
    y_true : array-like or sparse matrix
        Labels, label sets or distributions, as for the classifiers. Columns of two
        DataFrames are matched by name. Rows of label sets without a label are left out,
        with a warning, unless the mapping gives marginals: then the target is the
        indicator itself. Its entries may be NaN, not known, if the mapping has no
        budget: the loss of a row is the sum over the known labels.
    scores : array-like of shape (n_samples, n_classes) or (n_samples,)
        The result of ``decision_function``; one column stands for two classes.
    mapping : str or Mapping, default="softmax"
        A mapping with a potential.
    classes : array-like of shape (n_classes,), default=None
        The labels of the columns, in sorted order; needed if some of them are not in
        ``y_true``. Columns of DataFrames are matched with them by name.
    target_type : {"auto", "class", "label_set", "distribution"}, default="auto"
        The kind of ``y_true``.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    loss : float
        Non-negative; zero if all probabilities equal the target.

    Raises
    ------
    ValueError
        If the arrays are malformed or do not fit together.

    See Also
    --------
    FenchelYoungScorer : The scorer for searches.
    brier_loss : Can be compared between mappings.

    References
    ----------
    Blondel, Martins, Niculae, "Learning with Fenchel-Young losses", JMLR 2020.

    Examples
    --------
    >>> from skprob.metrics import fenchel_young_loss
    >>> scores = [[2.0, 0.0], [0.0, 1.0], [0.5, 0.0]]
    >>> fenchel_young_loss([0, 1, 1], scores, mapping="sparsemax")
    0.1875
    """
    y_true, scores = lined_up_with(classes, y_true, scores=scores)
    scores = as_real("scores", scores)
    if scores.ndim == 1:
        scores = np.stack([-scores / 2, scores / 2], axis=1)
    scores = as_rows(scores)
    loss = FenchelYoungLoss(get_mapping(mapping))
    loss.check()
    traits = loss.traits
    allowed = traits.polytope == "cube" and traits.is_separable
    y_true = check_target(y_true, "y_true", len_of=scores, may_have_unknown=allowed)
    if y_true.ndim == 2:
        y_true, known = fill_unknown(y_true)
        scores, sample_weight = _without_unknown(scores, known, sample_weight)
    encoded = _encode(y_true, scores, classes, target_type, polytope=traits.polytope)
    loss.check_target(encoded.target)

    def losses(scores, target, first_row):
        scores = standard_scores(scores, shift=False, first_row=first_row)
        n_available = np.count_nonzero(scores > -np.inf, axis=1)
        with np.errstate(over="ignore"):
            values = loss.evaluate(scores, target)[0]
        return loss.constant(target, n_available) + values

    return _mean_by_blocks(losses, scores, encoded, sample_weight)


def brier_loss(
    y_true: MatrixLike,
    probabilities: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    target_type: str = "auto",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean squared distance between the probabilities and the target.

    For labels it is the Brier score in its original form, from 0 to 2. It is a
    proper score for all three kinds of target and comparable between mappings.

    Parameters
    ----------
    y_true : array-like or sparse matrix
        Labels, label sets or distributions, as for the classifiers. Columns of two
        DataFrames are matched by name. Rows of label sets without a label are left out,
        with a warning, if all probabilities sum to one.
    probabilities : {array-like, sparse matrix} of shape (n_samples, n_classes)
        Rows of non-negative numbers that sum to one. For label sets the sum may be less
        than one: the rest is the probability of "no label", which counts as one more
        class.
    classes : array-like of shape (n_classes,), default=None
        The labels of the columns, in sorted order; needed if some of them are not in
        ``y_true``. Columns of DataFrames are matched with them by name.
    target_type : {"auto", "class", "label_set", "distribution"}, default="auto"
        The kind of ``y_true``.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    loss : float

    Raises
    ------
    ValueError
        If the arrays are malformed or do not fit together.

    See Also
    --------
    BrierScorer : The scorer for searches.
    sklearn.metrics.brier_score_loss : For class labels only.

    Examples
    --------
    >>> from skprob.metrics import brier_loss
    >>> probabilities = [[1.0, 0.0], [0.5, 0.5]]
    >>> brier_loss([0, 1], probabilities)
    0.25
    >>> brier_loss([[1, 0], [1, 1]], probabilities)
    0.0
    >>> brier_loss([[1, 0], [0, 0]], [[1.0, 0.0], [0.5, 0.0]])
    0.25
    """
    y_true, probabilities = lined_up_with(classes, y_true, probabilities=probabilities)
    p, has_none = _with_none(as_distributions(probabilities, may_fall_short=True))
    y_true = check_target(y_true, "y_true", len_of=p)
    encoded = _encode(y_true, p, classes, target_type, has_none=has_none)
    return brier_loss_of_target(encoded, p, sample_weight)


def brier_loss_of_target(encoded, probabilities, sample_weight):
    """:func:`brier_loss` of an encoded target, without checks.

    Parameters
    ----------
    encoded : EncodedTarget
    probabilities : ndarray or CSR array of shape (n_samples, n_scores)
    sample_weight : array-like of shape (n_samples,) or None

    Returns
    -------
    loss : float
    """

    def squared_distances(p, target, first_row):
        difference = p.toarray() if sparse.issparse(p) else p.copy()
        target.add_to(difference, -1)
        return np.einsum("nk,nk->n", difference, difference)

    return _mean_by_blocks(squared_distances, probabilities, encoded, sample_weight)


def mean_support_size(
    probabilities: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Mean number of classes with positive probability.

    Parameters
    ----------
    probabilities : {array-like, sparse matrix} of shape (n_samples, n_classes)
        Rows of non-negative numbers that sum to one, or to less: see
        :func:`brier_loss`.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    size : float
        From 1 to n_classes, or from 0 where rows sum to less than one.

    Raises
    ------
    ValueError
        If a row has negative numbers, or sums to more than one.

    See Also
    --------
    SupportSizeScorer : The scorer for searches.
    mean_set_size : The same for predicted sets.

    Examples
    --------
    >>> from skprob.metrics import mean_support_size
    >>> mean_support_size([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    1.5
    """
    p = as_distributions(probabilities, may_fall_short=True)
    size = np.diff(p.indptr) if sparse.issparse(p) else np.count_nonzero(p, axis=1)
    return average(size, sample_weight)


def _without_unknown(scores, known, sample_weight):
    """Scores that are -inf for labels that are not known, and weights of the rows."""
    if known is None or known.shape != scores.shape:
        return scores, sample_weight
    weight = check_sample_weight(sample_weight, scores)
    _, weight = known_part("y_true", known, scores, weight)
    # A score of -inf has no part in the loss. A row needs others, also without weight.
    known = known | ~known.any(axis=1, keepdims=True)
    return np.where(known, scores, -np.inf), weight


def _with_none(p):
    """Rows with one minus their sum as a last column if any is positive; and if any."""
    missing = 1 - np.asarray(p.sum(axis=1, dtype=np.float64))
    if not (missing > 1e3 * np.finfo(p.dtype).eps).any():
        return p, False
    missing = np.maximum(missing, 0).astype(p.dtype)[:, None]
    stack = partial(sparse.hstack, format="csr") if sparse.issparse(p) else np.hstack
    return stack([p, missing]), True


def _encode(
    y_true, predicted, classes, target_type, *, has_none=False, polytope="simplex"
):
    """The target of a checked truth; its classes are the columns of the prediction."""
    if target_type == "candidates":
        raise ValueError(
            "target_type must be 'auto', 'class', 'label_set' or 'distribution' in a "
            "score; got 'candidates'. Give the true labels."
        )
    if classes is not None:
        classes = distinct_classes(classes)
        if y_true.ndim == 1 and (classes[1:] <= classes[:-1]).any():
            raise ValueError(
                "classes must be in sorted order if y_true holds labels; got "
                f"{classes.tolist()}."
            )
    elif y_true.ndim == 1 and (y_true == y_true[0]).all():
        raise ValueError(
            "y_true must be labels of at least 2 classes; it contains only one class: "
            f"{y_true[:1].tolist()[0]!r}. If y_true does not hold every label, pass "
            "classes."
        )
    with naming("y_true"):
        encoded = encode_target(
            y_true,
            target_type,
            predicted.dtype,
            classes=classes,
            polytope=polytope,
            none_class=has_none,
        )
    if encoded.target_type != "label_set" and has_none:
        missing = dense(predicted[:, [-1]])
        row = int(missing.argmax())
        raise ValueError(
            "probabilities must be rows that sum to one; only those of label sets may "
            f"sum to less. Row {row} has sum {1 - missing[row, 0]:.3g}, and y_true is "
            f"of the kind {encoded.target_type!r}."
        )
    if encoded.n_scores != predicted.shape[1]:
        raise ValueError(
            f"The predictions have {predicted.shape[1] - has_none} columns and y_true "
            f"has {len(encoded.classes)} classes. If y_true does not hold every label, "
            "pass classes."
        )
    if encoded.labelled is not None:
        warn(
            f"{np.count_nonzero(~encoded.labelled)} of {len(encoded.labelled)} rows "
            "have no label and are left out of the score.",
        )
    return encoded


def _mean_by_blocks(function, predicted, encoded, sample_weight):
    """Weighted mean of a function of (predicted rows, their target, first row)."""
    if encoded.labelled is not None:
        predicted = predicted[encoded.labelled]
    n_samples, n_classes = predicted.shape
    values = np.empty(n_samples, dtype=predicted.dtype)
    for rows in gen_batches(n_samples, max(_BLOCK_SIZE // n_classes, 1)):
        target = encoded.target.take(rows)
        values[rows] = function(predicted[rows], target, rows.start)
    return average(values, sample_weight, encoded.labelled)


def average(values, sample_weight, labelled=None):
    """Weighted mean of the values of the rows that have a label; None means all."""
    if len(values) == 0:
        raise ValueError("A score needs at least one row.")
    if sample_weight is None:
        return float(values.mean(dtype=np.float64))
    if labelled is None:
        labelled = np.ones(len(values), dtype=bool)
    weight = check_sample_weight(sample_weight, labelled)[labelled]
    # An infinite value with weight zero would make the mean NaN.
    counted = weight > 0
    if not counted.any():
        raise ValueError(
            "sample_weight must be positive for a row with a label; all such rows have "
            "the weight 0."
        )
    return weighted_mean(values[counted], weight[counted])
