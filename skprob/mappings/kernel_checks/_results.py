"""Checks of the results of a user's kernels, in each call."""

import numpy as np

from ..._utils.arrays import is_foreign
from ..._utils.checks import as_marginals
from .._linearization import Linearization

#: Name of the package.
PACKAGE = __name__.partition(".")[0]
#: Largest error of a sum of probabilities, for kernels in single precision.
ROUNDING = 1e-3


def is_of_user(object_):
    """Whether the class of an object is defined outside this package."""
    return type(object_).__module__.partition(".")[0] != PACKAGE


def check_result(mapping, what, array, shape):
    """Raise unless the result of a mapping's kernel is an array of numbers of a shape.

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
    if not (off <= ROUNDING and p.min(initial=0) >= 0):
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
