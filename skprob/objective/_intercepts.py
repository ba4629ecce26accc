"""The best intercepts for given coefficients."""

import numpy as np
from scipy.optimize import minimize

from ._block import check_finite, linearize_loss, raw_predictions, weighted_total

# What is left of the gradient; each intercept is in units of its curvature.
_PRECISION = 1e-3
# Raw predictions and probabilities of all rows are held in memory up to so many numbers
# (128 MiB each), or 8 for each number of X.
_MOST_PREDICTIONS = 1 << 24


def can_be_moved(description):
    """Whether the raw predictions of all rows fit, which the best intercepts take."""
    n_predictions = description.n_rows * description.shape[0]
    return n_predictions <= max(8 * description.n_stored, _MOST_PREDICTIONS)


def best_intercepts(objective, problem, parameters):
    """Move the intercepts nearly to where they are best for the coefficients.

    Returns the parameters, and the value and the gradient of the objective there. X is
    read for the raw predictions, which are all that matters for the intercepts, and for
    the gradient at the end. SciPy's trust-region Newton method finds the intercepts.
    """
    loss = objective.loss
    points = parameters.reshape(1, *objective.shape)
    objective.count(0.5)
    rows = objective.blocks.map(_predict, points)
    kept = {}

    def states(shift):
        # SciPy asks for products where it has asked for the value.
        key = shift.tobytes()
        if key not in kept:
            kept.clear()  # They take as much memory as the probabilities.
            kept[key] = rows.map(_Shifted, shift, loss)
        return kept[key]

    def value_and_gradient(variables):
        value, gradient = states(scale * variables).sum(_Shifted.value_and_gradient)
        return float(value), scale * gradient

    def product(variables, direction):
        along = scale * direction
        return scale * states(scale * variables).sum(_Shifted.product, along)[0]

    start = np.zeros(objective.shape[0])
    (curvature,) = states(start).sum(_Shifted.curvature)
    usable = curvature > np.finfo(float).eps * curvature.max()
    scale = 1 / np.sqrt(curvature, out=np.ones_like(start), where=usable)
    slope = np.linalg.norm(value_and_gradient(start)[1])
    how = {"method": "trust-ncg", "jac": True, "options": {"gtol": _PRECISION * slope}}
    found = minimize(value_and_gradient, start, hessp=product, **how).x
    # Free the memory of the rows before the next pass.
    kept.clear()
    points = points.copy()
    points[0, :, -1] += scale * found
    values, gradients = objective.value_and_gradient(points, [problem])
    return points.ravel(), float(values[0]), gradients[0]


def _predict(block, points):
    return block.target, block.weight, raw_predictions(block.design, points)


class _Shifted:
    """The loss of a block's rows as a function of what is added to the intercepts."""

    def __init__(self, rows, shift, loss):
        target, self._weight, self._predictions = rows
        predictions = self._predictions + shift.astype(self._predictions.dtype)
        linear, self._loss = linearize_loss(loss, predictions, target), loss
        self._value = weighted_total(linear.values, self._weight)[0]
        self._gradient = self._weight @ linear.gradient
        self._product, self._diagonal = linear.hessian_product, linear.hessian_diagonal

    def value_and_gradient(self):
        return self._value, self._gradient.copy()

    def curvature(self):
        diagonal = self._diagonal()
        check_finite("second derivative of the loss", diagonal, self._loss)
        return (self._weight @ diagonal,)

    def product(self, direction):
        # In the layout of what it is multiplied with.
        along = np.empty_like(self._predictions)
        along[...] = direction
        return (self._weight @ self._product(along),)
