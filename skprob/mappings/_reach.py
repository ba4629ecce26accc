"""How far a noise reaches: the part of the real line that an integral must cover."""

from functools import lru_cache

import numpy as np

# Parts that an interval is cut into, and how often, for all digits.
_N_SECTIONS, _N_ROUNDS = 16, 15
#: Kinds of smoothness with which polynomials may not cross the median.
KINKED = "piecewise", "cusped"


class Reach:
    """Quantiles and tails of a noise, and of the largest of several.

    Parameters
    ----------
    noise : Noise
    n_classes : int
    tail : float
        Probability that may be left out at either end. Where the noise has a mean,
        the expected maximum misses no more than that either.

    Attributes
    ----------
    median, scale : float
        Centre and spread; the standard normal distribution has spread 1.
    median_of_max : ndarray of shape (n_classes,)
        Of the largest of 1, 2, ... noises.
    spread_of_max : float
        Interquartile range of the largest of all.
    lower : ndarray of shape (n_classes,)
        What the largest of 1, 2, ... noises is above, but for the tail.
    upper : float
        What the largest of all is below, but for the tail.
    is_smooth_below : bool
        Can polynomials cross the noise's median without noticing? Not if a heavy
        lower tail brings along features, or kinks like that of Laplace noise, that
        are narrow beside the whole range.
    is_compact : bool
        Is the whole range but a few times the scale?
    """

    def __init__(self, noise, n_classes, tail):
        m = np.arange(1, n_classes + 1)
        low, median, high = quantiles(noise, np.array([0.25, 0.5, 0.75]))
        scale = (high - low) / 1.35
        # That of a symmetric noise is a number with rounding errors.
        median = 0.0 if abs(median) < 1e-12 * scale else median
        has_mean = noise.mean is not None

        def log_size(x):
            return np.log(np.maximum(np.abs(x - median) / scale, 1))

        def lower(x):
            return noise.logcdf(x) + has_mean * log_size(x) / m

        def upper(x):
            mass = noise.logpdf(x) + (1 + has_mean) * log_size(x)
            return np.where(x < median, -np.inf, -mass)

        self.median, self.scale = median, scale
        self.median_of_max = quantiles(noise, 0.5 ** (1 / m))
        near, far = quantiles(noise, np.array([0.25, 0.75]) ** (1 / n_classes))
        self.spread_of_max = far - near
        self.lower = _invert(lower, np.log(tail) / m)
        self.upper = noise.support[1]
        if self.upper == np.inf:
            self.upper = _invert(upper, np.log([n_classes / tail]))[0]
        below, above = median - self.lower[0], self.upper - median
        is_near = below < 10 * scale and noise.smoothness not in KINKED
        self.is_smooth_below = np.isfinite(noise.support[0]) or is_near
        self.is_compact = below + above < 20 * scale


def quantiles(noise, probabilities):
    """Inverse of the distribution function."""
    return _invert(noise.logcdf, np.log(probabilities))


@lru_cache(maxsize=256)
def reach(noise, n_classes, tail):
    """The :class:`Reach` of a noise, computed once."""
    return Reach(noise, n_classes, tail)


def _invert(function, values):
    """Solve ``function(x) = values`` for an increasing function, by sections."""
    # In asinh(x), so that one interval holds every x that can be squared.
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
