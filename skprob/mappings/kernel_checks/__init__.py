"""Checks of the kernels of mappings that users write.

A call checks what a kernel returns: `_results.py`. Before a fit, derivatives, potential
and entropy are compared with the probabilities on a few rows of scores:
`_derivatives.py`. Otherwise a fit with a wrong derivative could stop far from the
minimum. At the first use of a class it is tested whether it is shift invariant, because
kernels get shifted scores: `_shift_invariance.py`.
"""

from ._derivatives import check_derivatives
from ._results import (
    check_probabilities,
    checked_kernel,
    checked_linearization,
    checked_potential,
    is_of_user,
)
from ._shift_invariance import check_shift_invariance

__all__ = [
    "check_derivatives",
    "check_probabilities",
    "check_shift_invariance",
    "checked_kernel",
    "checked_linearization",
    "checked_potential",
    "is_of_user",
]
