"""The probability of one class in each row, and its gradient, for the log loss.

With y the row's class and the notation of :class:`MaxIntegral`,

    p_y = ∫ G h_y dx,    dp_y / dz_j = -∫ G h_y h_j dx    for j other than y,

and the sum over all j is zero. So all K + 1 integrals take one pass over the nodes.
"""

import numpy as np

from ._max_integral import MaxIntegral

# n_classes² times the rows of a block: a row has at most some n_classes panels.
_BLOCK_SIZE = 1 << 20
# Of the tolerance, for each integral: a gradient has the errors of many.
_PART = 0.1
# In numbers, of all classes at some nodes: these arrays should stay in a core's cache.
_CHUNK_SIZE = 1 << 17


class LabelIntegral(MaxIntegral):
    """The integrals for one class in each row.

    Parameters
    ----------
    scores, noise, tol, relative :
        As for :class:`MaxIntegral`.
    labels : ndarray of shape (n_rows,)
        Their scores are not -inf.
    """

    def __init__(self, scores, labels, noise, tol, relative):
        self._labels = labels
        super().__init__(scores, noise, _PART * tol, relative)

    def values(self):
        """Probabilities and gradients; of the logarithms if the integral is relative.

        Returns
        -------
        values : ndarray of shape (n_rows,)
        gradient : ndarray of shape (n_rows, n_classes)
        """
        if not self.relative:
            value, rates = self._p[0], -self._p[1:]
        elif self._log_p is None:
            value, rates = np.log(self._p[0]), self._p[1:] / -self._p[0]
        else:
            value = self._log_p[0]
            rates = -np.exp(self._log_p[1:] - value)
        rows = np.arange(len(self._labels))
        rates[self._labels, rows] = 0
        # All scores moved alike change nothing.
        rates[self._labels, rows] = -rates.sum(axis=0)
        return value, rates.T

    @property
    def _n_integrals(self):
        return 1 + len(self.z)

    def _least(self, ordered):
        return self.z[self._labels, np.arange(len(self._labels))]

    def _variable(self):
        # With Cauchy noise gradients have no more than 7 digits in that variable.
        if self.noise.variable is None or self.noise.is_graded:
            return super()._variable()
        return self.noise.variable, self.reach.scale

    def chunks(self, panels):
        numbers = len(self.z) * panels.rule.order
        return panels.chunks(max(1, _CHUNK_SIZE // numbers))

    def _sums(self, panels):
        rule, n_panels = panels.rule, len(panels)
        labels = self._labels[panels.rows]
        own = labels, slice(None), np.arange(n_panels)
        if self.in_logs:
            _, values, log_unit, log_hazards = self.log_integrand(panels)
            values, unit = values[own].T, log_unit[labels, np.arange(n_panels)]
            hazards = np.exp(log_hazards)
        else:
            integrand = self.integrand(panels)
            hazards, unit = integrand.hazards, 0.0
            values = hazards[own].T * integrand.common
        hazards[own] = 0
        total = values * hazards.sum(axis=0)
        _, error = rule.integral_and_error(np.stack([values, total]))
        values *= rule.weights[:, None]
        mass = np.concatenate([values[None], hazards * values]).sum(axis=1)
        if self.in_logs:
            mass, error = np.log(mass) + unit, np.log(error) + unit
        return None, mass, error, *np.zeros((2, n_panels))

    def _miss(self, p, panels, mass, error):
        return super()._miss(_with_rates(p), panels, _with_rates(mass), error)

    def _miss_in_logs(self, log_p, panels, log_mass, log_error):
        total, log_mass = (
            np.stack([logs[0], np.logaddexp.reduce(logs, axis=0)])
            for logs in (log_p, log_mass)
        )
        return super()._miss_in_logs(total, panels, log_mass, log_error)


def _with_rates(mass):
    """The probability, and the sum of it and all rates."""
    return np.stack([mass[0], mass.sum(axis=0)])


def label_gradient(scores, labels, noise, tol, relative):
    """Values and gradients of :class:`LabelIntegral`, for all rows.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Standard scores: the largest of each row is 0.
    labels : ndarray of shape (n_rows,)
        Their scores are not -inf.
    noise : Noise
    tol : float
    relative : bool
        Whether it is the logarithm of the probability.

    Returns
    -------
    values : ndarray of shape (n_rows,)
    gradient : ndarray of shape (n_rows, n_classes)
    """
    n_rows, n_classes = scores.shape
    if n_classes == 1:
        return np.full(n_rows, 0.0 if relative else 1.0), np.zeros(scores.shape)
    values, gradient = np.empty(n_rows), np.empty(scores.shape)
    step = max(1, _BLOCK_SIZE // n_classes**2)
    for start in range(0, n_rows, step):
        rows = slice(start, start + step)
        integral = LabelIntegral(scores[rows], labels[rows], noise, tol, relative)
        values[rows], gradient[rows] = integral.values()
    return values, gradient
