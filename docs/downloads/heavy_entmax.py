"""Heavy-tailed entmax: the formula of entmax continued to 0 < α < 1."""

from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval

from skprob.mappings import Linearization, Mapping, Traits


class HeavyEntmax(Mapping):
    r"""Entmax for :math:`0 < \alpha < 1`: no zeros, and tails that are powers.

    The mapping maximises :math:`\langle p, z \rangle - \Omega(p)` over the simplex
    for the same :math:`\Omega(p) = (\sum_i p_i^\alpha - 1) / (\alpha (\alpha - 1))`
    as entmax. With :math:`\beta = 1 - \alpha` that gives

    .. math:: p_i = (\tau - \beta z_i)^{-1/\beta}, \quad \tau \text{ such that }
       \sum_i p_i = 1.

    Parameters
    ----------
    alpha : float, default=0.5
        Between 0 and 1, exclusive. The lower, the heavier the tails; towards 1
        the mapping becomes softmax.

    References
    ----------
    Zimmert, Seldin, "Tsallis-INF: an optimal algorithm for stochastic and
    adversarial bandits", JMLR 2021 (for α = 1/2).

    Examples
    --------
    >>> import numpy as np
    >>> HeavyEntmax()([[0.0, 1.0, -np.inf]]).round(4)
    array([[0.3354, 0.6646, 0.    ]])
    """

    _parameter_constraints = {"alpha": [Interval(Real, 0, 1, closed="neither")]}
    traits = Traits(has_potential=True)

    def __init__(self, alpha=0.5):
        self.alpha = alpha

    def probabilities(self, scores):
        """Probabilities of standard scores."""
        return self._solve(scores)[0]

    def probabilities_and_potential(self, scores):
        """Probabilities and the potential of each row of standard scores."""
        p, tau = self._solve(scores)
        # <p, z> - Ω(p), where the formula for p has given z.
        beta = 1 - self.alpha
        power_sum = (p**self.alpha).sum(axis=1)
        return p, (tau[:, 0] - 1 / self.alpha) / beta + power_sum / self.alpha

    def negative_entropy(self, probabilities):
        """Ω of each row of probabilities."""
        power_sum = (probabilities**self.alpha).sum(axis=1)
        return (1 - power_sum) / (self.alpha * (1 - self.alpha))

    def linearize(self, scores):
        """Linearization of the mapping at standard scores."""
        p = self.probabilities(scores)
        s = p ** (2 - self.alpha)
        weights = s / s.sum(axis=1, keepdims=True)

        def jvp(direction):
            mean = (weights * direction).sum(axis=1, keepdims=True)
            return s * (direction - mean)

        return Linearization(p, jvp, jvp)  # the Jacobian is symmetric

    def _solve(self, scores):
        # (Σp)^(-β) increases in τ and is concave, so Newton's steps towards
        # (Σp)^(-β) = 1 climb to the root from τ = 1, where the best class has p = 1.
        beta = 1 - self.alpha
        tau = np.ones((len(scores), 1), dtype=scores.dtype)
        for _ in range(50):
            p = (tau - beta * scores) ** (-1 / beta)
            total = p.sum(axis=1, keepdims=True)
            slope = (p ** (1 + beta)).sum(axis=1, keepdims=True)
            step = total * (total**beta - 1) / slope
            tau += step
            if (step <= 4 * np.finfo(tau.dtype).eps * tau).all():
                break
        return p / total, tau
