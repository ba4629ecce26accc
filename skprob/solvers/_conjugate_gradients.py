"""Preconditioned conjugate gradients inside a ball."""

import math
from typing import NamedTuple

import numpy as np

_EPS = float(np.finfo(float).eps)
# Of a curvature, less than this is not told from rounding after a subtraction.
_ROUNDED = 1e-6


class ConjugateDirections(NamedTuple):
    """Directions that conjugate gradients took, each conjugate to the others.

    Attributes
    ----------
    directions, products : ndarray of shape (n_directions, n_parameters)
        What a Hessian makes of the directions.
    curvatures : ndarray of shape (n_directions,)
        ⟨direction, product⟩, positive.
    """

    directions: np.ndarray
    products: np.ndarray
    curvatures: np.ndarray

    def scaled(self, part):
        """The same under so many times the Hessian."""
        return self._replace(
            products=part * self.products, curvatures=part * self.curvatures
        )

    def with_penalty(self, l2, n_coefs):
        """The same under a Hessian to which l2 was added, for the first parameters.

        If it is negative, directions of which rounding is all that is left are dropped.
        """
        coefs, products = self.directions[:, :n_coefs], self.products.copy()
        products[:, :n_coefs] += l2 * coefs
        curvatures = self.curvatures + l2 * np.einsum("ij,ij->i", coefs, coefs)
        left = curvatures > _ROUNDED * self.curvatures
        return ConjugateDirections(
            self.directions[left], products[left], curvatures[left]
        )


class Step(NamedTuple):
    """A step that lowers a quadratic model.

    Attributes
    ----------
    step : ndarray of shape (n_parameters,)
    length : float
        Of the step, as all lengths here.
    decrease : float
        By which the model falls along it; positive.
    at_boundary : bool
        Whether the ball ended it.
    n_products : int
    least_curvature : float
        Least curvature of the model along the directions that were met, each of
        length one.
    met : ConjugateDirections
        The first of those.
    """

    step: np.ndarray
    length: float
    decrease: float
    at_boundary: bool
    n_products: int
    least_curvature: float
    met: ConjugateDirections


def truncated_conjugate_gradients(
    hessian_product,
    gradient,
    inverse,
    radius,
    *,
    residual,
    max_products,
    step_cost=0,
    n_kept=0,
    downhill=None,
):
    """Minimise a quadratic model inside a ball, roughly.

    The model is ⟨gradient, s⟩ + ½ ⟨s, H s⟩. Directions without curvature, or with a
    negative one, are followed to the boundary. A length is the root of ⟨s, B⁻¹ s⟩,
    that of a gradient the root of ⟨gradient, B gradient⟩, where B is about the inverse
    of H.

    Parameters
    ----------
    hessian_product : callable
    gradient : ndarray of shape (n_parameters,)
        Not zero.
    inverse : InverseHessian
        B, or anything else with ``times(gradient)``.
    radius : float
    residual : float
        Stop where the residual is so small, in units of the gradient, or where a
        product adds less than a fifth of the average to the decrease.
    max_products : int
    step_cost : float, default=0
        So many products count in the average beside those that were made: what is
        left out for the next step costs them once more.
    n_kept : int, default=0
        Directions to keep, at most.
    downhill : tuple, default=None
        ``inverse.times(-gradient)``, where it is known.

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
    step, rest = np.zeros_like(gradient), -gradient
    direction, square = inverse.times(rest) if downhill is None else downhill
    start, kept = square, []
    # Squared lengths of direction and step, and their inner product, by recurrence.
    of_direction, of_step, across = square, 0.0, 0.0
    decrease, least, at_boundary = 0.0, np.inf, False
    for n_products in range(1, max_products + 1):
        product = hessian_product(direction)
        bend = float(direction @ product)
        least = min(least, bend / of_direction)
        bends = bend > _EPS * of_direction
        if bends and len(kept) < n_kept:
            kept.append((direction, product, bend))
        ahead = square / bend if bends else np.inf
        limit = _to_boundary(of_step, across, of_direction, radius)
        at_boundary = ahead >= limit
        ahead = min(ahead, limit)
        step += ahead * direction
        gain = ahead * square - ahead**2 * bend / 2
        decrease += gain
        of_step += ahead * (2 * across + ahead * of_direction)
        if at_boundary:
            break
        if gain <= 0.2 * decrease / (n_products + step_cost):
            break
        # Not in place: coordinates may leave a gradient as it is.
        rest = rest - ahead * product
        conjugate, new = inverse.times(rest)
        if new <= residual**2 * start:
            break
        part = new / square
        across = part * (across + ahead * of_direction)
        of_direction = new + part**2 * of_direction
        direction = conjugate + part * direction
        square = new
    met = _as_arrays(kept, len(gradient))
    length = math.sqrt(of_step)
    return Step(step, length, decrease, at_boundary, n_products, least, met)


def _to_boundary(of_step, across, of_direction, radius):
    """How many times a direction can be added to a step inside the ball."""
    if np.isinf(radius):
        return np.inf
    room = max(radius**2 - of_step, 0.0)
    root = math.sqrt(across**2 + of_direction * room)
    # The form that does not cancel.
    return room / (across + root) if across > 0 else (root - across) / of_direction


def _as_arrays(kept, n_parameters):
    if not kept:
        none = np.empty((0, n_parameters))
        return ConjugateDirections(none, none, np.empty(0))
    return ConjugateDirections(*map(np.array, zip(*kept, strict=True)))
