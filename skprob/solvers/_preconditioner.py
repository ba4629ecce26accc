"""An approximation of the inverse Hessian, renewed after some Hessian products."""

import numpy as np

from ._whitening import Identity, Scaling, Whitening


class Preconditioner:
    """Coordinates in which the Hessian is about the identity."""

    def __init__(self, description, plan):
        self._description, self._plan = description, plan
        self._used, self._curvature, self._at_zero = 0, None, None
        #: Where the Hessian is about the identity.
        self.coordinates, self.recycled = Identity(), None

    @property
    def is_stale(self):
        """Whether so many products have been computed that new coordinates pay."""
        return self._used >= self._plan.renew_after

    def begin(self, here):
        """Take the curvature that a fit before has left, if there was one."""
        self.recycled = None
        if self._curvature is None:
            self.renew(here)
        else:
            self._adapt(here)

    def renew(self, here):
        """Fit the coordinates to the curvature of a linearization at one point."""
        kind = self._plan.preconditioner
        if kind == "none":
            return
        # They may be large: make room.
        self._used, self._curvature, self.coordinates = 0, None, None
        if kind == "diagonal":
            self._curvature = here.moments()
        else:
            # At zero scores the curvature is the same for all rows and classes.
            by_output = kind == "gram by output" and not here.is_at_zero
            self._curvature = here.sandwiches(by_output, self._plan.n_drawn)
            if here.is_at_zero:
                self._at_zero = self._curvature
            elif self._plan.method == "lbfgs" and self._at_zero is not None:
                # Rows without curvature may get some: with 500 classes and exact zeros
                # 0.6 to 0.75 times the time.
                self._curvature = self._curvature + 0.01 * self._at_zero
        self._adapt(here)

    def _adapt(self, here):
        coordinates = Scaling if self._plan.preconditioner == "diagonal" else Whitening
        self.coordinates = coordinates(self._curvature, here.ridge, self._description)

    def used(self, n_products, recycled):
        """Take note of Hessian products, and of conjugate directions to recycle."""
        self._used += n_products
        self.recycled = recycled

    def times(self, gradient):
        """B gradient and ⟨gradient, B gradient⟩, for B about the inverse Hessian.

        The gradient is of shape (n,), or (n_groups, n) with a product for each group.
        With recycled directions s_i, products y_i and curvatures c_i, B is exact along
        these: with P = I - Σ s_i y_iᵀ / c_i it is P T Tᵀ Pᵀ + Σ s_i s_iᵀ / c_i, where T
        are the coordinates.

        References
        ----------
        Morales, Nocedal, "Automatic preconditioning by limited memory quasi-Newton
        updating", SIAM Journal on Optimization 2000.

        Gratton, Sartenaer, Tshimanga, "On a class of limited memory preconditioners for
        large scale linear systems with multiple right-hand sides", SIAM Journal on
        Optimization 2011.
        """
        groups = gradient.reshape(-1, gradient.shape[-1])
        if self.recycled is None or self.recycled.curvatures.size == 0:
            product, square = self._by_coordinates(groups)
        else:
            directions, products, curvatures = self.recycled
            along = _inner(directions, groups) / curvatures
            rest, square = self._by_coordinates(groups - _combined(along, products))
            part = along - _inner(products, rest) / curvatures
            product = rest + _combined(part, directions)
            square += (curvatures * along**2).sum(axis=1)
        return product.reshape(gradient.shape), square.reshape(gradient.shape[:-1])

    def _by_coordinates(self, groups):
        slope = self.coordinates.gradient(groups.reshape(-1))
        product = self.coordinates.to_parameters(slope).reshape(groups.shape)
        slope = slope.reshape(len(groups), -1)
        return product, np.einsum("gi,gi->g", slope, slope)


def _inner(vectors, group):
    """Inner products (n_groups, n_vectors) of vectors and one of the same group."""
    return np.matmul(vectors, group[:, :, None])[:, :, 0]


def _combined(weights, vectors):
    """Sums (n_groups, n) of the vectors of a group times weights."""
    return np.matmul(weights[:, None], vectors)[:, 0]
