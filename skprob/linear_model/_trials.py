"""A user's mapping and loss are tried on a few scores, before a fit."""

import numpy as np

from .._utils.checks import as_marginals
from .._utils.scores import standard_scores
from ..data import as_design
from ..objective import n_raw_predictions, scores_of


def trial_scores(X, n_classes, polytope):
    """Scores of some rows under random coefficients, about as large as after a fit.

    For checks of a mapping and a loss on the data at hand; the same at every call.
    """
    X = as_design(X).take(slice(0, 64))
    shape = n_raw_predictions(n_classes, polytope), X.shape[1]
    coef = np.random.default_rng(0).standard_normal(shape)
    predictions = X.matvec(coef)
    predictions = predictions - predictions.mean(axis=0)
    spread = predictions.std(axis=0)
    return scores_of(2 * predictions / np.where(spread > 0, spread, 1))


def check_kernel(mapping, n_classes, dtype):
    """Raise where a user's mapping gives no point of its polytope for each row."""
    # Scores of the size that they have after a fit, all different.
    scores = 3 * np.sin(np.arange(1.0, 8 * n_classes + 1)).reshape(8, n_classes)
    scores = standard_scores(scores.astype(dtype), mapping.traits.is_shift_invariant)
    p = np.asarray(mapping.probabilities(scores.copy()))
    if p.shape != scores.shape:
        raise ValueError(
            f"The mapping must give probabilities of shape {scores.shape} for these "
            f"scores; {mapping!r} gave {p.shape}."
        )
    if mapping.traits.polytope == "cube":
        as_marginals(p, f"the values of {mapping!r}")
        return
    off = np.abs(p.sum(axis=1) - 1).max()
    if not (off <= 1e-3 and p.min() >= 0):
        raise ValueError(
            "The mapping must give non-negative probabilities that sum to one; "
            f"{mapping!r} gave rows with the least entry {p.min():.6g} and sums that "
            f"are off by {off:.6g}."
        )
    if n_classes == 2 and not mapping.traits.is_shift_invariant:
        _check_two_classes(mapping, dtype)


def _check_two_classes(mapping, dtype):
    """Raise where opposite scores have probabilities that do not tell them apart."""
    difference = np.array([[0.25], [0.5], [1.0], [2.0], [3.0]], dtype=dtype)
    both = np.concatenate([difference, -difference])
    p = np.asarray(mapping.probabilities(scores_of(both)))
    is_even = np.abs(p - 0.5).max() <= 1e-6
    if is_even or mapping.traits.is_scale_invariant:
        fact = "always 1/2" if is_even else "only by the sign of u"
        raise ValueError(
            "The scores of two classes are -u/2 and u/2, and the mapping must tell "
            f"them apart by the size of u; the probabilities of {mapping!r} are "
            f"{'' if is_even else 'changed '}{fact}. Take a function that is neither "
            "symmetric about zero nor a power, such as that of the score plus one."
        )
