"""The whole Hessian of a linear objective, where it is small."""

import numpy as np

from ._gram import standardised_columns


class WholeHessian:
    """Hessians of a linear objective in centred and scaled features, written out.

    Where the same added to all outputs changes nothing but the penalty, and that does
    not tell the directions apart either, these are given a curvature: no step is to go
    there.

    Parameters
    ----------
    objective : LinearObjective
    mean, scale : ndarray of shape (n_features,)
    """

    def __init__(self, objective, mean, scale):
        n_outputs, n_features = objective.coef_shape
        self._z = z = standardised_columns(
            [block.X for block in objective.blocks],
            mean,
            scale,
            n_features + objective.fit_intercept,
        )
        # Divided twice: the square could overflow.
        ridge = np.tile(objective.l2 / scale / scale, (n_outputs, 1))
        #: What the penalty adds to the diagonal, of shape (n_parameters,).
        self.ridge = objective.pack(ridge, 0.0)
        self._products = None
        if n_outputs > 1:
            pairs = np.triu_indices(len(z))
            self._products = z[pairs[0]] * z[pairs[1]]
            columns = np.arange(n_outputs)[:, None]
            feature = _of_parameters(objective, np.arange(n_features), n_features)
            output = _of_parameters(objective, columns, columns[:, 0])
            of_outputs = _numbers_of_pairs(n_outputs)[output[:, None], output]
            of_features = _numbers_of_pairs(len(z))[feature[:, None], feature]
            self._places = of_features * (of_outputs.max() + 1) + of_outputs
            alike = (feature[:, None] == feature) & (self.ridge == 0)
            self._common = alike * (objective.scores_are_relative / n_outputs)

    def __call__(self, linearization):
        """The Hessian where the objective was linearized, without the penalty.

        Returns
        -------
        hessian : ndarray of shape (n_parameters, n_parameters)
            Of the objective's parameters, in their order.
        """
        parts = [block.second_derivatives() for block in linearization.blocks]
        weights = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        if self._products is None:
            hessian = (self._z * weights) @ self._z.T
        else:
            hessian = (self._products @ weights.T).take(self._places)
            hessian += self._common
        return hessian


def _of_parameters(objective, of_coef, of_intercept):
    """Integers for each parameter, in their order."""
    of_coef = np.broadcast_to(of_coef, objective.coef_shape)
    return objective.pack(of_coef, of_intercept).astype(int)


def _numbers_of_pairs(size):
    """The place in ``np.triu_indices`` of each pair, whatever its order."""
    numbers = np.zeros((size, size), dtype=int)
    upper = np.triu_indices(size)
    numbers[upper] = numbers.T[upper] = np.arange(len(upper[0]))
    return numbers
