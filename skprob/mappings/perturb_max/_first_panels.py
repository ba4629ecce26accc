"""The first panels of the adaptive route, which end where integrands are not smooth."""

import numpy as np

from ._panels import Panels, gauss_legendre
from ._tuning import TUNING

# A lower finite score counts as this one: differences of larger numbers overflow.
_LOWEST = -1e300
# Distances from a median, in scales, at which the density of a class alone in a wide
# gap changes by orders of magnitude: first panels end there.
_WIDTHS = np.array([3, 10, 30])


class FirstPanels:
    """Panels of the variable t of each row, before any is halved.

    Parameters
    ----------
    z : ndarray of shape (n_rows, n_classes)
        Standard scores, from :func:`clipped`.
    noise : Noise
    reach : Reach
        The reach of the noise, for this number of classes.
    tol : float
        Error of a probability; relative to the probability if `relative`.
    relative : bool
        Whether the tolerance is relative: then the interval contains the integral of
        the lowest class, however small.

    Attributes
    ----------
    centre : ndarray of shape (n_rows,)
        Approximate median of the largest perturbed score.
    """

    def __init__(self, z, noise, reach, tol, relative):
        self._z, self._noise = z, noise
        self._reach, self._tol, self._relative = reach, tol, relative
        self._ordered = -np.sort(-z, axis=1)
        self.centre = centre_of(self._ordered, reach)

    def panels(self):
        """The :class:`Panels` of all rows, a list with one item for each rule."""
        reach, noise = self._reach, self._noise
        low, high = self._ends()
        edges = [low, self.centre, high]
        if not reach.is_smooth_below:
            edges += self._features(self._relevant_medians())
        if np.isfinite(noise.support[1]):
            edges += list((self._z + noise.support[1]).T)
        edges = np.sort(np.clip(np.stack(edges, axis=1), low[:, None], high[:, None]))
        t = np.arcsinh((edges - self.centre[:, None]) / reach.scale)
        left, right = t[:, :-1], t[:, 1:]
        rows, place = np.nonzero(right > left)
        panels = [rows, left[rows, place], right[rows, place]]
        if not noise.has_kink:
            trust = 2 if noise.smoothness == "analytic" else 1
            return [Panels(gauss_legendre(TUNING.smooth_order, trust), *panels)]
        has_cusps = noise.smoothness == "cusped"
        orders = TUNING.cusped_orders if has_cusps else TUNING.kinked_orders
        is_narrow = np.diff(edges)[rows, place] < TUNING.narrow * reach.scale
        return [
            Panels(gauss_legendre(order, 2, has_cusps), *panels)[mask]
            for order, mask in zip(orders, (is_narrow, ~is_narrow), strict=True)
        ]

    def _relevant_medians(self):
        """Medians of the classes in descending order, -inf where no panel need end.

        With an absolute tolerance, kinks are negligible where G is below a share of it.
        """
        medians = self._ordered + self._reach.median
        if self._relative or not self._noise.has_kink:
            return medians
        n_rows, n_classes = medians.shape
        # G decreases along a row: find by bisection how many of its values are large.
        fewest, most = np.zeros(n_rows, dtype=int), np.full(n_rows, n_classes)
        for _ in range(n_classes.bit_length()):
            middle = np.minimum((fewest + most) // 2, n_classes - 1)
            x = np.take_along_axis(medians, middle[:, None], axis=1)
            G = self._noise.cdf_and_pdf(x - self._z)[0].prod(axis=1)
            is_large = G > TUNING.kink_mass * self._tol
            fewest = np.where(is_large, middle + 1, fewest)
            most = np.where(is_large, most, middle)
        return np.where(np.arange(n_classes) < fewest[:, None], medians, -np.inf)

    def _features(self, medians):
        """Edges where the density of a class below the centre is a narrow feature."""
        scale = self._reach.scale
        edges = list(medians.T)
        if self._noise.smoothness == "analytic":
            # One edge is enough for all medians within four scales.
            cell = np.ceil(medians / (4 * scale))
            is_first = np.diff(cell, axis=1, prepend=np.inf) != 0
            edges = list(np.where(is_first, medians, self.centre[:, None]).T)
        gap = np.diff(medians, axis=1, append=-np.inf)
        for width in scale * _WIDTHS:
            is_alone = gap < -2 * width
            if is_alone.any():
                beside = np.where(is_alone, medians - width, self.centre[:, None])
                edges += list(beside.T)
                above = np.where(is_alone, np.roll(medians, -1, axis=1) + width, np.inf)
                edges += list(above[:, :-1].T)
        return [np.minimum(edge, self.centre) for edge in edges]

    def _ends(self):
        """Both ends of the interval of each row."""
        reach = self._reach
        # m classes have scores of at least z_(m). The probability that the largest
        # perturbed score is below z_(m) + lower_m is at most that of the tail.
        low = (self._ordered + reach.lower).max(axis=1)
        high = np.full_like(low, reach.upper)
        return self._widened(low, high) if self._relative else (low, high)

    def _widened(self, low, high):
        """The interval that contains the integral of each class up to the tail."""
        reach, noise = self._reach, self._noise
        least = lowest_of(self._z)
        low = np.maximum(np.minimum(low, least + reach.lower[0]), noise.support[0])

        def lift(x):
            return noise.logpdf(x - least) - noise.logpdf(x)

        # The integral of a lower class extends further up if the tail is heavy.
        is_heavy = np.isinf(noise.support[1]) & (lift(high) > lift(self.centre))
        stretch = 1 + (self.centre - least) / reach.scale
        raised = np.minimum(self.centre + (high - self.centre) * stretch, -_LOWEST)
        return low, np.where(is_heavy, raised, high)


def centre_of(ordered, reach):
    """Approximate median of the largest perturbed score, from descending scores."""
    return (ordered + reach.median_of_max).max(axis=1)


def clipped(scores):
    """Scores as float64, with finite ones of at least -1e300."""
    z = np.array(scores, dtype=np.float64)
    z[(z < _LOWEST) & (z > -np.inf)] = _LOWEST
    return z


def lowest_of(z):
    """Lowest score of an available class in each row."""
    return np.where(z > -np.inf, z, 0).min(axis=1)
