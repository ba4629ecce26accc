"""Whether a mapping is shift invariant, as its class says."""

from weakref import WeakSet

import numpy as np

# Classes of users whose kernel was found to be shift invariant where they say so.
_TRIED = WeakSet()


def check_shift_invariance(mapping):
    """Raise if a user's class says so wrongly, when it is used for the first time.

    Kernels get shifted scores, so that the probabilities would be wrong.
    """
    cls = type(mapping)
    is_ours = cls.__module__.partition(".")[0] == __name__.partition(".")[0]
    if is_ours or not mapping.traits.is_shift_invariant or cls in _TRIED:
        return
    scores = np.array([[0.0, -0.25, -1.0], [-2.0, 0.0, -0.5]])
    p = np.asarray(mapping.probabilities(scores.copy()))
    for shift in (0.5, -0.5):
        try:
            with np.errstate(all="ignore"):
                moved = np.asarray(mapping.probabilities(scores + shift))
                off = np.abs(moved - p).max()
                is_valid = moved.min() >= 0 and np.all(
                    np.abs(moved.sum(axis=1) - 1) <= 1e-6
                )
        except (ArithmeticError, ValueError):
            continue  # It may rely on a largest score of zero.
        if is_valid and off > 1e-3:
            raise ValueError(
                f"{mapping!r} says that it is shift invariant, but for scores that "
                f"are raised by {shift} its kernel gives probabilities that are "
                f"up to {off:.3g} off. Set "
                "traits = Traits(is_shift_invariant=False) in the class "
                f"{cls.__name__}, or let `probabilities` subtract the largest "
                "score of each row."
            )
    _TRIED.add(cls)
