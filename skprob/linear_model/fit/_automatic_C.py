"""The number C for C="auto", from the loss and the variances of the features."""

from functools import cache

import numpy as np

from ...data import rounding_error
from ...losses import AccuracyLoss, FenchelYoungLoss, InfimumLoss, MarginLoss
from ...mappings import Entmax, Sigmoid, Softmax, Sparsemax
from ...targets import DenseTarget

# C=1 suits softmax where the variances of the features sum to this or more, as those of
# 20 standardised features do. With a smaller sum it is too strong a penalty. A larger C
# improves the Brier score of twelve data sets (labels, texts, distributions) by 1 to
# 73 %, and makes it worse on one, ldl_movie, by 5 %. A sum of 40 would improve the
# twelve by up to 22 % more, and make it worse on ldl_movie by 7 % more.
_ENOUGH_VARIANCE = 20.0


def automatic_C(spec, loss, rows):
    """The C with the same effect as C=1 for the log loss of softmax.

    If the variances of the features sum to less than 20, the penalty is weaker: the
    model is then that of features in a larger unit.

    Parameters
    ----------
    spec : FitSpec
        Its penalty factors, which are checked, and ``l1_ratio`` are read.
    loss : Loss
        Checked, for the classes of these rows.
    rows : RowsInMemory or DaskRows

    Returns
    -------
    C : float
    """
    C = C_of_loss(loss, rows.n_scores, spec.l1_ratio)
    if spec.unit_rows is not None:  # They have no penalty.
        return C
    mean, deviation = rows.mean_and_deviation()
    if not spec.fit_intercept:  # Squares about zero stand for the variances.
        deviation = np.hypot(mean, deviation)
    # A constant feature has a deviation of rounding errors.
    some = deviation > rounding_error(mean, rows.dtype)
    variances = np.square(deviation[some])
    if spec.penalty_factors is not None:
        # A coefficient with a larger penalty is that of a feature in a smaller unit.
        factors = spec.penalty_factors[some]
        variances = variances[factors > 0] / factors[factors > 0]
    total = variances.sum()
    if 0 < total < _ENOUGH_VARIANCE:
        total = max(float(total), 1e-100)  # C stays finite.
        # In another unit ridge penalties change by the square of its size, and l1
        # penalties by its size.
        C *= (_ENOUGH_VARIANCE / total) ** (1 - spec.l1_ratio / 2)
    return C


def C_of_loss(loss, n_classes, l1_ratio=0.0):
    """The C with the same effect as C=1 for softmax, for features of any variance.

    Near zero coefficients an objective is a quadratic function whose curvature is that
    of the loss at equal scores, plus the penalty 1/C. With C in inverse proportion to
    the loss's curvature, the penalty shrinks the coefficients by the same factor for
    all mappings. For mappings to marginals the reference is a logistic function for
    each label. For entmax C is n_classes^(1 - alpha), for alpha up to 2, where a label
    of marginals counts as two classes.

    With alpha above 2 the curvature at equal scores holds near them only. A probability
    goes from 0 to 1 within differences of scores of about 1 / (alpha - 1). So its mean
    slope, alpha - 1, takes the place of the slope at equal scores, and C is
    1 / (n_classes (alpha - 1)).

    With the penalty ‖W‖₁ / C, a coefficient is zero while its gradient is at most 1/C,
    whatever the curvature. So C is in inverse proportion to the gradient at equal
    scores, which all Fenchel-Young losses share: it is 1 for them. With an `l1_ratio`
    between 0 and 1 it is a geometric mean of both numbers.

    Parameters
    ----------
    loss : Loss
        Checked.
    n_classes : int
    l1_ratio : float, default=0.0

    Returns
    -------
    C : float

    Raises
    ------
    ValueError
        If the loss has no curvature at equal scores.

    Examples
    --------
    >>> from skprob.linear_model.fit._automatic_C import C_of_loss
    >>> from skprob.losses import FenchelYoungLoss
    >>> from skprob.mappings import Sparsemax
    >>> round(C_of_loss(FenchelYoungLoss(Sparsemax()), n_classes=10), 6)
    0.1
    """
    # Margins move the point at which all scores are equal.
    while isinstance(loss, MarginLoss):
        loss = loss.loss
    if isinstance(loss, AccuracyLoss | InfimumLoss):
        # It has no curvature at equal scores. Use the loss that a fit minimises first.
        loss = type(loss)(loss.mapping).stages()[0]
    curvature = _curvature(loss, n_classes)
    # The curvature must be above rounding errors, and its square must not overflow.
    if not 1e-12 < curvature < 1e150:
        raise ValueError(
            f"C must be a number for {loss!r}: 'auto' is computed from the curvature "
            f"of the loss at equal scores, which is {curvature:.3g}."
        )
    polytope = loss.traits.polytope
    C = _curvature_of_logistic_loss(polytope, n_classes) / curvature
    if l1_ratio > 0:
        gradient = _gradient(loss, n_classes)
        of_l1 = _gradient(_logistic_loss(polytope), n_classes) / gradient
        C = C ** (1 - l1_ratio) * of_l1**l1_ratio
    return C


def _logistic_loss(polytope):
    return FenchelYoungLoss(Sigmoid() if polytope == "cube" else Softmax())


@cache
def _curvature_of_logistic_loss(polytope, n_classes):
    return _curvature(_logistic_loss(polytope), n_classes)


def _gradient(loss, n_classes):
    """Norm of the gradient of a loss of the first label, at equal scores."""
    scores = np.full((1, n_classes), loss.traits.base_score)
    target = DenseTarget(np.eye(1, n_classes))
    return float(np.linalg.norm(loss.linearize(scores, target).gradient))


def _curvature(loss, n_classes):
    """Second derivative of a loss in one score, at equal scores and probabilities."""
    mapping = loss.mapping
    is_marginal = loss.traits.polytope == "cube"
    if type(loss) is FenchelYoungLoss and _is_entmax(mapping):
        # s - s² / (n s), with the slope s of `mappings/_jacobian.py` at p = 1 / n. A
        # linearization takes 46 microseconds, 4 % of a fit to iris.
        n, alpha = 2 if is_marginal else n_classes, mapping.alpha
        slope = n ** (alpha - 2) if alpha <= 2 else alpha - 1
        return float(slope * (1 - 1 / n))
    scores = np.full((1, n_classes), loss.traits.base_score)
    centre = 0.5 if is_marginal else 1 / n_classes
    target = DenseTarget(np.full((1, n_classes), centre))
    with np.errstate(all="ignore"):  # One that overflows is refused.
        return float(loss.linearize(scores, target).hessian_diagonal()[0, 0])


def _is_entmax(mapping):
    """Whether it is entmax of all classes, or for each label of two classes."""
    if type(mapping) is Sigmoid:
        return mapping.budget is None
    return type(mapping) in (Entmax, Sparsemax)
