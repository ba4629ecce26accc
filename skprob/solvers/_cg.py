"""Preconditioned conjugate gradients."""

from typing import NamedTuple

import numpy as np


class Conjugate(NamedTuple):
    """Directions s_i that are conjugate, their products y_i = H s_i, and ⟨s_i, y_i⟩."""

    directions: np.ndarray
    products: np.ndarray
    curvatures: np.ndarray


class Step(NamedTuple):
    """A step that lowers a quadratic model."""

    step: np.ndarray
    n_products: int
    least_curvature: float  #: Along the directions taken, each of length one.
    taken: Conjugate  #: The first of these directions.


def conjugate_gradients(hessian_product, gradient, inverse, *, residual, n_kept=0):
    """Minimise a quadratic model roughly.

    The model is ⟨gradient, s⟩ + ½ ⟨s, H s⟩. A direction whose curvature is not positive
    ends the step before it; if it is the first, it is the step. A length is the root of
    ⟨s, B⁻¹ s⟩, that of a gradient the root of ⟨gradient, B gradient⟩, where B is about
    the inverse of H: ``inverse.times(gradient)`` is B gradient and ⟨gradient, B
    gradient⟩, not zero. It stops where the length of the residual is at most `residual`
    times that of the gradient, or where a product adds less than a fifth of the average
    to the decrease. At most `n_kept` directions are kept.

    References
    ----------
    Nocedal, Wright, "Numerical Optimization", 2006, section 7.1.

    Nash, Sofer, "Assessing a search direction within a truncated-Newton method",
    Operations Research Letters 1990.
    """
    step, rest = np.zeros_like(gradient), -gradient
    direction, square = inverse.times(rest)
    start, kept, decrease, least = square, [], 0.0, np.inf
    # Squared length of the direction, by recurrence.
    length, rounding = square, np.finfo(float).eps
    for n_products in range(1, len(gradient) + 1):
        product = hessian_product(direction)
        curvature = float(direction @ product)
        least = min(least, curvature / length)
        if not curvature > rounding * length:
            step = step if n_products > 1 else direction
            break
        if len(kept) < n_kept:
            kept.append((direction, product, curvature))
        ahead = square / curvature
        step += ahead * direction
        gain = ahead * square / 2
        decrease += gain
        if gain <= 0.2 * decrease / n_products:
            break
        rest = rest - ahead * product
        conjugate, new = inverse.times(rest)
        if new <= residual**2 * start:
            break
        direction = conjugate + new / square * direction
        length = new + (new / square) ** 2 * length
        square = new
    none = np.empty((0, len(gradient)))
    taken = map(np.array, zip(*kept, strict=True)) if kept else (none, none, none[:, 0])
    return Step(step, n_products, least, Conjugate(*taken))
