"""The L-BFGS approximation of the Hessian."""

import numpy as np

from ._curvature import conjugate_step, diagonal_at, diagonal_inverse


class LBFGSMatrix:
    """The L-BFGS approximation of the Hessian, from the last steps.

    Parameters
    ----------
    point : LinearPoint
    shape : (M, size)
    pairs : sequence of (ndarray, ndarray)
        Steps and changes of the gradient, both of shape (n_parameters,), with a
        positive inner product.

    References
    ----------
    Byrd, Nocedal, Schnabel, "Representations of quasi-Newton matrices and their use in
    limited memory methods", Mathematical Programming 1994.
    """

    most_steps = 1
    n_products = 0
    #: Largest residual after a Newton step, relative to the one before.
    forcing_term = 1e-3

    def __init__(self, point, shape, pairs):
        diagonal = diagonal_at(point)
        self._shape, self._factor = shape, None
        if pairs:
            steps, changes = (np.array(each) for each in zip(*pairs, strict=True))
            flat = diagonal.reshape(-1)
            last = changes[-1] @ (changes[-1] / flat) / (steps[-1] @ changes[-1])
            diagonal = last * diagonal
            scaled = steps * diagonal.reshape(-1)
            inner = steps @ changes.T
            below = np.tril(inner, -1)
            middle = np.block(
                [[steps @ scaled.T, below], [below.T, -np.diag(np.diag(inner))]]
            )
            self._factor = np.vstack([scaled, changes])
            # Solved once, because each step takes many products.
            self._solved = np.linalg.solve(middle, self._factor)
        self.diagonal = diagonal

    def product(self, direction):
        result = self.diagonal * direction
        if self._factor is None:
            return result
        weights = self._solved @ direction.ravel()
        return result - (weights @ self._factor).reshape(self._shape)

    def newton_step(self, is_active, residual, stepped, shrinkage):
        """About minus the inverse on the active parameters, times a residual."""
        return conjugate_step(
            self.product,
            is_active,
            residual,
            stepped,
            shrinkage,
            inverse=diagonal_inverse(self.diagonal, is_active, shrinkage, stepped),
            forcing_term=self.forcing_term,
        )
