"""The shared route: nodes that all rows of about one spread share, for smooth noises.

The largest score of a row is 0. At a node x, log G(x) = Σ_j log Φ(x - z_j) sums a
smooth function over the scores. The logarithm of the probability of a score z,

    p(z) = ∫ G(x) h(x - z) dx,

is a smooth function of z, too. On an interval [-depth, 0] both are polynomials, up to
rounding errors. So the sums of polynomials over the scores of a row, times a matrix,
are its log G at all nodes; and G times a matrix is p at the points through which log p
is interpolated. A class takes no evaluation of the noise, whatever the number of nodes.

The polynomials are the products T_a(s) T_nb(s) of Chebyshev polynomials with a and b
below n. They span all polynomials of degree below n², and the sums of a row are one
product of two small matrices.
"""

from functools import lru_cache

import numpy as np

from ._derivatives import Nodes
from ._tuning import TUNING
from .noises import reach

# Number of scores at which the tables are compared with the noise.
_N_TESTED = 200


def shared_groups(scores, noise, tol, relative):
    """Rows of about one depth with the nodes that they share.

    Yields
    ------
    shared : SharedNodes
    rows : ndarray of int
        Rows in none of the groups need the adaptive route.
    """
    # The tables are those of the next power of two of classes.
    size = 1 << (scores.shape[1] - 1).bit_length()
    is_smooth = noise.smoothness == "analytic" and not np.isfinite(noise.support).any()
    if not is_smooth or TUNING.table_rounding * size > tol:
        return
    most, is_light = _most_depth(noise, tol)
    lowest = -np.where(scores > -np.inf, scores, 0).min(axis=1)
    n_depths = TUNING.n_depths
    level = np.floor(np.log2(most / np.maximum(lowest, most / 2**n_depths)))
    level = np.minimum(level, n_depths - 1)
    if is_light and not relative:
        # A score below the depth has a probability below the truncated tail.
        level = np.maximum(level, 0)
    for index in np.unique(level[level >= 0]):
        shared = _shared_nodes(noise, size, most / 2**index, tol)
        if shared is not None:
            yield shared, np.flatnonzero(level == index)


def padded_chunks(scores, rows, labels=None):
    """Some rows at a time, filled up with rows of zeros to whole stacks.

    Yields
    ------
    chunk : ndarray of int
    z : ndarray of shape (n_padded, n_classes)
        `n_padded` is a multiple of ``TUNING.stack_rows``.
    padded_labels : ndarray of shape (n_padded,)
    """
    n_classes, stack = scores.shape[1], TUNING.stack_rows
    size = min(TUNING.chunk_scores // n_classes, TUNING.chunk_rows)
    size = max(1, size // stack) * stack
    for start in range(0, len(rows), size):
        chunk = rows[start : start + size]
        n_padded = -(-len(chunk) // stack) * stack
        z, padded_labels = np.zeros((n_padded, n_classes)), np.zeros(n_padded, int)
        z[: len(chunk)] = scores[chunk]
        if labels is not None:
            padded_labels[: len(chunk)] = labels[chunk]
        yield chunk, z, padded_labels


def _by_stacks(rows, table):
    """Products of rows with a table, some rows at a time.

    Products of matrices of one shape have the same rounding errors: a row does not
    depend on the others.
    """
    stacks = rows.reshape(-1, TUNING.stack_rows, rows.shape[1])
    return (stacks @ table).reshape(len(rows), *table.shape[1:])


class SharedNodes:
    """Nodes of the trapezoidal rule, and tables of log Φ and the hazard there.

    Methods but :meth:`nodes` take whole stacks of rows: see :func:`padded_chunks`.

    Parameters
    ----------
    noise : Noise
    n_classes : int
        Most classes of a row.
    depth : float
        Scores are at least -depth, or their probabilities are negligible.
    tol : float
        Absolute tolerance of probabilities. The relative tolerance of logarithms is
        ``TUNING.relative_tol`` times this.

    Attributes
    ----------
    is_accurate : bool
        Whether rule and tables have the tolerance.
    """

    def __init__(self, noise, n_classes, depth, tol):
        self.noise, self.depth, self.tol = noise, depth, tol
        self._is_light = _most_depth(noise, tol)[1]
        is_rule_accurate = self._choose_nodes(n_classes)
        self.is_accurate = is_rule_accurate and self._choose_degree(n_classes)

    def _choose_nodes(self, n_classes):
        """Shorten the step until the rule is within the tolerance; returns success."""
        r = reach(self.noise, n_classes, TUNING.shared_tail * self.tol)
        ends = r.lower[0] - self.depth * self._is_light, r.upper
        step = TUNING.step
        for _ in range(TUNING.most_steps):
            fine, weights = _nodes(ends, r.scale, self.depth, step / 2)
            self.x, self._weights = fine[::2], 2 * weights[::2]
            if self._rule_error(fine, weights, n_classes) <= 1:
                return True
            step *= TUNING.step_factor
        return False

    def _choose_degree(self, n_classes):
        """Raise the degree until the tables are within tolerance; returns success."""
        scores = self.depth * (np.cos(np.linspace(0.01, 3.13, _N_TESTED)) - 1) / 2
        exact = self.noise.logcdf(self.x - scores[:, None])
        absolute = max(TUNING.table_error * self.tol / n_classes, TUNING.table_rounding)
        relative = TUNING.log_table_error * TUNING.relative_tol * self.tol / n_classes
        allowed = 1 / (np.exp(self.noise.logcdf(self.x)) / absolute + 1 / relative)
        last = np.inf
        for n in TUNING.degrees:
            self._tabulate(n)
            small, large = self._polynomials(scores)
            products = (large[:, None] * small).reshape(-1, len(scores))
            error = (np.abs(products.T @ self._logcdf - exact) / allowed).max()
            if error <= 1:
                return True
            # If more polynomials do not help, the error is the noise's own rounding.
            if error >= last:
                return False
            last = error
        return False

    def integrals(self, z, relative):
        """Logarithms of probabilities, the potential, and the accurate rows.

        Returns
        -------
        log_p : ndarray of shape (n_rows, n_classes)
            The probabilities sum to one up to the tolerance.
        expected_max : ndarray of shape (n_rows,)
            Expected value of the largest perturbed score, if the noise has a mean.
        is_done : ndarray of bool, of shape (n_rows,)
        """
        sums, basis, below = self._sums(z)
        G = np.exp(_by_stacks(sums, self._logcdf))
        points = _by_stacks(G, self._hazards)
        log_p, last = self._interpolated(points, basis)
        log_p += below
        total = np.exp(log_p).sum(axis=1)
        tol = TUNING.table_error * self.tol
        # The probabilities sum to one: a check of rule and interpolation.
        is_done = np.abs(total - 1) <= 100 * tol
        is_done &= last <= 10 * tol * (TUNING.relative_tol if relative else 1)
        if relative:
            is_done &= self._is_relative(points.min(axis=1))
        # E[max] = E[noise] + ∫ (Φ - G), where one class alone has G = Φ.
        gap = np.exp(self.noise.logcdf(self.x)) - G
        expected_max = (self.noise.mean or 0.0) + _by_stacks(gap, self._weights)
        return log_p, expected_max, is_done

    def label_gradient(self, z, labels):
        """The log-probability of a label in each row, its gradient, and accurate rows.

        Its derivative in the score of another class is minus the integral of G times
        both hazards, divided by the probability.
        """
        sums, (small, large), below = self._sums(z)
        rows = np.arange(len(z))
        of_label = large[rows, :, None, labels] * small[rows, None, :, labels]
        logs = _by_stacks(sums, self._logcdf)
        logs += _by_stacks(of_label.reshape(len(z), -1), self._log_hazards)
        integrand = np.exp(logs, out=logs)
        p = _by_stacks(integrand, self._weights)
        integrand /= p[:, None]
        rates = _by_stacks(integrand, self._rates)
        rates = rates.reshape(-1, self._n, self._n) @ small
        rates *= large
        rates = rates.sum(axis=1) * -np.exp(below)
        rates[rows, labels] = 0
        # The probabilities are shift invariant: the gradient of a row sums to zero.
        rates[rows, labels] = -rates.sum(axis=1)
        return np.log(p) + below[rows, labels], rates, self._is_relative(p)

    def nodes(self, z, relative):
        """:class:`Nodes` for derivatives."""
        sums, (small, large), below = self._sums(z)
        small, large = small.swapaxes(1, 2), large.swapaxes(1, 2)
        products = (large[..., None] * small[..., None, :]).reshape(*z.shape, -1)
        hazards = products @ self._log_hazards
        hazards += below[:, :, None]
        common = sums @ self._logcdf
        common += np.log(self._weights)
        if not relative:  # With an absolute tolerance they may underflow.
            np.exp(common, out=common)
            np.exp(hazards, out=hazards)
        x = np.broadcast_to(self.x, common.shape)
        hazards = hazards.swapaxes(1, 2)
        return Nodes.of(x, z, common, hazards, relative)

    def _sums(self, z):
        """Sums of the polynomials over a row, the polynomials, and scores + depth."""
        clipped = np.maximum(z, -self.depth)
        small, large = (np.moveaxis(t, 0, 1) for t in self._polynomials(clipped))
        counted = large
        if (z < clipped).any():
            counted = counted * (z == clipped)[:, None]
        sums = (counted @ small.swapaxes(1, 2)).reshape(len(z), -1)
        return sums, (small, large), z - clipped

    def _interpolated(self, points, basis):
        """Logarithms at the scores, and the size of the last coefficients."""
        small, large = basis
        logs = np.log(np.maximum(points, TUNING.least))
        coefficients = _by_stacks(logs, self._to_coefficients)
        logs = coefficients.reshape(-1, self._n, self._n) @ small
        logs *= large
        return logs.sum(axis=1), np.abs(coefficients[:, -3:]).max(axis=1)

    def _is_relative(self, p):
        """Whether the truncated tail is small relative to a probability."""
        # A light tail is truncated below the depth: it is small relative to any p.
        return p > (TUNING.least if self._is_light else TUNING.least_heavy)

    def _polynomials(self, scores):
        """T_a and T_nb at scores, each (n, *scores.shape)."""
        small = _chebyshev(1 + scores * (2 / self.depth), self._n + 1)
        return small[:-1], _chebyshev(small[-1], self._n)

    def _tabulate(self, n):
        """Tables of products of n by n polynomials."""
        self._n = n
        points = self.depth * (np.cos(np.pi * (np.arange(n * n) + 0.5) / n**2) - 1) / 2
        small, large = self._polynomials(points)
        products = (large[:, None] * small).reshape(n * n, n * n)
        self._to_coefficients = np.linalg.inv(products)
        logcdf, log_hazards = self._at(self.x, points)
        self._hazards = np.exp(log_hazards) * self._weights[:, None]
        self._logcdf = self._to_coefficients.T @ logcdf.T
        self._log_hazards = self._to_coefficients.T @ log_hazards.T
        self._rates = self._hazards @ self._to_coefficients

    def _at(self, x, scores):
        """Log Φ(x - z) and the logarithm of the hazard, each (n_nodes, n_scores)."""
        d = x[:, None] - scores
        logcdf = self.noise.logcdf(d)
        return logcdf, self.noise.log_hazard(d, logcdf)

    def _rule_error(self, fine, weights, n_classes):
        """Error as a share of the tolerance, from a rule with twice as many nodes.

        It is the largest for three rows: one class and others at the depth, all classes
        alike, and evenly spread classes. The integrands of all rows are between these.
        """
        scores = np.linspace(-self.depth, 0, 9)
        counts = np.full((3, len(scores)), n_classes / len(scores))
        counts[:2] = 0
        counts[0, -1], counts[1, -1] = 1, n_classes
        logcdf, log_hazards = self._at(fine, scores)
        integrands = np.exp((counts @ logcdf.T)[:, :, None] + log_hazards)
        integrands *= weights[:, None]
        exact = integrands.sum(axis=1)
        error = np.abs(2 * integrands[:, ::2].sum(axis=1) - exact)
        allowed = max(TUNING.table_error * self.tol, TUNING.rounding)
        relative = TUNING.table_error * TUNING.relative_tol * self.tol
        if not self._is_light:
            exact = np.maximum(exact, TUNING.least_heavy)
        return np.maximum(error / allowed, error / exact / relative).max()


class SharedRows:
    """Some rows of :class:`SharedNodes`, as a source of :class:`Derivatives`."""

    def __init__(self, shared, scores, relative):
        self._shared, self._scores, self._relative = shared, scores, relative
        self.n_nodes = np.full(len(scores), len(shared.x))

    def nodes_of(self, index):
        z = self._scores[index].astype(np.float64)
        with np.errstate(all="ignore"):
            return self._shared.nodes(z, self._relative)


def _chebyshev(t, n):
    """Chebyshev polynomials of degree below n, (n, *t.shape)."""
    values = np.empty((n, *t.shape))
    values[0], values[1] = 1, t
    double = 2 * t
    for degree in range(2, n):
        np.multiply(double, values[degree - 1], out=values[degree])
        values[degree] -= values[degree - 2]
    return values


def _nodes(ends, scale, depth, step):
    """Nodes, an even number, and weights of the trapezoidal rule between two ends.

    x = scale (t + a sinh(t + b sinh t)) - depth / 2, with a and b so small that steps
    are even where the scores are. Beyond them x grows exponentially, and further out,
    in heavy tails, doubly exponentially.
    """
    margin = depth / scale / 2 + TUNING.margin
    a, b = 2 * np.exp(-margin), 2 * np.exp(-margin - TUNING.second_margin)

    def x_and_slope(t):
        u = t + b * np.sinh(t)
        slope = 1 + a * np.cosh(u) * (1 + b * np.cosh(t))
        return scale * (t + a * np.sinh(u)) - depth / 2, scale * slope

    low, high = np.full(2, -800.0), np.full(2, 800.0)
    for _ in range(60):
        middle = (low + high) / 2
        is_above = x_and_slope(middle)[0] > ends
        low, high = np.where(is_above, low, middle), np.where(is_above, middle, high)
    n_nodes = 2 * int(np.ceil((high[1] - low[0]) / step / 2))
    x, slope = x_and_slope(low[0] + step * np.arange(n_nodes))
    return x, step * slope


@lru_cache(maxsize=64)
def _most_depth(noise, tol):
    """The largest depth, and whether lower scores have negligible probabilities.

    The probability of a score is negligible if the probability to exceed one other
    score, which is zero, is below the truncated tail.
    """
    tail = TUNING.shared_tail * tol
    r = reach(noise, 1, tail)
    with np.errstate(all="ignore"):
        x, weights = _nodes((r.lower[0], r.upper), r.scale, 0, TUNING.step)
    density = weights * np.exp(noise.logpdf(x))
    low, high = 0.0, TUNING.most_depth * r.scale
    for _ in range(20):
        middle = (low + high) / 2
        is_tail = density @ -np.expm1(noise.logcdf(x + middle)) < tail
        low, high = (low, middle) if is_tail else (middle, high)
    is_light = high < TUNING.most_depth * r.scale
    return (2 * high if is_light else high), is_light


@lru_cache(maxsize=64)
def _shared_nodes(noise, n_classes, depth, tol):
    """The :class:`SharedNodes`, computed once; None if they are not accurate."""
    with np.errstate(all="ignore"):
        shared = SharedNodes(noise, n_classes, depth, tol)
    return shared if shared.is_accurate else None
