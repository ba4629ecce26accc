"""Conjugate gradients inside a ball."""

import math
from typing import NamedTuple

import numpy as np

_EPS = float(np.finfo(float).eps)


class Step(NamedTuple):
    """A step that lowers a quadratic model.

    Attributes
    ----------
    step : ndarray
    decrease : float
        By which the model falls along it; positive.
    at_boundary : bool
        Whether the ball ended it.
    n_products : int
    least_curvature : float
        Least curvature of the model along the directions that were met, each of
        length one.
    """

    step: np.ndarray
    decrease: float
    at_boundary: bool
    n_products: int
    least_curvature: float


def truncated_conjugate_gradients(
    hessian_product, gradient, radius, *, residual, max_products
):
    """Minimise a quadratic model inside a ball, roughly.

    The model is ⟨gradient, s⟩ + ½ ⟨s, H s⟩. Directions without curvature, or with a
    negative one, are followed to the boundary.

    Parameters
    ----------
    hessian_product : callable
    gradient : ndarray
        Not zero.
    radius : float
    residual : float
        Stop where the residual is so small, in units of the gradient, or where a
        product adds less than a fifth of the average to the decrease.
    max_products : int

    Returns
    -------
    step : Step

    References
    ----------
    Steihaug, "The conjugate gradient method and trust regions in large scale
    optimization", SIAM Journal on Numerical Analysis 1983.

    Nash, Sofer, "Assessing a search direction within a truncated-Newton method",
    Operations Research Letters 1990.
    """
    step = np.zeros_like(gradient)
    rest = -gradient
    direction = rest.copy()
    square = start = float(rest @ rest)
    # The step is nowhere longer than its parts together.
    decrease, least, reach = 0.0, np.inf, 0.0
    for n_products in range(1, max_products + 1):
        product = hessian_product(direction)
        bend, length = float(direction @ product), float(direction @ direction)
        least = min(least, bend / length)
        ahead = square / bend if bend > _EPS * length else np.inf
        reach += ahead * math.sqrt(length)
        if reach >= radius:
            limit = _to_boundary(step, direction, length, radius)
            if ahead >= limit:
                step += limit * direction
                decrease += limit * square - limit**2 * bend / 2
                return Step(step, decrease, True, n_products, least)
        step += ahead * direction
        gain = ahead * square / 2
        decrease += gain
        rest -= ahead * product
        new = float(rest @ rest)
        if new <= residual**2 * start or n_products * gain <= 0.2 * decrease:
            break
        direction *= new / square
        direction += rest
        square = new
    return Step(step, decrease, False, n_products, least)


def _to_boundary(step, direction, length, radius):
    """How many times `direction` can be added to `step` inside the ball."""
    if np.isinf(radius):
        return np.inf
    along = float(step @ direction)
    room = max(radius**2 - float(step @ step), 0.0)
    root = np.sqrt(along**2 + length * room)
    # The form that does not cancel.
    return room / (along + root) if along > 0 else (root - along) / length
