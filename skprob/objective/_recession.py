"""Directions in which a loss falls for ever.

Along D the loss of a row with target q falls, or stays, wherever one begins, if and
only if its scores z = D x satisfy ⟨q, z⟩ ≥ z_k for all classes k: they move in favour
of the target. If that holds for all rows, and not always with equality, then a convex
loss of positive probabilities has no minimum: some rows, or classes, can be told apart
without an error.
"""

import numpy as np
from scipy.sparse.linalg import LinearOperator, lsqr

from ..mappings import get_mapping
from ._blocks import model_outputs, outputs_adjoint, scores_of
from ._products import weighted_sum

# More probable wrong classes are not told apart from the target, to begin with.
_UNLIKELY = 0.05
_MAX_ROUNDS = 10
# What rounding makes of zero, of the largest advantage; and the least that counts.
_ROUNDING = 1e-8
_LEAST_ADVANTAGE = 0.1


def recedes(objective, parameters):
    """Whether a direction near the parameters is one in which the loss falls for ever.

    Near the minimum that does not exist, the parameters have grown in such a direction.
    What they have beside it is taken away: a part that acts on the classes and rows
    that cannot be told apart. The rest is tested by the definition, so a direction that
    is found is one, up to rounding; one may be missed.

    Parameters
    ----------
    objective : LinearObjective
    parameters : ndarray of shape (n_parameters,)

    Returns
    -------
    recedes : bool
    """
    advantages = _Advantages(objective)
    direction = parameters / advantages.unit
    tied = advantages.of_probabilities(parameters) <= 0
    for _ in range(_MAX_ROUNDS):
        direction = direction - advantages.least_with(direction, tied)
        found = advantages(direction)
        most = found.max()
        if most < _LEAST_ADVANTAGE:
            return False
        against = found < -_ROUNDING * most
        if not against.any():
            return bool((np.abs(found[tied]) <= _ROUNDING * most).all())
        if not (against & ~tied).any():
            return False
        tied |= against
    return False


class _Advantages:
    """⟨q, z⟩ - z_k of all rows and classes, as a linear map of parameters.

    The parameters are those of features whose mean squares are one.
    """

    def __init__(self, objective):
        self._objective = objective
        size = np.hypot(*objective.feature_moments())
        # Features so small can have no part in anything.
        size[size <= np.sqrt(np.finfo(np.float64).tiny)] = 1
        shape = objective.coef_shape
        # Parameters in the units of the objective are these times the variables.
        self.unit = objective.pack(np.broadcast_to(1 / size, shape), np.ones(shape[0]))
        self._targets = [b.target.to_dense(np.float64) for b in objective.blocks]

    def __call__(self, direction):
        parts = zip(self._scores(self.unit * direction), self._targets, strict=True)
        return np.concatenate(
            [np.sum(q * z, axis=1, keepdims=True) - z for z, q in parts]
        )

    def of_probabilities(self, parameters):
        """By how much each wrong class is less probable than what is likely."""
        mapping = get_mapping(self._objective.loss.mapping)
        p = np.concatenate([mapping(z) for z in self._scores(parameters)])
        return _UNLIKELY - p

    def least_with(self, direction, tied):
        """The least change with the same advantages where they are tied."""

        def some(x):
            return self(x)[tied]

        def adjoint(values):
            full = np.zeros(tied.shape)
            full[tied] = values
            return self._adjoint(full)

        operator = LinearOperator(
            (np.count_nonzero(tied), len(direction)), some, adjoint, dtype=float
        )
        exact = {"atol": 1e-14, "btol": 1e-14, "conlim": 0}
        return lsqr(operator, some(direction), **exact)[0]

    def _scores(self, parameters):
        coef, intercept = self._objective.unpack(parameters)
        for block in self._objective.blocks:
            yield scores_of(model_outputs(block.X, coef, intercept))

    def _adjoint(self, values):
        n_outputs = self._objective.coef_shape[0]
        coef, intercept, start = 0.0, 0.0, 0
        for block, q in zip(self._objective.blocks, self._targets, strict=True):
            part = values[start : start + len(q)]
            start += len(q)
            residual = outputs_adjoint(
                q * part.sum(axis=1, keepdims=True) - part, n_outputs
            )
            coef = coef + weighted_sum(block.X, residual)
            intercept = intercept + residual.sum(axis=0)
        return self.unit * self._objective.pack(coef, intercept)
