"""The best intercepts for given coefficients."""

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from .._arrays import as_type, beside, namespace, to_numpy
from ._block import check_finite, linearize_loss, raw_predictions, weighted_total

# Newton's steps, and trials of the length of each. Three steps are usual.
_MOST_STEPS = 20
# Raw predictions and probabilities of all rows are held in memory up to so many numbers
# (128 MiB each), or 8 for each number of X.
_MOST_PREDICTIONS = 1 << 24


def can_be_moved(description):
    """Whether the best intercepts can be found in the time of an evaluation.

    They take the raw predictions of all rows in memory, and many sums of small numbers,
    each of which is a round trip where the rows are remote.
    """
    if description.is_remote:
        return False
    n_predictions = description.n_rows * description.shape[0]
    return n_predictions <= max(8 * description.n_stored, _MOST_PREDICTIONS)


def best_intercepts(objective, problem, parameters):
    """Move the intercepts nearly to where they are best for the coefficients.

    Returns the parameters, and the value and the gradient of the objective there. X is
    read for the raw predictions, which are all that matters for the intercepts, and for
    the gradient at the end.
    """
    points = parameters.reshape(1, *objective.shape)
    objective.count(0.5)
    rows = objective.blocks.map(_predict, points)
    points = points.copy()
    points[0, :, -1] += _best_shift(rows, objective.loss, objective.shape[0])
    del rows  # Free their memory before the next pass.
    values, gradients = objective.value_and_gradient(points, [problem])
    return points.ravel(), float(values[0]), gradients[0]


def _best_shift(rows, loss, n_outputs):
    """What to add to the intercepts, by Newton's method.

    A thousandth of the gradient may be left; each intercept is in units of its
    curvature.
    """
    shift = np.zeros(n_outputs)
    states = rows.map(_Shifted, shift, loss)
    (curvature,) = states.sum(_Shifted.curvature)
    usable = curvature > np.finfo(float).eps * curvature.max()
    scale = 1 / np.sqrt(curvature, out=np.ones(n_outputs), where=usable)
    value, gradient = states.sum(_Shifted.value_and_gradient)
    enough = 1e-3 * np.linalg.norm(scale * gradient)
    rounding = np.finfo(float).eps * (10 * abs(value) + 1)
    for _ in range(_MOST_STEPS):
        step = scale * _step(states, scale * gradient, scale)
        slope = step @ gradient
        for _ in range(_MOST_STEPS):
            there = rows.map(_Shifted, shift + step, loss)
            height, gradient_there = there.sum(_Shifted.value_and_gradient)
            if height <= value + 1e-4 * slope + rounding:
                break
            step, slope = step / 4, slope / 4
        else:
            break
        states, shift = there, shift + step
        value, gradient = height, gradient_there
        # Steps that gain less than rounding need not end.
        if np.linalg.norm(scale * gradient) <= enough or -slope <= rounding:
            break
    return shift


def _step(states, gradient, scale):
    """Newton's step by conjugate gradients, to 1/2000 of the gradient.

    A product takes a fifth of the time of an evaluation, so that one step is to do.
    """

    def product(direction):
        return scale * states.sum(_Shifted.product, scale * direction)[0]

    n = len(gradient)
    hessian = LinearOperator((n, n), matvec=product, dtype=np.float64)
    step, _ = cg(hessian, -gradient, rtol=1 / 2000, maxiter=n)
    # Without any curvature it is not finite.
    return step if np.isfinite(step).all() else -gradient


def _predict(block, points):
    return block.target, block.weight, raw_predictions(block.design, points)


class _Shifted:
    """The loss of a block's rows as a function of what is added to the intercepts."""

    def __init__(self, rows, shift, loss):
        target, self._weight, self._predictions = rows
        shift = as_type(beside(shift, self._predictions), self._predictions.dtype)
        predictions = self._predictions + shift
        linear, self._loss = linearize_loss(loss, predictions, target), loss
        self._value = weighted_total(linear.values, self._weight)[0]
        self._gradient = self._of_rows(linear.gradient)
        self._product, self._diagonal = linear.hessian_product, linear.hessian_diagonal

    def value_and_gradient(self):
        return self._value, self._gradient.copy()

    def curvature(self):
        diagonal = self._diagonal()
        check_finite("second derivative of the loss", diagonal, self._loss)
        return (self._of_rows(diagonal),)

    def product(self, direction):
        # In the layout of what it is multiplied with.
        along = namespace(self._predictions).empty_like(self._predictions)
        along[...] = beside(direction, self._predictions)
        return (self._of_rows(self._product(along)),)

    def _of_rows(self, array):
        return to_numpy(self._weight @ array)
