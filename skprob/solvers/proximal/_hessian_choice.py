"""The choice whether the Hessian matrix is computed, from how many rows, and how."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class WrittenHessian(NamedTuple):
    """Settings with which the Hessian matrix of some parameters is computed."""

    share: float  #: Share of the rows, drawn in proportion to their curvature.
    precision: type  #: Floating-point type.


class HessianChoice:
    """The cost of a Hessian of some parameters, and the choices that depend on it.

    Parameters
    ----------
    description : Description
    n_included : int
        Number of the parameters.
    tuning : Tuning
    """

    def __init__(self, description, n_included, tuning):
        self._description, self._n_included = description, n_included
        self._tuning = tuning
        n_rows, (n_outputs, size) = description.n_rows, description.shape
        n_stored = description.n_stored
        #: Whether few entries of the design are stored.
        self.is_sparse = n_stored < tuning.sparse_share * n_rows * size
        # In multiplications: a Hessian product, and products of all pairs of columns of
        # the included parameters.
        self._of_product = n_outputs * (4 * n_stored + tuning.elementwise_cost * n_rows)
        self._of_gram = n_rows * n_included**2

    def is_cheap(self, most_products):
        """Whether the matrix costs at most this number of products, or a fixed one.

        For sparse rows it never does, because their products cost little: by matrices
        20 newsgroups takes 1.3 to 1.6 times as long.
        """
        if self.is_sparse:
            return False
        tuning, n_included = self._tuning, self._n_included
        cost = self._of_gram / 2 + n_included**3
        many = max(tuning.hessian_products, most_products) * self._of_product
        return n_included <= tuning.largest_hessian and cost <= max(
            many, tuning.largest_hessian_cost
        )

    def written(self, is_near, is_precise):
        """The :class:`WrittenHessian` for a point.

        Parameters
        ----------
        is_near : bool
            Whether the point is near the minimum, so that more rows are drawn.
        is_precise : bool
            Whether the Hessian must be in double precision.
        """
        # Drawn rows would leave out rare features with their curvature.
        if self.is_sparse:
            return WrittenHessian(1.0, np.float64)
        return WrittenHessian(self._share(is_near), self._precision(is_precise))

    def _share(self, is_near):
        tuning = self._tuning
        if self._of_gram < tuning.sampled_hessian:
            return 1.0
        n_rows = tuning.rows_near if is_near else tuning.rows_of_parameter
        share = n_rows * self._n_included / self._description.n_rows
        return share if share < tuning.largest_share else 1.0

    def _precision(self, is_precise):
        if is_precise or self._of_gram < self._tuning.single_hessian:
            return np.float64
        # With no more rows than parameters the smallest pivot is next to zero.
        n_rows, n_outputs = self._description.n_rows, self._description.shape[0]
        return np.float32 if self._n_included < n_rows * n_outputs else np.float64
