"""The whole Hessian of a linear objective, where it is small."""

import numpy as np

from ._gram import standardised_columns


class WholeHessian:
    """Hessians of a linear objective in centred and scaled features, written out.

    Parameters
    ----------
    objective : LinearObjective
    mean, scale : ndarray of shape (n_features,)

    Attributes
    ----------
    ridge : ndarray of shape (n_parameters,)
        What the penalty adds to the diagonal.
    """

    def __init__(self, objective, mean, scale):
        n_outputs, n_features = objective.coef_shape
        size = n_features + objective.fit_intercept
        z = standardised_columns([b.X for b in objective.blocks], mean, scale, size)
        # Divided twice: the square could overflow.
        ridge = np.tile(objective.l2 / scale / scale, (n_outputs, 1))
        self.ridge = objective.pack(ridge, 0.0)
        columns = np.arange(n_outputs)[:, None]
        feature = _of_parameters(objective, np.arange(n_features), n_features)
        output = _of_parameters(objective, columns, columns[:, 0])
        is_free = (self.ridge == 0) & objective.scores_are_relative
        self._sums = OuterProducts(z, feature, output, is_free)

    def __call__(self, linearization):
        """The Hessian where the objective was linearized, without the penalty.

        Returns
        -------
        hessian : ndarray of shape (n_parameters, n_parameters)
            Of the objective's parameters, in their order.
        """
        parts = [block.second_derivatives() for block in linearization.blocks]
        weights = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        return self._sums(weights[None])[0]


class OuterProducts:
    """Hessians from second derivatives of the rows' losses in the outputs.

    Where the same added to all outputs changes nothing, not even a penalty, that
    direction is given a curvature: no step is to go there.

    Parameters
    ----------
    z : ndarray of shape (size, n_rows)
        The rows as columns.
    feature, output : ndarray of shape (n_parameters,)
        What each parameter is the coefficient of.
    is_free : ndarray of shape (n_parameters,)
        Whether nothing at all tells what is added to those of all outputs alike.
    """

    def __init__(self, z, feature, output, is_free):
        self._z, self._products = z, None
        n_outputs = output.max() + 1
        if n_outputs > 1:
            first, second = np.triu_indices(len(z))
            self._products = z[first] * z[second]
            of_features = _numbers_of_pairs(len(z))[feature[:, None], feature]
            of_outputs = _numbers_of_pairs(n_outputs)[output[:, None], output]
            self._places = of_outputs * len(first) + of_features
            self._common = (feature[:, None] == feature) * is_free / n_outputs

    def __call__(self, weights):
        """Sums over the rows.

        Parameters
        ----------
        weights : ndarray of shape (n_points, M (M + 1) / 2, n_rows)
            Second derivatives in pairs of outputs, in the order of
            ``np.triu_indices``.

        Returns
        -------
        hessians : ndarray of shape (n_points, n_parameters, n_parameters)
        """
        if self._products is None:
            return (weights * self._z) @ self._z.T
        # One large product is faster than many small ones.
        sums = weights.reshape(-1, weights.shape[2]) @ self._products.T
        hessians = sums.reshape(len(weights), -1).take(self._places, axis=1)
        hessians += self._common
        return hessians


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
