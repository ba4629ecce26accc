"""Preconditioned conjugate gradients."""

from typing import Any, NamedTuple

import numpy as np


class ConjugateDirections(NamedTuple):
    """Directions s_i that are conjugate, their products y_i = H s_i, and ⟨s_i, y_i⟩."""

    directions: np.ndarray  #: (n_groups, n_directions, n)
    products: np.ndarray  #: (n_groups, n_directions, n)
    curvatures: np.ndarray  #: (n_groups, n_directions)


class PreconditionedGradient(NamedTuple):
    """The product of a gradient and B, which is about the inverse Hessian."""

    product: np.ndarray  #: B gradient.
    squares: np.ndarray  #: ⟨gradient, B gradient⟩ of each group of parameters.

    @property
    def square(self):
        """⟨gradient, B gradient⟩ of all parameters: the gradient's squared length."""
        return float(self.squares.sum())


class Step(NamedTuple):
    """A step that lowers a quadratic model."""

    step: np.ndarray
    n_products: int
    least_curvature: float  #: Smallest curvature along the directions taken.
    kept: ConjugateDirections  #: The first directions.
    ray: Any = None  #: The problem along the step, if its raw predictions are known.


def conjugate_gradients(
    hessian_product,
    gradient,
    inverse,
    *,
    forcing_term,
    least_gain=0.0,
    n_groups=1,
    n_kept=0,
    preconditioned=None,
    moved=None,
    precision=np.float64,
):
    """Minimise a quadratic model roughly.

    The model is ⟨gradient, s⟩ + ½ ⟨s, H s⟩. At a direction whose curvature is not
    above rounding errors the method stops; if it is the first one, it is the step. With
    B about the inverse of H, the length of s is the root of ⟨s, B⁻¹ s⟩, and that of a
    gradient the root of ⟨gradient, B gradient⟩: ``inverse(gradient)`` returns the
    ``PreconditionedGradient``. `preconditioned` is this result for the gradient,
    if it has been computed. ``moved(length)`` is called for the length that a step is
    moved along the direction of each product; only with one group. `precision` is the
    floating-point type in which products are computed.

    The method stops where the residual is at most `forcing_term` times as long as the
    gradient, or where a product adds less than `least_gain` times the mean to the
    decrease. At most `n_kept` directions are kept.

    The parameters fall into `n_groups` of the same size that neither H nor B couples.
    Each group is minimised as if it were alone, and all of them share the products.

    References
    ----------
    Nocedal, Wright, "Numerical Optimization", 2006, section 7.1.

    Nash, Sofer, "Assessing a search direction within a truncated-Newton method",
    Operations Research Letters 1990.
    """
    residuals = -gradient.reshape(n_groups, -1)
    conjugate, squares = preconditioned or inverse(-residuals)
    directions, squares = -conjugate, squares.tolist()
    groups = [
        _Group(
            i,
            residuals[i],
            directions[i],
            squares[i],
            forcing_term=forcing_term,
            least_gain=least_gain,
            n_kept=n_kept,
            moved=moved,
            no_curvature=_no_curvature(precision),
        )
        for i in range(n_groups)
    ]
    active, n_products = [group for group in groups if group.square > 0], 0
    while active:
        n_products += 1
        products = hessian_product(directions.reshape(-1)).reshape(residuals.shape)
        active = [group for group in active if group.advance(products[group.i])]
        if active:
            conjugate, squares = inverse(residuals)
            squares = squares.tolist()
            active = [g for g in active if g.turn(conjugate[g.i], squares[g.i])]
    step = np.concatenate([group.step for group in groups])
    kept = _in_one([group.kept for group in groups], residuals.shape)
    return Step(step, n_products, min(group.least for group in groups), kept)


class _Group:
    """The step of one group; its residual and direction are rows of shared arrays.

    These rows are zero at the end, so that nothing more is computed for them.
    """

    def __init__(
        self,
        i,
        residual,
        direction,
        square,
        *,
        forcing_term,
        least_gain,
        n_kept,
        moved,
        no_curvature,
    ):
        self.i, self.square, self.kept, self.least = i, square, [], np.inf
        self.step = np.zeros_like(residual)
        self._residual, self._direction = residual, direction
        # Squared length of the direction, by recurrence.
        self._length, self._enough = square, forcing_term**2 * square
        self._n_kept, self._n_products, self._decrease = n_kept, 0, 0.0
        self._least_gain, self._moved = least_gain, moved or _ignored
        self._no_curvature = no_curvature

    def advance(self, product):
        """Take the step along the direction; returns whether to continue."""
        direction = self._direction
        self._n_products += 1
        curvature = float(direction @ product)
        self.least = min(self.least, curvature / self._length)
        if not curvature > self._no_curvature * self._length:
            if self._n_products == 1:
                self.step[:] = direction
                self._moved(1.0)
            return self._end()
        if len(self.kept) < self._n_kept:
            self.kept.append((direction.copy(), product, curvature))
        ahead = self.square / curvature
        self.step += ahead * direction
        self._moved(ahead)
        gain = ahead * self.square / 2
        self._decrease += gain
        is_small = gain < self._least_gain * self._decrease / self._n_products
        if is_small or self._n_products == len(direction):
            return self._end()
        self._residual -= ahead * product
        return True

    def turn(self, conjugate, square):
        """Compute the next direction; returns whether the residual is still large."""
        if square <= self._enough:
            return self._end()
        part = square / self.square
        self._direction *= part
        self._direction += conjugate
        self._length = square + part**2 * self._length
        self.square = square
        return True

    def _end(self):
        self._residual[:] = self._direction[:] = 0
        return False


def _no_curvature(precision):
    """Largest curvature, along a direction of length one, that may be rounding error.

    With a smaller limit steps are up to 1e15 where bounds of a budget are active at the
    start. In single precision they are up to 1e14 for sparse rows without a ridge.
    """
    return float(np.finfo(precision).eps) ** (2 / 3)


def _ignored(length):
    pass


def _in_one(kept, shape):
    """Directions of all groups; a group with fewer than others has zeros."""
    n_groups, size = shape
    n_kept = max(map(len, kept))
    directions, products = np.zeros((2, n_groups, n_kept, size))
    curvatures = np.ones((n_groups, n_kept))
    for k, of_group in enumerate(kept):
        for j, (direction, product, curvature) in enumerate(of_group):
            directions[k, j], products[k, j] = direction, product
            curvatures[k, j] = curvature
    return ConjugateDirections(directions, products, curvatures)
