"""A check, once for each class, that a user's mapping is shift invariant as declared.

Kernels get shifted scores, so the probabilities of a class whose declaration is wrong
would be wrong.
"""

from weakref import WeakSet

import numpy as np

from ._results import check_probabilities

# Classes that passed the check.
_TRIED: WeakSet = WeakSet()


def check_shift_invariance(mapping, n_classes=3):
    """Raise at the first use of a user's class whose declaration is wrong.

    If the kernel raises for this number of classes, the check is postponed.
    """
    cls = type(mapping)
    if not mapping.traits.is_shift_invariant or cls in _TRIED:
        return
    scores = 2 * np.sin(np.arange(1.0, 2 * n_classes + 1)).reshape(2, n_classes)
    scores -= scores.max(axis=1, keepdims=True)
    try:
        p = mapping.probabilities(scores.copy())
    except Exception:  # It may need another number of classes.
        return
    p = check_probabilities(mapping, p, scores.shape)
    for shift in (0.5, -0.5):
        try:
            with np.errstate(all="ignore"):
                moved = np.asarray(mapping.probabilities(scores + shift))
                off = np.abs(moved - p).max()
                is_valid = moved.min() >= 0 and np.all(
                    np.abs(moved.sum(axis=1) - 1) <= 1e-6
                )
        except (ArithmeticError, ValueError):
            continue  # The kernel may need a largest score of zero.
        if is_valid and off > 1e-3:
            raise ValueError(
                f"{mapping!r} declares that it is shift invariant, but its kernel's "
                f"probabilities change by up to {off:.3g} if {shift} is added to the "
                "scores. Set "
                "traits = Traits(is_shift_invariant=False) in the class "
                f"{cls.__name__}, or let `probabilities` subtract the largest "
                "score of each row."
            )
    _TRIED.add(cls)
