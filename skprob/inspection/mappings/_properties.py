"""Properties that a mapping may have.

Each property is a function ``(mapping, scores, rng)`` that searches rows of scores
(n_samples, n_classes) for some at which the property does not hold. It returns a
:class:`Counterexample`, or None if it finds no such rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Integrals, such as perturb-max, have an error of about 1e-10.
_TOLERANCE = 1e-8
# Number of points of a circle of scores. On a circle of many small steps the gain is
# due to the asymmetry of the Jacobian. With few steps the symmetric part is larger.
_CIRCLE = 512
# Number of circles for each set of trial scores and each reach: 72 in a whole search.
_N_CIRCLES = 2


@dataclass(frozen=True)
class Counterexample:
    """Scores at which a mapping does not have a property.

    Attributes
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        The rows that are needed to show it.
    probabilities : ndarray of shape (n_rows, n_classes)
        The probabilities of these scores; NaN where the mapping raises an error.
    reason : str
        Explanation of what is wrong with them.
    """

    scores: np.ndarray
    probabilities: np.ndarray
    reason: str


def on_simplex(mapping, scores, rng):
    """Probabilities are not negative and sum to one, for scores of any finite size."""
    sizes = 10.0 ** rng.uniform(-300, 300, (len(scores), 1))
    signs = np.sign(scores)
    for rows in (scores, signs * sizes, signs * 10.0 ** rng.uniform(-3, 300)):
        p = _values(mapping, rows)
        off = np.abs(p.sum(axis=1) - 1)
        # NaN, for a row without probabilities, has an infinite error.
        off[np.isnan(off) | (p < 0).any(axis=1)] = np.inf
        worst = off.argmax()
        if off[worst] > 4 * p.shape[1] * np.finfo(p.dtype).eps:
            reason = "The probabilities are negative or NaN, or do not sum to one."
            return Counterexample(rows[[worst]], p[[worst]], reason)
    return None


def strictly_positive(mapping, scores, rng):
    """Every class has a positive probability: there are no exact zeros."""
    p = _values(mapping, scores)
    zeros = np.count_nonzero(p == 0, axis=1)
    if not zeros.any():
        return None
    row = zeros.argmax()
    reason = f"Class {p[row].argmin() + 1} has probability zero."
    return Counterexample(scores[[row]], p[[row]], reason)


def order_preserving(mapping, scores, rng):
    """A class of a higher score never has a lower probability."""
    p = _values(mapping, scores)
    higher = scores[:, :, None] > scores[:, None, :]
    excess = np.where(higher, p[:, None, :] - p[:, :, None], 0)
    n, i, j = np.unravel_index(excess.argmax(), excess.shape)
    if not excess[n, i, j] > _TOLERANCE:
        return None
    reason = (
        f"Class {i + 1} has a higher score than class {j + 1}, but a lower probability."
    )
    return Counterexample(scores[[n]], p[[n]], reason)


def shift_invariant(mapping, scores, rng):
    """A constant added to all scores of a row does not change its probabilities."""
    shifted = scores + rng.choice([-2.0, -1.0, 1.0, 2.0], (len(scores), 1))
    p, q = _values(mapping, scores), _values(mapping, shifted)
    row = _most_different(p, q)
    if row is None:
        return None
    return Counterexample(
        np.stack([scores[row], shifted[row]]),
        np.stack([p[row], q[row]]),
        "The rows of scores differ by a constant, but their probabilities differ.",
    )


def permutation_equivariant(mapping, scores, rng):
    """Permuted scores have the same probabilities, permuted alike."""
    order = rng.permuted(np.tile(np.arange(scores.shape[1]), (len(scores), 1)), axis=1)
    permuted = np.take_along_axis(scores, order, axis=1)
    p, q = _values(mapping, scores), _values(mapping, permuted)
    row = _most_different(np.take_along_axis(p, order, axis=1), q)
    if row is None:
        return None
    names = ", ".join(str(k + 1) for k in order[row])
    return Counterexample(
        np.stack([scores[row], permuted[row]]),
        np.stack([p[row], q[row]]),
        f"The second row has the scores of the first in the order {names}, but its "
        "probabilities are not those of the first in this order.",
    )


def argmax_limit(mapping, scores, rng):
    """As the temperature tends to zero, the best class gets probability one."""
    second, first = np.sort(scores, axis=1)[:, -2:].T
    rows = scores[first - second >= 0.1]
    best = rows.argmax(axis=1)[:, None]
    # If a function overflows, the lowest temperature without NaN or error decides.
    for temperature in 10.0 ** -np.arange(6, 0, -1):
        try:
            with np.errstate(all="ignore"):
                p = mapping(rows / temperature)
        except ValueError:
            continue
        if not np.isnan(p).any():
            break
    else:
        return None
    share = np.take_along_axis(p, best, axis=1)[:, 0]
    worst = share.argmin()
    if share[worst] > 0.99:
        return None
    reason = (
        f"Class {best[worst, 0] + 1} has the highest score, but the probability "
        f"{share[worst]:.3g}. The scores are those of a usual size divided by the "
        f"temperature {temperature:g}."
    )
    return Counterexample((rows / temperature)[[worst]], p[[worst]], reason)


def gradient_of_convex(mapping, scores, rng):
    """The mapping is the gradient of a convex function, its potential.

    This holds if, and only if, for every cycle of scores z_1, ..., z_m, z_1 the sum of
    the <p(z_i), z_{i+1} - z_i> is not positive (Rockafellar 1970, theorem 24.8). The
    test needs no derivatives, so kinks and jumps need no special case.
    """
    shape = (len(scores), 1, scores.shape[1])
    centre = scores[:, None]
    angle = np.linspace(0, 2 * np.pi, _CIRCLE, endpoint=False)[:, None]
    for reach in (2.0, 0.5, 0.125):
        u, v = rng.integers(-4, 5, (2, *shape)) * (reach / 4)
        triangles = np.concatenate([centre, centre + u, centre + v], axis=1)
        p = _values_of_cycles(mapping, triangles)
        for n_points in (2, 3):
            example = _gain_round(triangles[:, :n_points], p[:, :n_points])
            if example is not None:
                return example
        circles = np.cos(angle) * u[:_N_CIRCLES] + np.sin(angle) * v[:_N_CIRCLES]
        circles += centre[:_N_CIRCLES]
        example = _gain_round(circles, _values_of_cycles(mapping, circles))
        if example is not None:
            return example
    return None


def _values_of_cycles(mapping, cycles):
    """Probabilities of cycles of scores (n_cycles, n_points, n_classes)."""
    return _values(mapping, cycles.reshape(-1, cycles.shape[2])).reshape(cycles.shape)


def _gain_round(cycles, p):
    """A counterexample among cycles of scores and their probabilities `p`."""
    for turn in (1, -1):
        z, q = cycles[:, ::turn], p[:, ::turn]
        gains = np.einsum("cmk,cmk->c", q, np.roll(z, -1, axis=1) - z)
        best = np.nan_to_num(gains, nan=-np.inf).argmax()
        if gains[best] > _TOLERANCE * np.abs(z[best]).sum(axis=1).max():
            reason = (
                f"Along the cycle of these {z.shape[1]} rows of scores, which ends at "
                "the first, the sum of the probabilities times the steps of the scores "
                f"is {gains[best]:.3g}; for a gradient it is not positive."
            )
            return Counterexample(z[best], q[best], reason)
    return None


def _values(mapping, scores):
    """Probabilities; NaN in the rows for which the mapping raises an error."""
    with np.errstate(all="ignore"):
        try:
            return mapping(scores)
        except ValueError:
            if len(scores) == 1:
                return np.full_like(scores, np.nan)
        halves = np.array_split(scores, 2)
        return np.concatenate([_values(mapping, half) for half in halves])


def _most_different(p, q):
    """The row with the largest difference of p and q; None if they are equal."""
    gap = np.nan_to_num(np.abs(p - q)).max(axis=1)
    return gap.argmax() if gap.max() > _TOLERANCE else None


#: The properties by name: functions that search for a counterexample. The first line of
#: the docstring defines the property.
PROPERTIES = {
    "on the simplex": on_simplex,
    "strictly positive": strictly_positive,
    "order preserving": order_preserving,
    "shift invariant": shift_invariant,
    "permutation equivariant": permutation_equivariant,
    "argmax limit": argmax_limit,
    "potential": gradient_of_convex,
}
