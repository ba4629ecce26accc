"""Checks of a user's mapping and loss on a few scores, before a fit."""

import numpy as np

from .._utils.scores import standard_scores
from ..data import as_design
from ..losses import LossLinearization, MarginLoss
from ..mappings import (
    check_derivatives,
    check_probabilities,
    check_shift_invariance,
    is_of_user,
)
from ..objective import n_raw_predictions, scores_of
from ..targets import as_target


def trial_scores(X, n_classes, polytope):
    """Scores of rows under random coefficients, about as large as after a fit.

    For checks of a mapping and a loss on the data at hand; the same at every call.
    """
    shape = n_raw_predictions(n_classes, polytope), X.shape[1]
    coef = np.random.default_rng(0).standard_normal(shape)
    predictions = as_design(X).matvec(coef)
    predictions = predictions - predictions.mean(axis=0)
    spread = predictions.std(axis=0)
    return scores_of(2 * predictions / np.where(spread > 0, spread, 1))


def check_kernel(mapping, n_classes, dtype):
    """Raise where a user's mapping gives no point of its polytope for each row."""
    # Scores of the size that they have after a fit, all different.
    scores = 3 * np.sin(np.arange(1.0, 8 * n_classes + 1)).reshape(8, n_classes)
    scores = standard_scores(scores.astype(dtype), mapping.traits.is_shift_invariant)
    check_probabilities(mapping, mapping.probabilities(scores.copy()), scores.shape)
    if is_of_user(mapping):
        check_shift_invariance(mapping, n_classes)
        check_derivatives(mapping, scores.astype(np.float64))
    if n_classes == 2 and not mapping.traits.is_shift_invariant:
        _check_two_classes(mapping, dtype)


def check_loss(loss, n_classes):
    """Raise where a user's loss, with margins or without, has wrong derivatives."""
    while isinstance(loss, MarginLoss):
        loss = loss.loss
    if not is_of_user(loss):
        return
    polytope = loss.traits.polytope
    scores = 3 * np.sin(np.arange(1.0, 8 * n_classes + 1)).reshape(8, n_classes)
    direction = np.cos(np.arange(1.0, scores.size + 1)).reshape(scores.shape)
    labels = np.eye(n_classes)[np.arange(8) % n_classes]
    target = as_target(labels, scores.shape, scores.dtype, polytope)
    linear = loss.linearize(scores.copy(), target)
    if not isinstance(linear, LossLinearization):
        raise ValueError(
            f"linearize of {loss!r} must return a LossLinearization; it returned a "
            f"{type(linear).__name__}."
        )
    gradient = linear.residual()
    product = linear.hessian_product(direction.copy())
    step = 1e-4
    ahead, _ = loss.evaluate(scores + step * direction, target)
    behind, _ = loss.evaluate(scores - step * direction, target)
    for what, array, shape in (
        ("values", linear.values, (8,)),
        ("values", ahead, (8,)),
        ("a gradient", gradient, scores.shape),
        ("a Hessian product", product, scores.shape),
    ):
        if np.shape(array) != shape or not np.isfinite(array).all():
            raise ValueError(
                f"The loss must give {what} of shape {shape} for these scores, finite "
                f"numbers; {loss!r} gave {np.array2string(np.asarray(array))[:80]}."
            )
    slopes, expected = (ahead - behind) / (2 * step), (gradient * direction).sum(axis=1)
    off, size = np.abs(expected - slopes), np.abs(slopes).max()
    # The gradient of a row may differ from the slope where the loss has a kink.
    if np.count_nonzero(off > 0.02 * size + 1e-6) > len(off) / 2:
        raise ValueError(
            f"The gradient of {loss!r} must agree with differences of its values; "
            f"slopes differ by up to {off.max():.3g}, and the largest is {size:.3g}."
        )


def _check_two_classes(mapping, dtype):
    """Raise if the probabilities of two classes do not depend on the size of u."""
    difference = np.array([[0.25], [0.5], [1.0], [2.0], [3.0]], dtype=dtype)
    both = np.concatenate([difference, -difference])
    p = np.asarray(mapping.probabilities(scores_of(both)))
    is_even = np.abs(p - 0.5).max() <= 1e-6
    if is_even or mapping.traits.is_scale_invariant:
        fact = "always 1/2" if is_even else "only by the sign of u"
        raise ValueError(
            "The scores of two classes are -u/2 and u/2, and their probabilities must "
            f"depend on the size of u; the probabilities of {mapping!r} are "
            f"{'' if is_even else 'changed '}{fact}. Take a function that is neither "
            "symmetric about zero nor a power, such as that of the score plus one."
        )
