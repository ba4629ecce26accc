"""Quantiles of a noise, and the part of the real line that an integral must cover."""

from functools import lru_cache

import numpy as np

# Number of parts into which an interval is divided, and number of divisions: 16**15
# parts of [-350, 350] are as narrow as rounding errors.
_N_SECTIONS, _N_ROUNDS = 16, 15
# A noise whose tails end within this number of scales has no narrow features there.
_SHORT_TAIL = 10


class Reach:
    """Quantiles and tails of a noise, and of the largest of several draws.

    Parameters
    ----------
    noise : Noise
    n_classes : int
    tail : float
        Probability that may be truncated at either end. If the noise has a mean, the
        error of the expected maximum is at most `tail` at either end, too.

    Attributes
    ----------
    median, scale : float
        Centre and spread; the standard normal distribution has spread 1.
    median_of_max : ndarray of shape (n_classes,)
        Medians of the largest of 1, 2, ... draws.
    lower : ndarray of shape (n_classes,)
        Lower truncation points of the largest of 1, 2, ... draws.
    upper : float
        Upper truncation point of the largest of all draws.
    is_smooth_below : bool
        Whether a panel may contain the median of a class. It may not if the noise has
        a kink there, or a heavy lower tail: the class's density is then a narrow peak
        in a wide panel.
    """

    def __init__(self, noise, n_classes, tail):
        m = np.arange(1, n_classes + 1)
        low, median, high = quantiles(noise, np.array([0.25, 0.5, 0.75]))
        scale = (high - low) / 1.35
        # The median of a symmetric noise is zero up to rounding errors.
        median = 0.0 if abs(median) < 1e-12 * scale else median
        has_mean = noise.mean is not None

        def log_size(x):
            return np.log(np.maximum(np.abs(x - median) / scale, 1))

        def lower(x):
            return noise.logcdf(x) + has_mean * log_size(x) / m

        def upper(x):
            # The tail beyond x is about the density times the distance from the median.
            mass = noise.logpdf(x) + np.log(scale) + (1 + has_mean) * log_size(x)
            return np.where(x < median, -np.inf, -mass)

        self.median, self.scale = median, scale
        self.median_of_max = quantiles(noise, 0.5 ** (1 / m))
        self.lower = _invert(lower, np.log(tail) / m)
        self.upper = noise.support[1]
        if self.upper == np.inf:
            self.upper = _invert(upper, np.log([n_classes / tail]))[0]
        is_short = median - self.lower[0] < _SHORT_TAIL * scale
        self.is_smooth_below = np.isfinite(noise.support[0]) or (
            is_short and not noise.has_kink
        )


def quantiles(noise, probabilities):
    """Inverse of the distribution function."""
    return _invert(noise.logcdf, np.log(probabilities))


@lru_cache(maxsize=256)
def reach(noise, n_classes, tail):
    """The :class:`Reach` of a noise, computed once."""
    return Reach(noise, n_classes, tail)


def _invert(function, values):
    """Solve ``function(x) = values`` for an increasing function, by sections."""
    # The search is in asinh(x), so that one interval contains every x whose square is
    # finite.
    low, high = np.full(values.shape, -350.0), np.full(values.shape, 350.0)
    inside = np.arange(1, _N_SECTIONS)[:, None] / _N_SECTIONS
    with np.errstate(all="ignore"):
        for _ in range(_N_ROUNDS):
            points = low + (high - low) * inside
            n_below = (function(np.sinh(points)) <= values).sum(axis=0)
            edges = np.concatenate([low[None], points, high[None]])
            low, high = (
                np.take_along_axis(edges, n_below[None] + side, axis=0)[0]
                for side in (0, 1)
            )
    return np.sinh(high)
