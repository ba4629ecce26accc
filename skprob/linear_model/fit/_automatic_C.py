"""The number C for C="auto", from the curvature of the loss."""

from functools import cache

import numpy as np

from ...losses import AccuracyLoss, FenchelYoungLoss, InfimumLoss, MarginLoss
from ...mappings import Entmax, Sigmoid, Softmax, Sparsemax
from ...targets import DenseTarget


def automatic_C(loss, n_classes):
    """The C with the same effect as C=1 for the log loss of softmax.

    Near zero coefficients an objective is a quadratic function whose curvature is that
    of the loss at equal scores, plus the penalty 1/C. With C in inverse proportion to
    the loss's curvature, the penalty shrinks the coefficients by the same factor for
    all mappings. For mappings to marginals the reference is a logistic function for
    each label. For entmax C is n_classes^(1 - alpha).

    Parameters
    ----------
    loss : Loss
        Checked.
    n_classes : int

    Returns
    -------
    C : float

    Raises
    ------
    ValueError
        If the loss has no curvature at equal scores.

    Examples
    --------
    >>> from skprob.linear_model.fit._automatic_C import automatic_C
    >>> from skprob.losses import FenchelYoungLoss
    >>> from skprob.mappings import Sparsemax
    >>> round(automatic_C(FenchelYoungLoss(Sparsemax()), n_classes=10), 6)
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
    return _curvature_of_logistic_loss(loss.traits.polytope, n_classes) / curvature


@cache
def _curvature_of_logistic_loss(polytope, n_classes):
    mapping = Sigmoid() if polytope == "cube" else Softmax()
    return _curvature(FenchelYoungLoss(mapping), n_classes)


def _curvature(loss, n_classes):
    """Second derivative of a loss in one score, at equal scores and probabilities."""
    mapping = loss.mapping
    is_entmax = type(loss) is FenchelYoungLoss and type(mapping) in (Entmax, Sparsemax)
    if is_entmax and mapping.alpha <= 2:
        # s - s² / (n s), with the slope s of `mappings/_jacobian.py` at p = 1 / n. A
        # linearization takes 46 microseconds, 4 % of a fit to iris.
        return float(n_classes ** (mapping.alpha - 2) * (1 - 1 / n_classes))
    scores = np.full((1, n_classes), loss.traits.base_score)
    centre = 0.5 if loss.traits.polytope == "cube" else 1 / n_classes
    target = DenseTarget(np.full((1, n_classes), centre))
    with np.errstate(all="ignore"):  # One that overflows is refused.
        return float(loss.linearize(scores, target).hessian_diagonal()[0, 0])
