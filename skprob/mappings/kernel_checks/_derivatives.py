"""Comparison of kernels of a user's mapping with its probabilities, before a fit."""

import numpy as np

from ._results import (
    PACKAGE,
    ROUNDING,
    check_result,
    checked_linearization,
    checked_potential,
)

# Largest error of a derivative, relative to the largest one, and step of differences.
_TOLERANCE, _STEP = 0.02, 1e-4


def check_derivatives(mapping, scores):
    """Raise if kernels do not agree with the probabilities at standard scores.

    The probabilities of a row must not depend on other rows. The other kernels are
    `linearize`, if the mapping defines it, and the potential and the entropy, if the
    mapping declares a potential.

    Parameters
    ----------
    mapping : Mapping
    scores : ndarray of float64 of shape (n_samples, n_classes)
        Standard scores, all different.
    """
    p = mapping.probabilities(scores.copy()).astype(np.float64)
    off = np.abs(mapping.probabilities(scores[:1].copy()) - p[:1]).max()
    if not off <= ROUNDING:
        raise ValueError(
            "The mapping must give each row probabilities that do not depend on other "
            f"rows; with {mapping!r} those of a row alone differ by {off:.3g}."
        )
    direction = np.cos(np.arange(1.0, scores.size + 1)).reshape(scores.shape)
    if mapping.traits.is_shift_invariant:
        # The largest scores remain zero.
        direction[scores == scores.max(axis=1, keepdims=True)] = 0
    ahead, behind = scores + _STEP * direction, scores - _STEP * direction
    if _defines_linearize(mapping):
        change = mapping.probabilities(ahead.copy())
        change = change - mapping.probabilities(behind.copy())
        slopes = change / (2 * _STEP)
        _check_linearization(mapping, scores, p, direction, slopes)
    if mapping.traits.has_potential:
        _check_potential(mapping, scores, p, direction, (ahead, behind))


def _check_linearization(mapping, scores, p, direction, slopes):
    linear = checked_linearization(mapping, scores.copy())
    value = check_result(mapping, "probabilities", linear.probabilities, p.shape)
    off = np.abs(value - p).max()
    if not off <= ROUNDING:
        raise ValueError(
            f"linearize of {mapping!r} must have the probabilities of its method "
            f"probabilities; they differ by {off:.6g}."
        )
    what = "a Jacobian product"
    jvp = check_result(mapping, what, linear.jvp(direction.copy()), p.shape)
    _check_close(f"jvp of the linearization of {mapping!r}", jvp, slopes)
    # The inner product of vjp(p) and the direction is that of p and jvp(direction).
    vjp = check_result(mapping, what, linear.vjp(p.copy()), p.shape)
    inner = (vjp * direction).sum(axis=1), (p * jvp).sum(axis=1)
    _check_close(f"vjp of the linearization of {mapping!r}", *inner, of="its jvp")


def _check_potential(mapping, scores, p, direction, points):
    n_rows = len(scores)
    ahead, behind = (
        check_result(
            mapping, "a potential", checked_potential(mapping, z.copy()), (n_rows,)
        )
        for z in points
    )
    gradient = p
    if mapping.traits.polytope == "cube":
        # The kernel omits the sum of the positive scores.
        gradient = p - (scores > 0)
    expected = (gradient * direction).sum(axis=1)
    slopes = (ahead - behind) / (2 * _STEP)
    _check_close(
        f"The slopes of the potential of {mapping!r}",
        slopes,
        expected,
        of="those of its probabilities, which must be its gradient",
    )
    omega = check_result(
        mapping, "an entropy", mapping.negative_entropy(p.copy()), (n_rows,)
    )
    total = checked_potential(mapping, scores.copy())
    if mapping.traits.polytope == "cube":
        total = total + np.maximum(scores, 0).sum(axis=1)
    off = np.abs(total - (p * scores).sum(axis=1) + omega).max()
    if not off <= _TOLERANCE * max(1, np.abs(total).max()):
        raise ValueError(
            "The potential must be the expected score plus the entropy, ⟨p, z⟩ - Ω(p); "
            f"those of {mapping!r} differ by {off:.3g}."
        )


def _check_close(name, values, expected, of="differences of its probabilities"):
    """Raise if more than half of the rows differ: at a kink one row may."""
    size = np.abs(expected).max()
    off = np.abs(values - expected)
    off = off.reshape(len(off), -1).max(axis=1)
    # A comparison with NaN is false.
    wrong = ~(off <= _TOLERANCE * size + 1e-6)
    if np.count_nonzero(wrong) > len(wrong) / 2:
        raise ValueError(
            f"{name} must agree with {of}; they differ by up to {off.max():.3g}, and "
            f"the largest is {size:.3g}."
        )


def _defines_linearize(mapping):
    """Whether a class of the user defines `linearize`."""
    return any(
        "linearize" in vars(cls)
        for cls in type(mapping).__mro__
        if cls.__module__.partition(".")[0] != PACKAGE
    )
