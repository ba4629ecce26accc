"""Integrals over the largest of K perturbed scores, for all classes at once.

The largest of the scores z_j plus noise is at most x with probability
G(x) = Π_j Φ(x - z_j). With the noise's density φ and distribution function Φ,

    p_i = ∫ G(x) h(x - z_i) dx,    h = φ / Φ.

G is formed once for all classes, so a node of the quadrature takes K evaluations of
the noise. The first panels cover where G lives, row by row: a single one where the
integrand is analytic and vanishes at both ends, else with edges where the integrand is
not smooth. A panel that its nodes do not resolve is cut into halves.

Arrays are class by class, (n_classes, n_rows) or (n_classes, n_nodes, n_panels): so
reductions are fast.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from ._panels import Panels, add_by_rows, add_logs, gauss_legendre, trapezoid
from ._reach import KINKED, reach
from ._variables import Line, Sinh, Stretched

# In numbers: of all classes at some nodes, and of those classes that are taken at once.
# The arrays that a noise works with should stay in a core's cache.
_CHUNK_SIZE, _BLOCK_SIZE = 1 << 19, 1 << 14
_MAX_CUTS = 100
# Of the tolerance, what the ends of the line may hold and what a panel may err by.
_TAIL, _PANEL = 1e-3, 1e-2
# What rounding may do to the integral over a panel.
_ROUNDING = 1e-14
# Order, decay of the coefficients to count on, and whether nodes draw near to edges,
# for noises that are analytic, analytic but for kinks or powers at edges, or not known:
# few wide panels want a high order.
_RULES = {
    "analytic": (28, 2, False),
    "piecewise": (14, 2, False),
    "cusped": (24, 2, True),
    "unknown": (20, 1, False),
}
# Of the trapezoidal rule; a row that is wider than so many steps is cut into panels.
_STEP, _MAX_STEPS = 0.13, 256
# In units of the scale: narrower panels of a noise with kinks have a shorter rule.
_NARROW = 0.3
# Finite scores below count as this one: differences of larger numbers overflow.
_LOWEST = -1e300
# Logarithm of a number whose digits do not underflow.
_LOG_TINY = -600
# Distances, in units of the noise's scale, at which it is less and less felt.
_WIDTHS = np.array([3, 10, 30])
# Wider panels, in units of the scale, have edges at the scores and beside them.
_WIDE = 40


class Integrand(NamedTuple):
    """The integrand at the nodes of some panels, but for the weights of the rule.

    Attributes
    ----------
    x, dx : ndarray of shape (n_nodes, n_panels)
        Nodes, and the length of line that one of the rule's intervals stands for.
    common : ndarray of shape (n_nodes, n_panels)
        G(x) dx; times a class's hazard it is that class's integrand.
    hazards : ndarray of shape (n_classes, n_nodes, n_panels)
        h(x - z_i).
    """

    x: np.ndarray
    dx: np.ndarray
    common: np.ndarray
    hazards: np.ndarray

    def without(self, panels):
        """That of the panels that a mask does not leave out."""
        if not panels.any():
            return self
        return Integrand(*(array[..., ~panels] for array in self))


class LogIntegrand(NamedTuple):
    """The same, where numbers underflow.

    Attributes
    ----------
    x : ndarray of shape (n_nodes, n_panels)
    values : ndarray of shape (n_classes, n_nodes, n_panels)
        G(x) h(x - z_i) dx, in units of
    log_unit : ndarray of shape (n_classes, n_panels)
        the exponential function of this.
    log_hazards : ndarray of shape (n_classes, n_nodes, n_panels)
    """

    x: np.ndarray
    values: np.ndarray
    log_unit: np.ndarray
    log_hazards: np.ndarray


class MaxIntegral:
    """The integrals for some rows of scores.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Standard scores: the largest of each row is 0.
    noise : Noise
    tol : float
        Error of a probability; relative to the probability if `relative`.
    relative : bool
        Whether small probabilities are wanted to the same number of digits.
    keep : bool
        Whether to keep the integrand at the nodes, for derivatives.

    Attributes
    ----------
    in_logs : bool
        Whether the integrand is formed from logarithms. Else it is formed from the
        noise's distribution function and density, which is faster, as long as no
        probability is near to underflow.
    expected_max : ndarray of shape (n_rows,)
        Expected value of the largest perturbed score, unless `relative`.
    panels : list of Panels
        The panels that the integrals are sums over.
    """

    def __init__(self, scores, noise, tol, relative=False, keep=False):
        self.z = np.array(scores.T, dtype=np.float64, order="C")
        self.z[(self.z < _LOWEST) & (self.z > -np.inf)] = _LOWEST
        self.noise = noise
        self.tol = tol
        self.relative = relative
        self._keep = keep
        self.reach = reach(noise, len(self.z), _TAIL * tol)
        with np.errstate(all="ignore"):
            self._integrate()

    @property
    def _n_integrals(self):
        """Of how many functions integrals are taken."""
        return len(self.z)

    @property
    def n_nodes(self):
        """Number of nodes of all rows together."""
        return sum(len(panels) * panels.rule.order for panels in self.panels)

    def chunks(self, panels):
        """Panels, a few at a time."""
        numbers = len(self.z) * panels.rule.order
        return panels.chunks(max(1, _CHUNK_SIZE // numbers))

    def integrands(self):
        """All panels, a few at a time, and their :class:`Integrand`.

        That is a :class:`LogIntegrand` if `in_logs`. What was kept is given away.
        """
        kept, self._kept = self._kept, [None] * len(self.panels)
        compute = self.log_integrand if self.in_logs else self.integrand
        for panels, integrand in zip(self.panels, kept, strict=True):
            if integrand is None:
                with np.errstate(all="ignore"):
                    integrand = compute(panels)
            yield panels, integrand

    @property
    def log_p(self):
        """Logarithms of the probabilities, (n_classes, n_rows)."""
        return np.log(self._p) if self._log_p is None else self._log_p

    def log_probabilities(self):
        """Logarithms of probabilities that sum to one, (n_rows, n_classes)."""
        with np.errstate(divide="ignore"):
            log_p = self.log_p
        return (log_p - logsumexp(log_p, axis=0)).T

    def probabilities(self):
        """Probabilities that sum to one, (n_rows, n_classes)."""
        p = self._p if self._log_p is None else np.exp(self._log_p)
        return (p / p.sum(axis=0)).T

    def integrand(self, panels):
        """The :class:`Integrand` at the nodes of some panels."""
        x, dx = self._nodes(panels)
        z = self.z[:, None, panels.rows]
        common, hazards = dx.copy(), np.empty((len(z), *x.shape))
        cdf_and_hazard = self.noise.at(x, self.relative)
        for block in self._blocks(x.size):
            cdf, hazards[block] = cdf_and_hazard(z[block])
            common *= cdf.prod(axis=0)
        return Integrand(x, dx, common, hazards)

    def log_integrand(self, panels):
        """The :class:`LogIntegrand` at the nodes of some panels."""
        x, dx = self._nodes(panels)
        d = x - self.z[:, None, panels.rows]
        logcdf = self.noise.logcdf(d)
        log_hazards = self.noise.log_hazard(d, logcdf)
        logs = log_hazards + (logcdf.sum(axis=0) + np.log(dx))
        log_unit = np.maximum(logs.max(axis=1), np.finfo(float).min)
        logs -= log_unit[:, None]
        return LogIntegrand(x, np.exp(logs, out=logs), log_unit, log_hazards)

    def _nodes(self, panels):
        t, half = panels.nodes()
        x, slope = self.variable.x_and_slope(t, self.centre[panels.rows], self.scale)
        return x, slope * half

    def _blocks(self, size):
        """Classes, a few at a time; `size` is the length of an array of one of them."""
        step = max(1, _BLOCK_SIZE // size)
        return [slice(i, i + step) for i in range(0, len(self.z), step)]

    def _integrate(self):
        n_classes, n_rows = self.z.shape
        log_p = np.full((self._n_integrals, n_rows), -np.inf)
        p, excess = np.zeros((self._n_integrals, n_rows)), np.zeros(n_rows)
        self._cut_line()
        rule = gauss_legendre(*_RULES[self.noise.smoothness])
        todo = [panels for panels in self.panels if len(panels)]
        self.panels, self._kept, cuts = [], [], 0
        # Beyond, there are no digits left to find.
        most = 4 * n_classes + 16 * sum(
            np.bincount(panels.rows, minlength=n_rows) for panels in todo
        )
        while todo:
            cut = []
            for panels in todo:
                chunks = list(self.chunks(panels))
                integrands, *parts = zip(*map(self._sums, chunks), strict=True)
                mass, error, moment, moment_error = (
                    np.concatenate(arrays, axis=-1) for arrays in parts
                )
                if self.in_logs:
                    bad = self._miss_in_logs(log_p, panels, mass, error)
                else:
                    bad = self._miss(p, panels, mass, error)
                allowed = np.maximum(_PANEL * self.tol, _ROUNDING * np.abs(moment))
                bad |= moment_error > allowed
                few = np.bincount(panels.rows[bad], minlength=n_rows) < most
                bad &= few[panels.rows] & ~panels.are_points() & (cuts < _MAX_CUTS)
                done = panels[~bad]
                if self.in_logs:
                    log_p = add_logs(log_p, done.rows, mass[:, ~bad])
                else:
                    add_by_rows(p, done.rows, mass[:, ~bad])
                add_by_rows(excess, done.rows, moment[~bad])
                for chunk, integrand, lost in zip(
                    chunks, integrands, _split(bad, chunks), strict=True
                ):
                    if not lost.all():
                        self.panels.append(chunk[~lost])
                        self._kept.append(integrand and integrand.without(lost))
                if bad.any():
                    cut.append(panels[bad].halves(rule))
            todo = cut
            cuts += 1
        self._p, self._log_p = p, log_p if self.in_logs else None
        self.expected_max = self._origin + excess

    def _miss(self, p, panels, mass, error):
        """Which panels err by more than they may."""
        allowed = _PANEL * self.tol
        if self.relative:
            total = p.copy()
            add_by_rows(total, panels.rows, mass)
            allowed = allowed * total[:, panels.rows]
        return (error > np.maximum(allowed, _ROUNDING * mass)).any(axis=0)

    def _miss_in_logs(self, log_p, panels, log_mass, log_error):
        total = add_logs(log_p, panels.rows, log_mass)
        allowed = np.log(_PANEL * self.tol) + total[:, panels.rows]
        # The rounding of a logarithm is that of its size.
        rounding = log_mass + np.log(_ROUNDING * (1 + np.abs(log_mass)))
        return (log_error > np.maximum(allowed, rounding)).any(axis=0)

    def _sums(self, panels):
        """The integrand, integrals and their errors: of classes, and the largest score.

        Those of the classes are logarithms if `in_logs`. The last is the expected value
        of the distance from the origin.
        """
        rule, n_panels = panels.rule, len(panels)
        if self.in_logs:
            _, values, log_unit, _ = self.log_integrand(panels)
            mass, error = rule.integral_and_error(values)
            logs = np.log(mass) + log_unit, np.log(error) + log_unit
            return None, *logs, *np.zeros((2, n_panels))
        integrand = self.integrand(panels)
        kept = integrand if self._keep else None
        x, dx, common, hazards = integrand
        mass, error = np.empty((2, len(hazards), n_panels))
        density = np.zeros_like(x)
        for block in self._blocks(x.size):
            values = hazards[block] * common
            mass[block], error[block] = rule.integral_and_error(values)
            density += values.sum(axis=0)
        if self.relative or self.noise.mean is None:
            return kept, mass, error, *np.zeros((2, n_panels))
        if self.variable.is_bounded_above:
            # Integrated by parts: x is a logarithm of what the rest is a polynomial in.
            excess = np.where(x > 0, dx, 0) - common
        else:
            excess = (x - self._origin[panels.rows]) * density
        return kept, mass, error, *rule.integral_and_error(excess)

    def _cut_line(self):
        """Choose the variable and the first panels."""
        z, r, noise = self.z, self.reach, self.noise
        ordered = -np.sort(-z, axis=0)
        # Of the m classes with scores of at least z_(m), the largest is likely to
        # pass z_(m) + lower_m; and the largest of all too.
        low = (ordered + r.lower[:, None]).max(axis=0)
        high = np.full_like(low, r.upper)
        self.centre = (ordered + r.median_of_max[:, None]).max(axis=0)
        self.in_logs = False
        if self.relative:
            low, high = self._widen(low, high, ordered)
        elif noise.smoothness != "unknown" and noise.mean is not None:
            low = self._raised(low)
        self.variable, self.scale = self._variable()
        bounded = self.variable.is_bounded_above
        self._origin = np.maximum(low, 0) if bounded else self.centre
        self.panels = []
        is_wide = np.full(low.shape, not isinstance(self.variable, Stretched))
        if not is_wide.all():
            ends = self.variable.at(np.stack([low, high]), self.centre, self.scale)
            steps = (ends[1] - ends[0]) / _STEP
            is_wide = ~(steps <= _MAX_STEPS)
            steps[is_wide] = 0
        if is_wide.any():
            for panels in self._between_edges(low, high, ordered):
                self.panels.append(panels[is_wide[panels.rows]])
        if not is_wide.all():
            orders = 8 * np.ceil(steps / 8).astype(int)
            for order in np.unique(orders[~is_wide]):
                rows = np.flatnonzero(~is_wide & (orders == order))
                rule = trapezoid(int(order))
                self.panels.append(Panels(rule, rows, *ends[:, rows]))

    def _raised(self, low):
        """A higher low end: all classes together are less likely to be below it.

        For a noise whose lower tail is light: below, there is nothing to integrate.
        """
        high = self.centre
        for _ in range(5):
            middle = (low + high) / 2
            cdf, _ = self.noise.at(middle)(self.z)
            is_tail = cdf.prod(axis=0) < _TAIL * self.tol / len(self.z)
            low, high = np.where(is_tail, [middle, high], [low, middle])
        return low

    def _variable(self):
        """The variable, and its scale."""
        r, noise = self.reach, self.noise
        if noise.stretch is not None:
            return Stretched(), noise.stretch * r.spread_of_max
        if noise.variable is not None and not self.relative:
            return noise.variable, r.scale
        return Line() if r.is_compact else Sinh(), r.scale

    def _between_edges(self, low, high, ordered):
        """Panels between all points where the integrand may not be smooth."""
        z, r = self.z, self.reach
        middle = 0 * low if self.variable.is_bounded_above else self.centre
        edges = [low[None], middle[None], high[None]]
        if not r.is_smooth_below:
            edges += self._features(ordered + r.median)
        elif self.relative:
            # Nodes of a panel that is very wide would miss the integrals of classes
            # close to its ends.
            is_wide = low < self.centre - _WIDE * r.scale
            features = self._features(ordered + r.median)
            edges += [np.where(is_wide, edge, self.centre) for edge in features]
        if np.isfinite(self.noise.support[1]):
            edges.append(z + self.noise.support[1])
        edges = np.sort(np.clip(np.concatenate(edges), low, high), axis=0)
        edges = self.variable.at(edges, self.centre, self.scale)
        order, *how = _RULES[self.noise.smoothness]
        panels = Panels.between(edges, gauss_legendre(self.noise.order, *how))
        if self.noise.smoothness not in KINKED:
            return [panels]
        # Between many kinks few nodes are enough.
        is_narrow = panels.right - panels.left < _NARROW * r.scale
        wide = Panels.between(edges, gauss_legendre(order, *how))
        return [panels[is_narrow], wide[~is_narrow]]

    def _features(self, medians):
        """Edges where the classes' own distributions, below the centre, are felt."""
        scale = self.reach.scale
        edges = [medians]
        if self.noise.smoothness == "analytic":
            # One is enough where they are close.
            cell = np.ceil(medians / (4 * scale))
            first = np.diff(cell, axis=0, prepend=np.inf) != 0
            edges = [np.where(first, medians, self.centre)]
        # In a wide gap, no rule would see what happens close to the ends.
        gap = np.diff(medians, axis=0, append=-np.inf)
        for width in scale * _WIDTHS:
            alone = gap < -2 * width
            edges.append(np.where(alone, medians - width, self.centre))
            edges.append(np.where(alone[:-1], medians[1:] + width, self.centre))
        return [np.minimum(edge, self.centre) for edge in edges]

    def _widen(self, low, high, ordered):
        """The interval that holds nearly all of every class's own integral."""
        r, noise = self.reach, self.noise
        least = self._least(ordered)
        low = np.minimum(low, self._low_of(least, ordered))
        low = np.maximum(low, noise.support[0])

        def lift(x):
            return noise.logpdf(x - least) - noise.logpdf(x)

        # Above, a heavy tail reaches farther for a lower class.
        grows = np.isinf(noise.support[1]) & (lift(high) > lift(self.centre))
        stretch = 1 + (self.centre - least) / r.scale
        raised = np.minimum(self.centre + (high - self.centre) * stretch, -_LOWEST)
        return low, np.where(grows, raised, high)

    def _least(self, ordered):
        """The lowest score of a class whose probability is asked for."""
        return np.where(ordered > -np.inf, ordered, 0).min(axis=0)

    def _low_of(self, least, ordered):
        """Where the integrand of the lowest class begins."""
        r, noise = self.reach, self.noise
        low = least + r.lower[0]
        # At least the probability of being between centre and centre + scale.
        log_p = np.log(r.scale / 2) + noise.logpdf(self.centre - least + r.scale)
        self.in_logs = (log_p < _LOG_TINY).any()
        log_tail = np.log(_TAIL * self.tol)
        if r.is_compact:
            # Look at it: it has one peak.
            x = np.linspace(low, self.centre, 13)
            logs = noise.logpdf(x - least)
            for z in self.z:
                logs += noise.logcdf(x - z)
            first = (logs > logs.max(axis=0) + log_tail).argmax(axis=0)
            return np.take_along_axis(x, np.maximum(first - 1, 0)[None], 0)[0]
        # Below the medians of m perturbed scores there is less than 2 ** -m.
        m = np.minimum(2 - (log_tail + log_p) / np.log(2), len(ordered) - 1)
        median = np.take_along_axis(ordered, m.astype(int)[None], 0)[0] + r.median
        return np.where(m < len(ordered) - 1, np.maximum(low, median), low)


def _split(array, parts):
    """An array as long as all parts together, cut like these."""
    return np.split(array, np.cumsum([len(part) for part in parts])[:-1])
