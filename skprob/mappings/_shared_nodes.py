"""Perturb-max of many rows at nodes that they share, for noises that are smooth.

Where the largest score is 0, log G(x) = Σ_j log Φ(x - z_j) at a node x sums a smooth
function over the scores, and the logarithm of the probability of a score z,

    p(z) = ∫ G(x) h(x - z) dx,

is a smooth function of z, too. On an interval [-depth, 0] both are polynomials, to
rounding. So sums of polynomials over the scores of a row, times a matrix, are its log G
at all nodes; and G times a matrix is p at the points through which log p is a
polynomial. A class takes no function of the noise, whatever the number of nodes.

The polynomials are the products T_a(s) T_nb(s) of Chebyshev's, with a and b below n:
these span all of degree less than n², and a row's sums of them are a product of two
matrices.
"""

from functools import cached_property, lru_cache

import numpy as np

from ._panels import by_fourths, extrapolated
from ._reach import reach
from ._variables import Graded

# Scores and rows of a chunk: some 16 arrays of as many numbers, and a few with a number
# for each row and node, should fit in a core's cache.
_CHUNK_SIZE, _CHUNK_ROWS = 1 << 13, 128
# Of the tolerance: what is left out, what tables and model rows may err by, and what
# the rule may err by in a row. Losses are differences of potentials, and near zero.
_TAIL, _TABLES, _RULE = 1e-6, 1e-4, 1e-2
# What rounding may do to log Φ, and to log p.
_ROUNDING = 1e-14
# In units of the scale: where a heavy tail is cut, and what is beside the scores.
_MOST_DEPTH, _MARGIN = 32, 4
# Depths are the largest over powers of two: so many.
_LEVELS = 4
# The step at first, in units of the scale, what it is multiplied by, and how often.
_STEP, _SHORTER, _MOST_STEPS = 0.4, 0.9, 20
# Of n, for n² polynomials.
_DEGREES = range(4, 25)
# Scores between which log Φ is looked at.
_N_TESTED = 200
# For each class: nodes of a row's own take less time than more of them.
_MOST_POLYNOMIALS = 20
# Of the tail, where it is relative: a probability that it is relative to.
_SMALL = 1e-3
# A probability whose logarithm does not matter.
_LEAST = 1e-290


def by_shared_nodes(scores, noise, tol):
    """Probabilities of the rows for which shared nodes will do.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Standard scores: the largest of each row is 0.
    noise : Noise
    tol : float

    Returns
    -------
    p : ndarray of shape (n_rows, n_classes), float64
    potential : ndarray of shape (n_rows,)
        Expected value of the largest perturbed score; of no use if noise has no mean.
    done : ndarray of bool, shape (n_rows,)
        Where these have the tolerance.
    """
    p, potential = np.empty(scores.shape), np.empty(len(scores))
    done = np.zeros(len(scores), dtype=bool)
    for nodes, rows, z in _groups(scores, noise, tol, relative=False):
        found = nodes.probabilities(z)
        p[rows], potential[rows], done[rows] = (a[: len(rows)] for a in found)
    return p, potential, done


def logs_by_shared_nodes(scores, noise, tol):
    """Logarithms of the probabilities, and the rows where they have the tolerance.

    That is relative to each probability.
    """
    log_p, done = np.empty(scores.shape), np.zeros(len(scores), dtype=bool)
    for nodes, rows, z in _groups(scores, noise, tol, relative=True):
        log_p[rows], done[rows] = (a[: len(rows)] for a in nodes.log_probabilities(z))
    return log_p, done


def label_gradients_by_shared_nodes(scores, labels, noise, tol):
    """Logarithms of the probabilities of one class in each row, and their gradients.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Standard scores: the largest of each row is 0.
    labels : ndarray of shape (n_rows,)
    noise : Noise
    tol : float
        Of both.

    Returns
    -------
    log_p : ndarray of shape (n_rows,)
    gradient : ndarray of shape (n_rows, n_classes)
    done : ndarray of bool, shape (n_rows,)
        Where these have the tolerance.
    """
    log_p, gradient = np.empty(len(scores)), np.empty(scores.shape)
    done = np.zeros(len(scores), dtype=bool)
    for nodes, rows, z in _groups(scores, noise, tol, relative=True):
        if noise.is_graded and not nodes.suits(scores.shape[1]):
            continue
        of_rows = np.zeros(len(z), dtype=int)
        of_rows[: len(rows)] = labels[rows]
        found = nodes.label_gradient(z, of_rows)
        log_p[rows], gradient[rows], done[rows] = (a[: len(rows)] for a in found)
    return log_p, gradient, done


def shape_gradients_by_shared_nodes(scores, noise, tol, classes):
    """Derivatives, in the coordinate of a noise's shape, of the same.

    Returns
    -------
    gradient : ndarray of shape (n_rows,)
    done : ndarray of bool, shape (n_rows,)
    """
    gradient, done = np.empty(len(scores)), np.zeros(len(scores), dtype=bool)
    for nodes, rows, z in _groups(scores, noise, tol, relative=True):
        of_class = np.zeros(len(z), dtype=int)
        of_class[: len(rows)] = classes[rows]
        found = nodes.shape_gradient(z, of_class)
        gradient[rows], done[rows] = (a[: len(rows)] for a in found)
    return gradient, done


def _groups(scores, noise, tol, relative):
    """Rows of about one spread, a few at a time, and the nodes that they share.

    Yields
    ------
    nodes : SharedNodes
    rows : ndarray of int
    z : ndarray of shape (n, n_classes)
        Their scores, then zeros. In products of one shape no more than the last digit
        of a row depends on the rows beside it.
    """
    n_classes = scores.shape[1]
    # Tables for a power of two of classes, at least.
    size = 1 << (n_classes - 1).bit_length()
    is_smooth = noise.smoothness == "analytic" and not np.isfinite(noise.support).any()
    if not is_smooth or _ROUNDING * size > tol:
        return
    most, is_all = _depth_limit(noise, tol)
    if is_all and relative:
        # Logarithms below the tolerance count, too.
        most, is_all = 2 * most, False
    lowest = np.where(scores > -np.inf, scores, 0).min(axis=1)
    level = np.floor(np.log2(most / np.maximum(-lowest, most / 2**_LEVELS)))
    level = np.minimum(level, _LEVELS - 1)
    is_deep = level < 0
    # Where all classes count, the largest is not so low as where one may be alone.
    level += _LEVELS * (scores.min(axis=1) < -most)
    level[is_deep] = _LEVELS if is_all else -1
    step = max(1, min(_CHUNK_SIZE // n_classes, _CHUNK_ROWS))
    with np.errstate(all="ignore"):
        for index in np.unique(level[level >= 0]).astype(int):
            is_short, halvings = divmod(int(index), _LEVELS)
            fewest = 1 if is_short else size // 2 + 1
            depth = most / 2**halvings
            nodes = _shared_nodes(noise, fewest, size, depth, tol, relative)
            if nodes is None:
                continue
            rows = np.flatnonzero(level == index)
            for start in range(0, len(rows), step):
                chunk = rows[start : start + step]
                z = np.zeros((step, n_classes))
                z[: len(chunk)] = scores[chunk]
                yield nodes, chunk, z


class SharedNodes:
    """Nodes, and what log Φ and the hazard are at their distances from the scores.

    Parameters
    ----------
    noise : Noise
    fewest, n_classes : int
        At least and at most so many classes that count.
    depth : float
        What scores are not below, unless they do not matter.
    tol : float
    relative : bool
        Whether that of small probabilities is relative, in units of `tol`.

    Attributes
    ----------
    is_exact : bool
        Whether the tables have the tolerance.
    """

    def __init__(self, noise, fewest, n_classes, depth, tol, relative):
        self.noise, self.depth, self.tol = noise, depth, tol
        self._fewest, self._n_classes = fewest, n_classes
        self._is_light = _depth_limit(noise, tol)[1]
        tail = _TAIL * tol * (_SMALL if relative else 1)
        r = reach(noise, n_classes, tail)
        # All may be as low as the depth but the largest.
        low = max(r.lower[0], min(r.lower[min(fewest, n_classes) - 1] - depth, 0))
        if relative and self._is_light:
            low = r.lower[0] - depth
        ends = np.array([low, r.upper])
        allowed = (_RULE if relative else _TABLES) * tol / n_classes
        allowed = max(allowed, 2 * _ROUNDING)
        step = _STEP
        for _ in range(_MOST_STEPS):
            nodes = _graded_nodes if noise.is_graded else _nodes
            self.x, self._weights = nodes(ends, r.scale, depth, step)
            # With one more hazard, for derivatives, it errs by more.
            if self._rule_error(relative) <= _TABLES * tol:
                break
            step *= _SHORTER
        weight = 1 if relative else np.exp(noise.logcdf(self.x))
        scores = depth * (np.cos(np.linspace(0.01, 3.13, _N_TESTED)) - 1) / 2
        exact = noise.logcdf(self.x - scores[:, None])
        last = np.inf
        for self._n in _DEGREES:
            self._tabulate()
            small, large = self._polynomials(scores)
            products = (large[:, None] * small).reshape(-1, len(scores))
            error = (np.abs(products.T @ self._logcdf - exact) * weight).max()
            # More do not help where it is the noise's own rounding.
            if error <= allowed or error >= last:
                break
            last = error
        self.is_exact = error <= allowed

    def probabilities(self, z):
        """Probabilities, potential, and in which rows they have the tolerance."""
        G, basis, beyond = self._common(z)
        points, error = _integrals(G, self._hazards)
        log_p, last = self._interpolated(points, basis)
        # Below the depth there is nothing but the order.
        p = np.exp(log_p + beyond)
        total = p.sum(axis=1)
        allowed = _RULE * self.tol
        done = (error.max(axis=1) <= allowed) & (last <= max(allowed, _ROUNDING))
        done &= np.abs(total - 1) <= 10 * allowed
        # Integrated by parts.
        potential = self._expected + (self._widest - G) @ self._weights
        return p / total[:, None], potential, done

    def log_probabilities(self, z):
        """Their logarithms, and in which rows they have the tolerance."""
        G, basis, beyond = self._common(z)
        points, error = _integrals(G, self._hazards)
        log_p, last = self._interpolated(points, basis)
        log_p += beyond
        log_total = np.log(np.exp(log_p).sum(axis=1))
        done = self._are_relative(points, error, last)
        done &= np.abs(log_total) <= 10 * _RULE * self.tol
        return log_p - log_total[:, None], done

    def suits(self, n_classes):
        """Whether they take less time than nodes of each row's own."""
        return self._n**2 <= _MOST_POLYNOMIALS * n_classes

    def label_gradient(self, z, labels):
        """The log-probability of one class in each row, its gradient, and where done.

        In the score of another class the gradient is minus the integral of G, times the
        hazards of both, over the probability.
        """
        rows = np.arange(len(z))
        sums, (small, large), beyond = self._sums(z)
        own = large[rows, :, None, labels] * small[rows, None, :, labels]
        logs = sums @ self._logcdf
        logs += own.reshape(sums.shape) @ self._log_hazards
        integrand = np.exp(logs, out=logs)
        (p, *tests), errors = (a.T for a in _integrals(integrand, self._tests))
        integrand /= p[:, None]
        rates = (integrand @ self._rates).reshape(-1, self._n, self._n) @ small
        rates *= large
        rates = rates.sum(axis=1) * -np.exp(beyond)
        rates[rows, labels] = 0
        # All scores moved alike change nothing.
        rates[rows, labels] = -rates.sum(axis=1)
        size = p + np.max(tests, axis=0)
        done = (errors[0] <= _RULE * self.tol * p) & (p > _LEAST)
        done &= (errors[1:] <= _RULE * self.tol * size).all(axis=0)
        done &= self._is_light | (p >= _TAIL * _SMALL)
        return np.log(p) + beyond[rows, labels], rates, done

    def _common(self, z):
        """G at the nodes, the polynomials, and what scores are below the depth."""
        sums, *others = self._sums(z)
        return np.exp(sums @ self._logcdf), *others

    def _sums(self, z):
        """Sums of the polynomials, these, and what scores are below the depth."""
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
        coefficients = np.log(np.maximum(points, _LEAST)) @ self._to_coefficients
        logs = coefficients.reshape(-1, self._n, self._n) @ small
        logs *= large
        return logs.sum(axis=1), np.abs(coefficients[:, -3:]).max(axis=1)

    def _are_relative(self, points, error, last):
        allowed = _RULE * self.tol
        least = points.min(axis=1)
        done = ((error / points).max(axis=1) <= allowed) & (last <= allowed)
        # What a light tail leaves out is relative to each probability.
        return done & (self._is_light | (least >= _TAIL * _SMALL))

    def _polynomials(self, scores):
        """T_a and T_nb at scores, each (n, *scores.shape)."""
        small = _chebyshev(1 + scores * (2 / self.depth), self._n + 1)
        return small[:-1], _chebyshev(small[-1], self._n)

    def _tabulate(self):
        n = self._n
        points = self.depth * (np.cos(np.pi * (np.arange(n * n) + 0.5) / n**2) - 1) / 2
        self._points = points
        small, large = self._polynomials(points)
        products = (large[:, None] * small).reshape(n * n, n * n)
        self._to_coefficients = np.linalg.inv(products)
        logcdf, self._hazards = self._at(points)
        log_hazards = np.log(self._hazards / self._weights[:, None])
        self._logcdf = self._to_coefficients.T @ logcdf.T
        self._log_hazards = self._to_coefficients.T @ log_hazards.T
        self._rates = self._hazards @ self._to_coefficients
        # The rule, and what a hazard makes of it at both ends of the interval.
        self._tests = np.column_stack([self._weights, self._hazards[:, [0, -1]]])

    def _at(self, scores):
        """The log Φ(x - z), and hazards times the rule's weights, (n_nodes, n)."""
        d = self.x[:, None] - scores
        logcdf = self.noise.logcdf(d)
        hazards = np.exp(self.noise.log_hazard(d, logcdf))
        return logcdf, hazards * self._weights[:, None]

    def shape_gradient(self, z, classes):
        """The derivative of the log-probability of one class in the noise's shape.

        That is the mean of the derivative of the logarithm of the integrand.
        """
        clipped = np.maximum(z, -self.depth)
        small, large = (np.moveaxis(t, 0, 1) for t in self._polynomials(clipped))
        rows = np.arange(len(z))
        is_own = np.zeros((len(z), 1, z.shape[1]))
        is_own[rows, :, classes] = 1
        is_within = z == clipped
        sums, own = (
            ((large * mask) @ small.swapaxes(1, 2)).reshape(len(z), -1)
            for mask in (1.0 * is_within[:, None], is_own)
        )
        integrand = np.exp(sums @ self._logcdf + own @ self._log_hazards)
        integrand *= self._weights
        p, error = (a[:, 0] for a in _integrals(integrand, np.ones((len(self.x), 1))))
        of_logcdf, of_log_hazard = self._shape_tables
        integrand *= sums @ of_logcdf + own @ of_log_hazard
        done = (error <= _RULE * self.tol * p) & is_within[rows, classes]
        done &= self._is_light | (p >= _TAIL * _SMALL)
        return integrand.sum(axis=1) / p, done

    @cached_property
    def _shape_tables(self):
        """Of the derivatives, in the shape, of log Φ and of the hazard's logarithm."""
        of_logpdf, of_logcdf = self.noise.shape_slopes(self.x[:, None] - self._points)
        return [
            self._to_coefficients.T @ slopes.T
            for slopes in (of_logcdf, of_logpdf - of_logcdf)
        ]

    def _rule_error(self, relative):
        """The largest for the widest G, the narrowest, and one of even scores.

        The widest is that of as few classes as may be, all but one at the depth; the
        narrowest that of as many, all alike.
        """
        scores = np.linspace(-self.depth, 0, 9)
        logcdf, hazards = self._at(scores)
        counts = np.zeros((3, len(scores)))
        counts[0, [0, -1]] = self._fewest - 1, 1
        counts[1, -1] = self._n_classes
        counts[2] = max(1, self._fewest / len(scores))
        G = np.exp(counts @ logcdf.T)
        p, error = _integrals(G, hazards)
        if relative:
            error /= p
        # What is expected of the largest score, beside the widest.
        self._widest = G[0]
        self._expected = ((G[0] * self.x) @ hazards) @ counts[0]
        return max(5 * error.max(), np.abs((p * counts).sum(axis=1) - 1).max())


def _integrals(G, hazards):
    """p(z) at some z, and the errors, as of the trapezoidal rule."""
    fourths = zip(np.split(G, 4, axis=1), np.split(hazards, 4), strict=True)
    a, b, c, d = (left @ right for left, right in fourths)
    even, odd = a + c, b + d
    middle = np.abs(a - c) + np.abs(b - d)
    return even + odd, extrapolated(np.abs(even - odd), middle, 2)


def _chebyshev(t, n):
    """Chebyshev's polynomials of degree below n, (n, *t.shape)."""
    values = np.empty((n, *t.shape))
    values[0], values[1] = 1, t
    double = 2 * t
    for degree in range(2, n):
        np.multiply(double, values[degree - 1], out=values[degree])
        values[degree] -= values[degree - 2]
    return values


def _nodes(ends, scale, depth, step):
    """Nodes in steps that grow beside the scores, and the length that each stands for.

    x = scale (t + a sinh t) - depth / 2, with a so small that x grows like t where the
    scores are.
    """
    a = 2 * np.exp(-(depth / scale / 2 + _MARGIN))
    low, high = np.full(2, -800.0), np.full(2, 800.0)
    for _ in range(60):
        middle = (low + high) / 2
        above = scale * (middle + a * np.sinh(middle)) - depth / 2 > ends
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    t = by_fourths(low[0], high[1], step)
    x = scale * (t + a * np.sinh(t)) - depth / 2
    return x, step * scale * (1 + a * np.cosh(t))


def _graded_nodes(ends, scale, depth, step):
    """The same for heavy tails."""
    variable = Graded()
    t = by_fourths(*variable.at(ends, -depth, scale), step)
    x, slope = variable.x_and_slope(t, -depth, scale)
    return x, step * slope


@lru_cache(maxsize=64)
def _depth_limit(noise, tol):
    r = reach(noise, 1, _TAIL * tol)
    x, weights = _nodes(np.array([r.lower[0], r.upper]), r.scale, 0, _STEP)
    density = weights * np.exp(noise.logpdf(x))
    # Where a score so far below the only other one has a probability of the tail.
    low, high = 0.0, _MOST_DEPTH * r.scale
    for _ in range(20):
        middle = (low + high) / 2
        is_tail = density @ -np.expm1(noise.logcdf(x + middle)) < _TAIL * tol
        low, high = (low, middle) if is_tail else (middle, high)
    return high, high < _MOST_DEPTH * r.scale


@lru_cache(maxsize=64)
def _shared_nodes(noise, fewest, n_classes, depth, tol, relative):
    """The :class:`SharedNodes`, computed once; None where tables are not exact."""
    with np.errstate(all="ignore"):
        nodes = SharedNodes(noise, fewest, n_classes, depth, tol, relative)
    return nodes if nodes.is_exact else None
