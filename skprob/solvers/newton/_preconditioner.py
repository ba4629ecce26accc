"""An approximation of the inverse Hessian, renewed after some Hessian products."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._utils.arrays import is_host
from ..._utils.tuning import Tuning
from ..._utils.typing import Array
from .._coordinates import Identity, Scaling, Whitening
from ._conjugate_gradients import ConjugateDirections, PreconditionedGradient
from ._whitening_on_device import WhiteningOnDevice


@dataclass(frozen=True)
class Preconditioner:
    """Coordinates in which the Hessian is about the identity.

    Attributes
    ----------
    coordinates : Identity, Scaling, Whitening or WhiteningOnDevice
    moments_or_grams : tuple or array or None
        Moments of the columns, or Gram matrices, from which they were computed.
    sandwiches_at_zero : array or None
        Gram matrices at zero raw predictions, if they have been computed.
    recycled : ConjugateDirections or None
        Directions of the last step, along which the inverse is exact.
    n_products : int
        Number of Hessian products since it was computed.
    precision : type
        Floating-point type of Gram matrices and Hessian products.
    """

    coordinates: Any
    moments_or_grams: Any = None
    sandwiches_at_zero: Array | None = None
    recycled: ConjugateDirections | None = None
    n_products: int = 0
    precision: type = np.float64

    @classmethod
    def at(cls, curvature, plan, description, before=None, tuning=Tuning()):
        """Coordinates for the curvature at a point, as the plan says.

        Parameters
        ----------
        curvature : Curvature
        plan : Plan
        description : Description
        before : Preconditioner or None
            The last preconditioner, whose Gram matrices at zero and recycled directions
            are used again. If its precision is double, this one is double, too.
        tuning : Tuning
        """
        recycled = None if before is None else before.recycled
        kind = plan.preconditioner
        if kind == "none":
            return cls(Identity())
        if kind == "diagonal":
            moments = curvature.curvature_moments(plan.precision)
            coordinates = _coordinates_of(moments, curvature.ridge, plan, description)
            return cls(
                coordinates, moments, recycled=recycled, precision=plan.precision
            )
        if before is not None:
            plan = plan._replace(precision=before.precision)
        result = cls._by_grams(curvature, plan, description, before)
        if plan.precision is np.float64 or result.suits_single_precision(tuning):
            return result
        precise = plan._replace(precision=np.float64)
        return cls._by_grams(curvature, precise, description, before)

    @classmethod
    def _by_grams(cls, curvature, plan, description, before):
        """Coordinates from Gram matrices in the precision of the plan."""
        at_zero = None if before is None else before.sandwiches_at_zero
        recycled = None if before is None else before.recycled
        # At zero scores the curvature is the same for all rows and classes.
        is_at_zero = curvature.is_at_zero
        by_output = plan.preconditioner == "gram by output" and not is_at_zero
        grams = curvature.sandwiches(
            by_output, plan.n_drawn, plan.on_device, plan.precision
        )
        if is_at_zero:
            at_zero = grams
        elif plan.share_at_zero and at_zero is not None:
            grams = grams + plan.share_at_zero * at_zero
        coordinates = _coordinates_of(grams, curvature.ridge, plan, description)
        return cls(coordinates, grams, at_zero, recycled, precision=plan.precision)

    def suits_single_precision(self, tuning):
        """Whether Gram matrices in single precision were accurate enough.

        Their errors are in proportion to their diagonals. Errors of a row's curvature
        are in proportion to its probabilities, which may be much larger.
        """
        diagonals = np.einsum("kii->ki", self.moments_or_grams)
        curvature = diagonals.mean(axis=0).max()
        return min(self.coordinates.least_pivot, curvature) >= tuning.least_pivot

    def with_ridge(self, ridge, plan, description):
        """The preconditioner for the same curvature under another penalty."""
        if plan.preconditioner == "none":
            return self
        coordinates = _coordinates_of(self.moments_or_grams, ridge, plan, description)
        return replace(self, coordinates=coordinates, recycled=None)

    def after(self, model):
        """The preconditioner after the products of a step by conjugate gradients."""
        n_products = self.n_products + model.n_products
        return replace(self, recycled=model.kept, n_products=n_products)

    def times(self, gradient):
        """The ``PreconditionedGradient``, for B about the inverse Hessian.

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
            remainder = groups - _combined(along, products)
            product, square = self._by_coordinates(remainder)
            part = along - _inner(products, product) / curvatures
            product = product + _combined(part, directions)
            square += (curvatures * along**2).sum(axis=1)
        return PreconditionedGradient(
            product.reshape(gradient.shape), square.reshape(gradient.shape[:-1])
        )

    def _by_coordinates(self, groups):
        slope = self.coordinates.gradient(groups.reshape(-1))
        product = self.coordinates.to_parameters(slope).reshape(groups.shape)
        if not is_host(slope):  # The slope is on a device, and the groups are not.
            return product, np.einsum("gi,gi->g", groups, product)
        slope = slope.reshape(len(groups), -1)
        return product, np.einsum("gi,gi->g", slope, slope)


def _coordinates_of(moments_or_grams, ridge, plan, description):
    """Coordinates from moments or Gram matrices, and the penalty's curvature."""
    if plan.preconditioner == "diagonal":
        return Scaling(moments_or_grams, ridge, description, plan.own_units)
    kind = Whitening if is_host(moments_or_grams) else WhiteningOnDevice
    return kind(moments_or_grams, ridge, description)


def _inner(vectors, group):
    """Inner products (n_groups, n_vectors) of vectors and one of the same group."""
    return np.matmul(vectors, group[:, :, None])[:, :, 0]


def _combined(weights, vectors):
    """Sums (n_groups, n) of the vectors of a group times weights."""
    return np.matmul(weights[:, None], vectors)[:, 0]
