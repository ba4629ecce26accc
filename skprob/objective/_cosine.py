"""The training objective of a model whose scores are cosines."""

import numpy as np

from ._base import Linearization, MeanLoss
from ._parallel import sum_over


class CosineObjective(MeanLoss):
    """Weighted mean loss of the cosines between rows and class vectors.

    The rows of X are of norm one already (or zero: then all their cosines are). The
    loss does not depend on the norms of the class vectors w_k, which leaves a
    solver directions without curvature; the term ½ Σ_k (‖w_k‖² - 1)² fills them. It
    is zero at every minimum, so that it moves none, and there the norms are one.
    Parameters are the class vectors row by row, one for each class; there is no
    intercept.

    Parameters
    ----------
    blocks : sequence of Block
        With rows of X of norm one or zero; the weights of all blocks sum to one.
    loss : Loss
        Checked, with its mapping.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.losses import FenchelYoungLoss, SparseTarget
    >>> from skprob.mappings import Softmax
    >>> from skprob.objective import CosineObjective, split_rows
    >>> X = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    >>> target = SparseTarget.from_labels(np.array([0, 0, 1]), n_classes=2)
    >>> objective = CosineObjective(
    ...     split_rows(X, target, np.ones(3)), FenchelYoungLoss(Softmax())
    ... )
    >>> objective.initial().round(4)  # the directions of the classes' means
    array([0.8944, 0.4472, 0.    , 1.    ])
    """

    def __init__(self, blocks, loss):
        super().__init__(blocks, loss)
        self.coef_shape = (blocks[0].target.shape[1], blocks[0].X.shape[1])
        self._no_intercept = np.zeros(self.coef_shape[0])

    @property
    def n_parameters(self):
        """Length of the parameter vector."""
        return self.coef_shape[0] * self.coef_shape[1]

    def pack(self, coef, intercept=None):
        """Parameter vector of class vectors."""
        return np.ravel(coef).astype(np.float64, copy=False)

    def unpack(self, parameters):
        """Class vectors of norm one, and zero intercepts, of a parameter vector."""
        return self._directions(parameters)[0], self._no_intercept

    def initial(self):
        """Parameters to start from: the normalised means of the classes."""

        def weighted_targets(block):
            target = block.target.to_dense(np.float64)
            return [(target * block.weight[:, None]).T @ block.X]

        (means,) = sum_over(self.blocks, weighted_targets, self.n_parameters)
        # A class whose mean is zero starts from the mean of all rows, or anywhere.
        lost = np.linalg.norm(means, axis=1) == 0
        means[lost] = means.sum(axis=0)
        means[np.linalg.norm(means, axis=1) == 0] = 1
        return self.pack(means / np.linalg.norm(means, axis=1, keepdims=True))

    def value_and_gradient(self, parameters):
        """Value and gradient, in one pass over the data.

        Parameters
        ----------
        parameters : ndarray of shape (n_parameters,)

        Returns
        -------
        value : float
        gradient : ndarray of shape (n_parameters,)
        """
        unit, norm = self._directions(parameters)
        value, gradient, _ = self.mean_loss(unit, self._no_intercept)
        return self._on_vectors(value, gradient, unit, norm)

    def linearize(self, parameters):
        """Value, gradient and Hessian product at parameters.

        Parameters
        ----------
        parameters : ndarray of shape (n_parameters,)

        Returns
        -------
        linearization : Linearization
        """
        unit, norm = self._directions(parameters)
        value, slope, _, product, _ = self.mean_loss_linearization(
            unit, self._no_intercept
        )

        def hessian_product(direction):
            direction = direction.reshape(self.coef_shape)
            radial = _rowwise(unit, direction)
            turn = (direction - radial * unit) / norm
            curved, _ = product(turn, self._no_intercept)
            along = _rowwise(unit, slope)
            change = curved - _rowwise(unit, curved) * unit
            change -= along * turn + _rowwise(turn, slope) * unit
            change -= (slope - along * unit) * radial / norm
            penalty = 2 * (norm**2 - 1) * direction + 4 * norm**2 * radial * unit
            return self.pack(change / norm + penalty)

        return Linearization(
            *self._on_vectors(value, slope.copy(), unit, norm), hessian_product
        )

    def _directions(self, parameters):
        vectors = parameters.reshape(self.coef_shape)
        norm = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.maximum(norm, np.finfo(np.float64).tiny), norm

    def _on_vectors(self, value, gradient, unit, norm):
        gradient -= _rowwise(unit, gradient) * unit
        gradient /= norm
        excess = norm**2 - 1
        gradient += 2 * excess * norm * unit
        return float(value + np.sum(excess**2) / 2), self.pack(gradient)


def _rowwise(a, b):
    return np.einsum("kd,kd->k", a, b)[:, None]
