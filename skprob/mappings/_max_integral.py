"""Integrals over the largest of K perturbed scores, for all classes at once.

The largest of the scores z_j plus noise is at most x with probability
G(x) = Π_j Φ(x - z_j). With the noise's density φ and distribution function Φ,

    p_i = ∫ G(x) h(x - z_i) dx,    h = φ / Φ.

G is formed once for all classes, so a node of the quadrature takes K evaluations of
the noise. The first panels cover where G lives, row by row, with edges where the
integrand is not smooth; a panel that its nodes do not resolve is cut into halves.

Arrays are class by class, (n_classes, n_rows) or (n_classes, n_panels, n_nodes): so
reductions over a few classes are fast.
"""

import numpy as np
from scipy.special import logsumexp

from ._panels import Panels, add_logs, rule, sum_by_rows
from ._reach import reach

# In numbers: an array of a chunk should stay in a core's cache.
_CHUNK_SIZE = 1 << 15
_MAX_CUTS = 100
# Of the tolerance, what the ends of the line may hold and what a panel may err by.
_TAIL, _PANEL = 1e-3, 1e-3
# What rounding may do to the integral over a panel.
_ROUNDING = 1e-14
# Order, and decay of the coefficients to count on, for noises that are analytic,
# analytic but for kinks at edges, or not known: few wide panels want a high order.
_RULES = {"analytic": (28, 2), "piecewise": (14, 2), "unknown": (20, 1)}
# Logarithm of a number whose digits do not underflow.
_LOG_TINY = -600
# Distances, in units of the noise's scale, at which it is less and less felt.
_WIDTHS = np.array([3, 10, 30])


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

    Attributes
    ----------
    in_logs : bool
        Whether the integrand is formed from logarithms. Else it is formed from the
        noise's distribution function and density, which is faster, as long as no
        probability is near to underflow.
    log_p : ndarray of shape (n_classes, n_rows)
        Logarithms of the probabilities.
    expected_max : ndarray of shape (n_rows,)
        Expected value of the largest perturbed score, unless `relative`.
    """

    def __init__(self, scores, noise, tol, relative=False):
        self.z = np.ascontiguousarray(scores.T, dtype=np.float64)
        self.noise = noise
        self.tol = tol
        self.relative = relative
        self.reach = reach(noise, len(self.z), _TAIL * tol)
        self.rule = rule(*_RULES[noise.smoothness])
        with np.errstate(all="ignore"):
            self._integrate()

    def chunks(self, panels=None):
        """The panels that the integrals are sums over, a few at a time."""
        panels = self.panels if panels is None else panels
        return panels.chunks(max(1, _CHUNK_SIZE // (len(self.z) * self.rule.order)))

    def log_probabilities(self):
        """Logarithms of probabilities that sum to one, (n_rows, n_classes)."""
        return (self.log_p - logsumexp(self.log_p, axis=0)).T

    def integrand(self, panels):
        """Nodes and the integrand there, but for the weights of the rule.

        Returns
        -------
        x : ndarray of shape (n_panels, n_nodes)
        values : ndarray of shape (n_classes, n_panels, n_nodes)
        log_unit : ndarray of shape (n_classes, n_panels), or 0
            Logarithm of the unit of the values.
        hazards : ndarray of shape (n_classes, n_panels, n_nodes)
            h(x - z_i); its logarithm if `in_logs`.
        """
        noise = self.noise
        x, dx = self._nodes(panels)
        d = x - self.z[:, panels.rows, None]
        if not self.in_logs:
            cdf, hazards = noise.cdf_and_pdf(d)
            # Where Φ is zero the integrand is, whatever φ.
            np.divide(hazards, cdf, out=hazards, where=cdf > 0)
            return x, hazards * (cdf.prod(axis=0) * dx), 0.0, hazards
        logcdf = noise.logcdf(d)
        hazards = noise.logpdf(d)
        np.subtract(hazards, logcdf, out=hazards, where=logcdf > -np.inf)
        np.copyto(hazards, 0, where=logcdf == -np.inf)
        logs = hazards + (logcdf.sum(axis=0) + np.log(dx))
        log_unit = np.maximum(logs.max(axis=-1), np.finfo(float).min)
        logs -= log_unit[..., None]
        return x, np.exp(logs, out=logs), log_unit, hazards

    def _nodes(self, panels):
        """Nodes x and dx of each, from those in the variable t of the panels."""
        t, half = self.rule.nodes(panels)
        if self.reach.is_compact:
            return t, half
        scale = self.reach.scale
        x = self.centre[panels.rows, None] + scale * np.sinh(t)
        return x, scale * np.cosh(t) * half

    def _integrate(self):
        n_classes, n_rows = self.z.shape
        self.log_p = np.full((n_classes, n_rows), -np.inf)
        excess = np.zeros(n_rows)
        todo = Panels.between(self._edges())
        # Beyond, there are no digits left to find.
        most = 16 * np.bincount(todo.rows, minlength=n_rows) + 4 * n_classes
        kept, cuts = [todo[:0]], 0
        while len(todo):
            parts = [self._sums(chunk) for chunk in self.chunks(todo)]
            log_mass, log_error, moment, moment_error = (
                np.concatenate(arrays, axis=-1) for arrays in zip(*parts, strict=True)
            )
            allowed = np.log(_PANEL * self.tol)
            if self.relative:
                total = add_logs(self.log_p, todo.rows, log_mass)
                allowed = allowed + total[:, todo.rows]
            # The rounding of a logarithm is that of its size.
            rounding = log_mass + np.log(_ROUNDING * (1 + np.abs(log_mass)))
            allowed = np.maximum(allowed, rounding)
            bad = (log_error > allowed).any(axis=0)
            allowed = np.maximum(_PANEL * self.tol, _ROUNDING * np.abs(moment))
            bad |= moment_error > allowed
            few = np.bincount(todo.rows[bad], minlength=n_rows) < most
            bad &= few[todo.rows] & ~todo.are_points() & (cuts < _MAX_CUTS)
            done = todo[~bad]
            self.log_p = add_logs(self.log_p, done.rows, log_mass[:, ~bad])
            excess += sum_by_rows(done.rows, moment[~bad], n_rows)
            kept.append(done)
            todo = todo[bad].halves()
            cuts += 1
        self.panels = Panels.merge(kept)
        self.expected_max = self.centre + self.reach.scale * excess

    def _sums(self, panels):
        """Integrals and errors: logarithms of the classes', then the maximum's.

        That is of its distance from the centre, in units of the scale.
        """
        x, values, log_unit, _ = self.integrand(panels)
        mass, error = self.rule.integral_and_error(values)
        log_mass, log_error = np.log(mass) + log_unit, np.log(error) + log_unit
        if self.relative or self.noise.mean is None:
            return log_mass, log_error, *np.zeros((2, len(panels)))
        excess = (x - self.centre[panels.rows, None]) / self.reach.scale
        moment = self.rule.integral_and_error(excess * values.sum(axis=0))
        return log_mass, log_error, *moment

    def _edges(self):
        """Edges of the first panels, (n_edges, n_rows), in the variable t."""
        z, r = self.z, self.reach
        ordered = -np.sort(-z, axis=0)
        # Of the m classes with scores of at least z_(m), the largest is likely to
        # pass z_(m) + lower_m; and the largest of all too.
        low = (ordered + r.lower[:, None]).max(axis=0)
        high = np.full_like(low, r.upper)
        self.centre = (ordered + r.median_of_max[:, None]).max(axis=0)
        self.in_logs = False
        if self.relative:
            low, high = self._widen(low, high, ordered)
        edges = [low[None], self.centre[None], high[None]]
        if not r.is_smooth_below:
            edges += self._features(ordered + r.median)
        if np.isfinite(self.noise.support[1]):
            edges.append(z + self.noise.support[1])
        edges = np.sort(np.clip(np.concatenate(edges), low, high), axis=0)
        if r.is_compact:
            return edges
        return np.arcsinh((edges - self.centre) / r.scale)

    def _features(self, medians):
        """Edges where the classes' own distributions, below the centre, are felt."""
        scale = self.reach.scale
        edges = [medians]
        if self.noise.smoothness == "analytic":
            # One is enough where they are close.
            cell = np.floor(medians / (4 * scale))
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
        least = np.where(ordered > -np.inf, ordered, 0).min(axis=0)
        low = np.minimum(low, self._low_of(least, ordered))
        low = np.maximum(low, noise.support[0])

        def lift(x):
            return noise.logpdf(x - least) - noise.logpdf(x)

        # Above, a heavy tail reaches farther for a lower class.
        grows = np.isinf(noise.support[1]) & (lift(high) > lift(self.centre))
        stretch = 1 + (self.centre - least) / r.scale
        return low, np.where(grows, self.centre + (high - self.centre) * stretch, high)

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
