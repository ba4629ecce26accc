"""Second derivatives of a block's part of the training objective."""

from functools import cached_property

import numpy as np
from scipy import sparse

from ..mappings import get_mapping
from ._blocks import Block, linearize_outputs, model_outputs, weighted_total
from ._products import compressed, weighted_sum

# Where no more than this part of the rows bends the loss, their features are copied.
_FEW_ROWS = 0.25


class BlockLinearization:
    """A block's part of the objective at a model, without the penalty.

    Under a mapping with exact zeros a row whose probability is all on one class does
    not bend a convex loss. Near the optimum these are most of the rows, and the
    Hessian is a matter of the others.

    Parameters
    ----------
    coef : ndarray of shape (M, n_features)
    intercept : ndarray of shape (M,)
    block : Block
    loss : Loss

    Attributes
    ----------
    value : float
        Without the loss's constant.
    coef_gradient : ndarray of shape (M, n_features)
    intercept_gradient : ndarray of shape (M,)
    """

    def __init__(self, coef, intercept, block, loss):
        self._model, self._block, self._loss = (coef, intercept), block, loss
        self._n_outputs = len(coef)
        self._weight = block.weight[:, None]
        outputs = model_outputs(block.X, coef, intercept)
        linear = linearize_outputs(loss, outputs, block.target)
        # Nothing else of it is kept: memory that is new is slow.
        self._hessian_product = linear.hessian_product
        self._hessian_diagonal = linear.hessian_diagonal
        self.value = weighted_total(linear.values, block.weight)
        residual = linear.gradient
        residual *= self._weight
        self.coef_gradient = weighted_sum(block.X, residual)
        self.intercept_gradient = residual.sum(axis=0)

    def hessian_product(self, coef_direction, intercept_direction):
        """Hessian times a direction: a pair of arrays like the gradients.

        A direction of the coefficients in single precision is multiplied with X, and
        the outcome with its transpose, in single precision.
        """
        if self._bending_rows is not None:
            return self._bending_rows.hessian_product(
                coef_direction, intercept_direction
            )
        single = coef_direction.dtype != self._block.X.dtype
        X = self._single_X if single else self._block.X
        product = model_outputs(X, coef_direction, intercept_direction)
        product = product.astype(self._block.X.dtype, copy=False)
        if self._n_outputs == 1:
            product *= self._bend
        else:
            product = self._hessian_product(product)
            product *= self._weight
        total = product.sum(axis=0)
        return weighted_sum(X, product.astype(X.dtype, copy=False)), total

    def curvature(self):
        """Second derivative of each row's weighted loss in each output: (n_rows, M)."""
        if self._n_outputs == 1:
            return self._bend
        return self._hessian_diagonal() * self._weight

    def second_derivatives(self):
        """Those of each row's weighted loss in the outputs: (M (M + 1) / 2, n_rows).

        The pairs of outputs are in the order of ``np.triu_indices``.
        """
        if self._n_outputs == 1:
            return self._bend.T
        n_outputs, weight = self._n_outputs, self._block.weight
        found = np.empty((n_outputs * (n_outputs + 1) // 2, len(weight)))
        end = 0
        for k in range(n_outputs):
            along = np.zeros((n_outputs, len(weight)), dtype=weight.dtype)
            along[k] = 1
            start, end = end, end + n_outputs - k
            found[start:end] = self._hessian_product(along.T).T[k:]
        found *= weight
        return found

    @cached_property
    def _single_X(self):
        X = self._block.X
        if not sparse.issparse(X):
            return X.astype(np.float32)
        return compressed(sparse.csr_array, X.shape, X.data.astype(np.float32), X)

    @cached_property
    def _bend(self):
        # One number for each row is all that there is to two classes.
        return self._hessian_diagonal() * self._weight

    @cached_property
    def _bending_rows(self):
        """The same of the rows that bend the loss, if they are few; else None."""
        loss, block = self._loss, self._block
        if not (loss.is_convex and get_mapping(loss.mapping).has_zeros):
            return None
        rounding = np.finfo(block.weight.dtype).eps * self._weight
        rows = np.flatnonzero((self.curvature() > rounding).any(axis=1))
        if not 0 < len(rows) <= _FEW_ROWS * len(block.weight):
            return None
        few = Block(block.X[rows], block.target.take(rows), block.weight[rows])
        return BlockLinearization(*self._model, few, loss)
