"""A symmetric matrix for each row: the Jacobian of a mapping, or the Hessian of a loss.

The Hessian of a Fenchel-Young loss is the Jacobian of its mapping, so both have one
type.
"""

from abc import ABC, abstractmethod

from .._utils.arrays import copied, identity_like, namespace


class RowMatrices(ABC):
    """Symmetric matrices of shape (n_classes, n_classes), one for each row of scores.

    A subclass has formulas for products and for the diagonal. It may have one for the
    matrices, which by default are computed from a product for each class.
    """

    @abstractmethod
    def product(self, direction):
        """The matrices times a direction (n_rows, n_classes); it may be overwritten."""

    def product_in_new_array(self, direction):
        """The matrices times a direction, which is not changed."""
        return self.product(copied(direction))

    @abstractmethod
    def diagonal(self):
        """The diagonals, (n_rows, n_classes)."""

    def matrices(self):
        """The matrices written out, (n_rows, n_classes, n_classes)."""
        return matrices_by_products(self.product, self.diagonal())

    def slopes(self):
        """Numbers s >= 0 with which each matrix is diag(s) - s s' / sum(s).

        They are of shape (n_rows, n_classes); None if the matrices have another form.
        """
        return None

    def in_single_precision(self):
        """The matrices in single precision; None if there is no formula for them."""
        return None

    def after(self, change):
        """Jacobians of the same mapping where its probabilities have changed.

        The change is of shape (n_rows, n_classes); None if there is no formula.
        """
        return None


class DiagonalMatrices(RowMatrices):
    """Diagonal matrices, from a function without arguments that returns diagonals."""

    def __init__(self, diagonal):
        self._diagonal = diagonal

    def product(self, direction):
        return direction * self._diagonal()

    def diagonal(self):
        return self._diagonal()

    def matrices(self):
        diagonal = self._diagonal()
        return diagonal[:, :, None] * identity_like(diagonal.shape[1], diagonal)


class ScaledMatrices(RowMatrices):
    """Matrices times a positive number for each row.

    ``scaled(array)`` multiplies an array of shape (n_rows, n_classes) by it.
    """

    def __init__(self, matrices, scaled):
        self._matrices, self._scaled = matrices, scaled

    def product(self, direction):
        return self._scaled(self._matrices.product(direction))

    def diagonal(self):
        return self._scaled(self._matrices.diagonal())

    def matrices(self):
        matrices = self._matrices.matrices()
        columns = [self._scaled(matrices[:, :, k]) for k in range(matrices.shape[2])]
        return namespace(matrices).stack(columns, axis=2)

    def slopes(self):
        slopes = self._matrices.slopes()
        return None if slopes is None else self._scaled(slopes)


def matrices_by_products(product, like):
    """Matrices (n_rows, n_classes, n_classes), from a product for each class.

    The product may overwrite its argument, of the shape and the type of an array
    `like`.
    """
    columns = []
    for k in range(like.shape[1]):
        direction = copied(like)  # In the memory order of `like`.
        direction[...] = 0
        direction[:, k] = 1
        columns.append(product(direction))
    return namespace(like).stack(columns, axis=2)
