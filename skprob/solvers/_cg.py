"""Preconditioned conjugate gradients."""

from typing import NamedTuple

import numpy as np


class Conjugate(NamedTuple):
    """Directions s_i that are conjugate, their products y_i = H s_i, and ⟨s_i, y_i⟩."""

    directions: np.ndarray  #: (n_groups, n_directions, n)
    products: np.ndarray  #: (n_groups, n_directions, n)
    curvatures: np.ndarray  #: (n_groups, n_directions)


class Step(NamedTuple):
    """A step that lowers a quadratic model."""

    step: np.ndarray
    n_products: int
    least_curvature: float  #: Along the directions taken, each of length one.
    taken: Conjugate  #: The first of these directions.


def conjugate_gradients(
    hessian_product, gradient, inverse, *, residual, n_groups=1, n_kept=0
):
    """Minimise a quadratic model roughly.

    The model is ⟨gradient, s⟩ + ½ ⟨s, H s⟩. A direction whose curvature is not positive
    ends the step before it; if it is the first, it is the step. A length is the root of
    ⟨s, B⁻¹ s⟩, that of a gradient the root of ⟨gradient, B gradient⟩, where B is about
    the inverse of H: ``inverse.times(gradient)`` is B gradient and ⟨gradient, B
    gradient⟩ of each group. It stops where the length of the residual is at most
    `residual` times that of the gradient, or where a product adds less than a fifth of
    the average to the decrease. At most `n_kept` directions are kept.

    The parameters fall into `n_groups` of the same size that neither H nor B couples.
    Each group is minimised as if it were alone, and all of them share the products.

    References
    ----------
    Nocedal, Wright, "Numerical Optimization", 2006, section 7.1.

    Nash, Sofer, "Assessing a search direction within a truncated-Newton method",
    Operations Research Letters 1990.
    """
    shape = n_groups, len(gradient) // n_groups
    groups = [_one_group(row, residual, n_kept) for row in gradient.reshape(shape)]
    rests = {i: next(group) for i, group in enumerate(groups)}
    steps, n_products = [None] * n_groups, 0

    def answer(answers):
        """Answer the groups; returns what those that go on ask next."""
        asked = {}
        for i, given in answers:
            try:
                asked[i] = groups[i].send(given)
            except StopIteration as end:
                steps[i] = end.value
        return asked

    while rests:
        conjugate, squares = inverse.times(_rows(rests, shape))
        found = zip(conjugate, squares.tolist(), strict=True)
        directions = answer((i, part) for i, part in enumerate(found) if i in rests)
        if not directions:
            break
        n_products += 1
        product = hessian_product(_rows(directions, shape).reshape(-1)).reshape(shape)
        rests = answer((i, product[i]) for i in directions)
    step, least, taken = zip(*steps, strict=True)
    return Step(np.concatenate(step), n_products, min(least), _in_one(taken, shape))


def _one_group(gradient, residual, n_kept):
    """A generator that asks for B times a rest, and H times a direction, by turns."""
    step, rest = np.zeros_like(gradient), -gradient
    direction, square = yield rest
    start, taken, decrease, least = square, [], 0.0, np.inf
    if square == 0:
        return step, least, taken
    # Squared length of the direction, by recurrence.
    length, rounding = square, np.finfo(float).eps
    for n_products in range(1, len(gradient) + 1):
        product = yield direction
        curvature = float(direction @ product)
        least = min(least, curvature / length)
        if not curvature > rounding * length:
            step = step if n_products > 1 else direction
            break
        if len(taken) < n_kept:
            taken.append((direction, product, curvature))
        ahead = square / curvature
        step += ahead * direction
        gain = ahead * square / 2
        decrease += gain
        if gain <= 0.2 * decrease / n_products:
            break
        rest = rest - ahead * product
        conjugate, new = yield rest
        if new <= residual**2 * start:
            break
        direction = conjugate + new / square * direction
        length = new + (new / square) ** 2 * length
        square = new
    return step, least, taken


def _rows(parts, shape):
    """The parts as rows of an array; other rows are zero."""
    if shape[0] == 1:
        return parts[0][None]
    rows = np.zeros(shape)
    rows[list(parts)] = list(parts.values())
    return rows


def _in_one(taken, shape):
    """Directions of all groups; a group with fewer than others has zeros."""
    n_groups, size = shape
    n_kept = max(map(len, taken))
    directions, products = np.zeros((2, n_groups, n_kept, size))
    curvatures = np.ones((n_groups, n_kept))
    for k, of_group in enumerate(taken):
        for j, found in enumerate(of_group):
            directions[k, j], products[k, j], curvatures[k, j] = found
    return Conjugate(directions, products, curvatures)
