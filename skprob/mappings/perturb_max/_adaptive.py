"""The adaptive route: quadrature on panels of each row, for every noise.

The integral and its parts G and h are in `__init__.py`. G is the same for all classes,
so a node takes n_classes evaluations of the noise. The integration variable is
t = asinh((x - centre) / scale), whose steps grow with the distance from the centre. The
first panels (`_first_panels.py`) end where the integrand is not smooth. A panel whose
estimated error is too large is halved.
"""

from functools import cached_property

import numpy as np

from ._derivatives import Nodes
from ._first_panels import FirstPanels, clipped
from ._panels import add_logs
from ._tuning import TUNING
from .noises import reach

_TINY = np.finfo(float).tiny


class AdaptiveQuadrature:
    """Integrals of some rows.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Standard scores: the largest of each row is 0.
    noise : Noise
    tol : float
        Error of a probability; relative to the probability if `relative`.
    relative : bool
        Whether the tolerance is relative. Then integrands are computed from logarithms,
        because they may underflow.

    Attributes
    ----------
    log_integrals : ndarray of shape (n_rows, n_classes)
    expected_max : ndarray of shape (n_rows,)
        Expected value of the largest perturbed score, if the tolerance is absolute and
        the noise has a mean.
    """

    def __init__(self, scores, noise, tol, relative):
        self.z, self.noise = clipped(scores), noise
        self._tol, self._relative = tol, relative
        self._has_potential = not relative and noise.mean is not None
        self.reach = reach(noise, self.z.shape[1], TUNING.adaptive_tail * tol)
        with np.errstate(all="ignore"):
            first = FirstPanels(self.z, noise, self.reach, tol, relative)
            self.centre = first.centre
            self._integrate(first.panels())

    def _integrate(self, todo):
        """Halve panels until all are within the tolerance, and sum their integrals."""
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
                is_bad = self._is_inaccurate(total, panels, log_mass, log_error)
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
        if self._relative:
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

    def _is_inaccurate(self, total, panels, log_mass, log_error):
        """Panels whose error is too large."""
        allowed = np.log(TUNING.panel_error * self._tol)
        if self._relative:
            log_p = add_logs(total, panels.rows, log_mass)
            allowed = allowed + log_p[panels.rows]
        # A logarithm has the rounding error of its size.
        rounding = TUNING.panel_rounding + TUNING.log_rounding * np.abs(log_mass)
        rounding = log_mass + np.log(rounding)
        return (log_error > np.maximum(allowed, rounding)).any(axis=1)

    def _integrand(self, x, dx, z):
        """G(x) dx, (n_nodes, n), and the hazards, (n_classes, n_nodes, n).

        Both are logarithms if the tolerance is relative. Sums over classes are fastest
        if these are the first axis.
        """
        z = np.ascontiguousarray(z.T)[:, None]
        if self._relative:
            logcdf = self.noise.logcdf(x - z)
            log_hazards = self.noise.log_hazard(x - z, logcdf)
            # The density of a heavy tail does not underflow for an unavailable class.
            np.copyto(log_hazards, -np.inf, where=z == -np.inf)
            return logcdf.sum(axis=0) + np.log(dx), log_hazards
        cdf, hazards = self.noise.cdf_and_pdf(x - z)
        # Where Φ is zero, so is G: any finite number may be the hazard.
        hazards /= np.maximum(cdf, _TINY)
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

    def nodes_of(self, index):
        """:class:`Nodes` of some rows, padded with nodes of weight zero."""
        _, t, dt = self._nodes
        rank = np.arange(self.n_nodes[index].max())[:, None]
        is_node = rank < self.n_nodes[index]
        first = np.cumsum(self.n_nodes) - self.n_nodes
        numbers = np.where(is_node, first[index] + rank, 0)
        with np.errstate(all="ignore"):
            x, dx = self._x(t[numbers], dt[numbers], index)
            dx, z = np.where(is_node, dx, 0), self.z[index]
            common, hazards = self._integrand(x, dx, z)
        hazards = np.ascontiguousarray(hazards.T)
        return Nodes.of(x.T, z, common.T, hazards, self._relative)
