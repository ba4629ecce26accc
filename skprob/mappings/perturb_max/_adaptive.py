"""The adaptive route: quadrature on panels of each row, for every noise.

The largest of the scores z_j plus noise is at most x with probability
G(x) = Π_j Φ(x - z_j). With the noise's density φ and the hazard h = φ / Φ,

    p_i = ∫ G(x) h(x - z_i) dx.

G is the same for all classes, so a node takes n_classes evaluations of the noise. The
integration variable is t = asinh((x - centre) / scale), whose steps grow with the
distance from the centre. The first panels end where the integrand is not smooth. A
panel whose estimated error is too large is halved.
"""

from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from ._derivatives import Nodes
from ._panels import Panels, add_logs, gauss_legendre
from ._tuning import TUNING
from .noises import reach

# A lower finite score counts as this one: differences of larger numbers overflow.
_LOWEST = -1e300
# Distances from a median, in scales, at which the density of a class alone in a wide
# gap changes by orders of magnitude: first panels end there.
_WIDTHS = np.array([3, 10, 30])


class AdaptiveQuadrature:
    """Integrals of some rows, all from logarithms or all without.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Standard scores: the largest of each row is 0.
    noise : Noise
    tol : float
        Error of a probability; relative to the probability if `relative`.
    relative : bool
        Whether the tolerance is relative.
    labels : ndarray of shape (n_rows,) or None
        If given, a row has the probability p_y of its label y. The columns of the
        other classes hold -∂p_y / ∂z_j = ∫ G h_y h_j dx.
    in_logs : bool
        Whether integrands are computed from logarithms: no underflow, but slower.

    Attributes
    ----------
    log_integrals : ndarray of shape (n_rows, n_classes)
    expected_max : ndarray of shape (n_rows,)
        Expected value of the largest perturbed score, if there are no labels, the
        tolerance is absolute and the noise has a mean.
    """

    def __init__(self, scores, noise, tol, relative, labels, in_logs):
        self.z = _clipped(scores)
        self.noise, self.labels, self.in_logs = noise, labels, in_logs
        self._relative = relative
        self._tol = tol if labels is None else TUNING.label_error * tol
        self._has_potential = labels is None and not relative and noise.mean is not None
        self.reach = reach(noise, self.z.shape[1], TUNING.adaptive_tail * self._tol)
        with np.errstate(all="ignore"):
            self._integrate(self._first_panels())

    def _integrate(self, todo):
        """Halve panels until all have the tolerance, and add up their integrals."""
        n_rows, n_classes = self.z.shape
        total = np.full((n_rows, n_classes + 2 * self._has_potential), -np.inf)
        n_panels = sum(np.bincount(part.rows, minlength=n_rows) for part in todo)
        # More panels with too large an error are due to rounding errors.
        most_bad = 4 * n_classes + 16 * n_panels
        accepted, todo = [], [panels for panels in todo if len(panels)]
        for n_halvings in range(TUNING.most_halvings + 1):
            halves = []
            for panels in todo:
                log_mass, log_error = self._sums(panels)
                is_bad = self._errs(total, panels, log_mass, log_error)
                n_bad = np.bincount(panels.rows[is_bad], minlength=n_rows)
                is_bad &= (n_bad < most_bad)[panels.rows] & ~panels.are_points()
                is_bad &= n_halvings < TUNING.most_halvings
                accepted.append(panels[~is_bad])
                total = add_logs(total, accepted[-1].rows, log_mass[~is_bad])
                if is_bad.any():
                    halves.append(panels[is_bad].halves())
            todo = halves
            if not todo:
                break
        self.log_integrals = total[:, :n_classes]
        self.expected_max = np.full(n_rows, np.nan)
        if self._has_potential:
            above, below = np.exp(total[:, n_classes:]).T
            self.expected_max = self.centre + above - below
        self._accepted = accepted

    def _sums(self, panels):
        """Logarithms of the integrals and of their errors, each (n_panels, n)."""
        size = self.z.shape[1] * panels.rule.order
        parts = [
            self._sums_of_chunk(chunk)
            for chunk in panels.chunks(max(1, TUNING.chunk_size // size))
        ]
        mass, error = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return mass, error

    def _sums_of_chunk(self, panels):
        x, dx = self._x(*panels.nodes(), panels.rows)
        common, values = self._integrand(x, dx, self.z[panels.rows])
        if self.labels is not None:
            at_label = self.labels[panels.rows], slice(None), np.arange(len(panels))
            own_hazards = values[at_label].T
            common = common + own_hazards if self.in_logs else common * own_hazards
            values[at_label] = 0 if self.in_logs else 1
        if self.in_logs:
            values += common
            unit = np.maximum(values.max(axis=1), np.finfo(float).min)
            values = np.exp(values - unit[:, None])
        else:
            values *= common
            unit = 0.0
        mass, error = panels.rule.integral_and_error(values)
        if self._has_potential:
            # E[max] = centre + ∫ (x - centre) dG, above the centre and below it.
            excess = (x - self.centre[panels.rows]) * values.sum(axis=0)
            sides = np.stack([np.maximum(excess, 0), np.maximum(-excess, 0)])
            sums = panels.rule.integral_and_error(sides)
            mass, error = (
                np.concatenate([mass, sums[0]]),
                np.concatenate([error, sums[1]]),
            )
        return (np.log(mass) + unit).T, (np.log(error) + unit).T

    def _errs(self, total, panels, log_mass, log_error):
        """Panels whose error is too large."""
        allowed = np.log(TUNING.panel_error * self._tol)
        if self._relative:
            size = add_logs(total, panels.rows, log_mass)
            if self.labels is not None:
                # A derivative has the tolerance relative to the sum of all.
                at_label = np.arange(len(size)), self.labels
                log_p = size[at_label]
                size[:] = logsumexp(size, axis=1, keepdims=True)
                size[at_label] = log_p
            allowed = allowed + size[panels.rows]
        # A logarithm has the rounding error of its size.
        rounding = TUNING.panel_rounding + TUNING.log_rounding * np.abs(log_mass)
        rounding = log_mass + np.log(rounding)
        return (log_error > np.maximum(allowed, rounding)).any(axis=1)

    def _integrand(self, x, dx, z):
        """G(x) dx, (n_nodes, n), and the hazards, (n_classes, n_nodes, n).

        Both are logarithms if `in_logs`. Sums over classes are fastest if these are the
        first axis.
        """
        z = np.ascontiguousarray(z.T)[:, None]
        if self.in_logs:
            logcdf = self.noise.logcdf(x - z)
            log_hazards = self.noise.log_hazard(x - z, logcdf)
            return logcdf.sum(axis=0) + np.log(dx), log_hazards
        cdf, hazards = self.noise.cdf_and_hazard(x, z)
        return cdf.prod(axis=0) * dx, hazards

    def _x(self, t, dt, rows):
        """Nodes x, and their weights dx, from nodes t and weights dt."""
        scale = self.reach.scale
        return self.centre[rows] + scale * np.sinh(t), scale * np.cosh(t) * dt

    # The nodes of the accepted panels, for derivatives.

    @cached_property
    def _nodes(self):
        """Row, t and weight of all nodes, ordered by rows."""
        parts = []
        for panels in self._accepted:
            t, half = panels.nodes()
            rows = np.tile(panels.rows, panels.rule.order)
            dt = panels.rule.weights[:, None] * half
            parts.append((rows, t.ravel(), dt.ravel()))
        rows, t, dt = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        order = np.argsort(rows, kind="stable")
        return rows[order], t[order], dt[order]

    @cached_property
    def n_nodes(self):
        """Number of nodes of each row."""
        return np.bincount(self._nodes[0], minlength=len(self.z))

    def nodes_of(self, index, relative):
        """:class:`Nodes` of some rows, filled up with nodes of weight zero."""
        _, t, dt = self._nodes
        rank = np.arange(self.n_nodes[index].max())[:, None]
        is_node = rank < self.n_nodes[index]
        first = np.cumsum(self.n_nodes) - self.n_nodes
        numbers = np.where(is_node, first[index] + rank, 0)
        with np.errstate(all="ignore"):
            x, dx = self._x(t[numbers], dt[numbers], index)
            dx, z = np.where(is_node, dx, 0), self.z[index]
            common, hazards = self._integrand(x, dx, z)
        return Nodes.of(
            x.T,
            z,
            common.T,
            np.ascontiguousarray(hazards.T),
            in_logs=self.in_logs,
            relative=relative,
        )

    # The first panels.

    def _first_panels(self):
        r, noise = self.reach, self.noise
        ordered = -np.sort(-self.z, axis=1)
        # m classes have scores of at least z_(m). With the probability of the tail at
        # most, the largest of all is below z_(m) + lower_m.
        low = (ordered + r.lower).max(axis=1)
        high = np.full_like(low, r.upper)
        self.centre = _centre(ordered, r)
        if self._relative:
            low, high = self._widened(low, high, ordered)
        edges = [low, self.centre, high]
        if not r.is_smooth_below:
            edges += self._features(ordered + r.median)
        if np.isfinite(noise.support[1]):
            edges += list((self.z + noise.support[1]).T)
        edges = np.sort(np.clip(np.stack(edges, axis=1), low[:, None], high[:, None]))
        t = np.arcsinh((edges - self.centre[:, None]) / r.scale)
        left, right = t[:, :-1], t[:, 1:]
        rows, place = np.nonzero(right > left)
        panels = [rows, left[rows, place], right[rows, place]]
        if noise.smoothness != "piecewise":
            return [Panels(self._rule(), *panels)]
        is_narrow = np.diff(edges)[rows, place] < TUNING.narrow * r.scale
        return [
            Panels(gauss_legendre(order, 2), *panels)[mask]
            for order, mask in (
                (TUNING.narrow_order, is_narrow),
                (TUNING.wide_order, ~is_narrow),
            )
        ]

    def _rule(self):
        """The rule on all panels of a noise that is not piecewise analytic."""
        smoothness = self.noise.smoothness
        if smoothness == "cusped":
            return gauss_legendre(TUNING.cusped_order, 2, True)
        return gauss_legendre(self.noise.order, 2 if smoothness == "analytic" else 1)

    def _features(self, medians):
        """Edges where the density of a class below the centre is a narrow feature."""
        scale = self.reach.scale
        edges = list(medians.T)
        if self.noise.smoothness == "analytic":
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

    def _widened(self, low, high, ordered):
        """The interval that contains each class's own integral up to the tail."""
        r, noise = self.reach, self.noise
        least = _lowest(self.z, self.labels)
        low = np.maximum(np.minimum(low, least + r.lower[0]), noise.support[0])

        def lift(x):
            return noise.logpdf(x - least) - noise.logpdf(x)

        # The integral of a lower class extends further up if the tail is heavy.
        is_heavy = np.isinf(noise.support[1]) & (lift(high) > lift(self.centre))
        stretch = 1 + (self.centre - least) / r.scale
        raised = np.minimum(self.centre + (high - self.centre) * stretch, -_LOWEST)
        return low, np.where(is_heavy, raised, high)


def underflow(scores, noise, labels):
    """Rows whose integrands may underflow without logarithms.

    At the centre the hazard of the lowest class is at least its density, and G is about
    1/2. Where these do not underflow, nodes that do are negligible.
    """
    z = _clipped(scores)
    r = reach(noise, z.shape[1], TUNING.adaptive_tail)
    centre = _centre(-np.sort(-z, axis=1), r)
    with np.errstate(all="ignore"):
        return noise.logpdf(centre - _lowest(z, labels)) < TUNING.log_underflow


def _centre(ordered, r):
    """About the median of the largest perturbed score, from scores in falling order."""
    return (ordered + r.median_of_max).max(axis=1)


def _clipped(scores):
    """Scores as float64, finite ones from -1e300."""
    z = np.array(scores, dtype=np.float64)
    z[(z < _LOWEST) & (z > -np.inf)] = _LOWEST
    return z


def _lowest(z, labels):
    """Lowest score of a class whose probability is wanted, in each row."""
    if labels is not None:
        return z[np.arange(len(z)), labels]
    return np.where(z > -np.inf, z, 0).min(axis=1)
