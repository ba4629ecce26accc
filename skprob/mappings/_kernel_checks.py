"""Checks of what the kernels of a user's mapping return.

A call checks the probabilities of its rows. Before a fit, derivatives, potential and
entropy are compared with the probabilities on a few rows of scores. Otherwise a fit
with a wrong derivative could stop far from the minimum, and a method could return
numbers that are no probabilities.
"""

import numpy as np

from .._utils.arrays import is_foreign
from .._utils.checks import as_marginals
from ._linearization import Linearization

_PACKAGE = __name__.partition(".")[0]
# Largest error of a sum of probabilities, for kernels in single precision.
_ROUNDING = 1e-3
# Largest error of a derivative, relative to the largest one, and step of differences.
_TOLERANCE, _STEP = 0.02, 1e-4


def is_of_user(object_):
    """Whether the class of an object is defined outside this package."""
    return type(object_).__module__.partition(".")[0] != _PACKAGE


def check_result(mapping, what, array, shape):
    """Raise if the result of a kernel of a mapping is no array of numbers of a shape.

    Returns
    -------
    array : ndarray
    """
    fact = ""
    if not isinstance(array, np.ndarray):
        fact = f"a {type(array).__name__}"
    elif array.dtype.kind not in "fiub":
        fact = f"{array.shape} of dtype {array.dtype}"
    elif array.shape != shape:
        fact = f"{array.shape}"
    elif np.isnan(array).any() and what != "probabilities":
        fact = "NaN, which is not finite"
    elif what == "a potential" and np.isinf(array).any():
        fact = "infinity, which is not finite"
    if fact:
        raise ValueError(
            f"The mapping must give {what} of shape {shape} for these scores, in an "
            f"array of real numbers; {mapping!r} gave {fact}."
        )
    return array


def check_probabilities(mapping, p, shape):
    """Raise if the probabilities of a kernel are not in the mapping's polytope.

    Returns
    -------
    p : ndarray
    """
    p = check_result(mapping, "probabilities", p, shape)
    if mapping.traits.polytope == "cube":
        as_marginals(p, f"the values of {mapping!r}")
        return p
    off = np.abs(p.sum(axis=1) - 1).max(initial=0)
    if not (off <= _ROUNDING and p.min(initial=0) >= 0):
        hint = ""
        if is_of_user(mapping) and mapping.traits.is_shift_invariant:
            hint = (
                " The largest score of each row is zero here, unless the class has "
                "traits = Traits(is_shift_invariant=False)."
            )
        raise ValueError(
            "The mapping must give non-negative probabilities that sum to one; "
            f"{mapping!r} gave rows with the least entry {p.min():.6g} and sums that "
            f"are off by {off:.6g}.{hint}"
        )
    return p


def checked_kernel(mapping, what, kernel):
    """A kernel of a mapping that checks its result, if the mapping is a user's."""
    if not is_of_user(mapping):
        return kernel

    def checked(rows, *others):
        if is_foreign(rows):
            return kernel(rows, *others)
        shape = rows.shape
        result = kernel(rows, *others)
        if what == "probabilities":
            return check_probabilities(mapping, result, shape)
        is_number = what in ("a potential", "an entropy")
        return check_result(mapping, what, result, shape[:1] if is_number else shape)

    return checked


def checked_linearization(mapping, scores):
    """The linearization of a mapping at standard scores, if it is one."""
    linear = mapping.linearize(scores)
    if not isinstance(linear, Linearization):
        raise ValueError(
            f"linearize of {mapping!r} must return a skprob.mappings.Linearization; it "
            f"returned a {type(linear).__name__}."
        )
    return linear


def checked_potential(mapping, scores):
    """The potential of a mapping at standard scores, if there is one."""
    both = mapping.probabilities_and_potential(scores)
    if not (isinstance(both, tuple) and len(both) == 2):
        raise ValueError(
            f"probabilities_and_potential of {mapping!r} must return a pair: the "
            f"probabilities and the potential; it returned a {type(both).__name__}."
        )
    return both[1]


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
    if not off <= _ROUNDING:
        raise ValueError(
            "The mapping must give each row probabilities that do not depend on other "
            f"rows; with {mapping!r} those of a row alone differ by {off:.3g}."
        )
    direction = np.cos(np.arange(1.0, scores.size + 1)).reshape(scores.shape)
    if mapping.traits.is_shift_invariant:
        # The largest scores remain zero.
        direction[scores == scores.max(axis=1, keepdims=True)] = 0
    ahead, behind = scores + _STEP * direction, scores - _STEP * direction
    if _defines(mapping, "linearize"):
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
    if not off <= _ROUNDING:
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


def _defines(mapping, method):
    """Whether a class of the user defines a method."""
    return any(
        method in vars(cls)
        for cls in type(mapping).__mro__
        if cls.__module__.partition(".")[0] != _PACKAGE
    )
