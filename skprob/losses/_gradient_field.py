"""The loss of a mapping of which only the values are known."""

import numpy as np

from .._utils.arrays import copied
from ..mappings import gauss_lobatto
from ._base import Loss, LossLinearization, shift_to_standard
from ._mapping_results import check_shape

# Number of nodes of the Gauss-Lobatto rule.
_N_NODES = 6
# Most bisections of the line from zero to the scores. A kink needs about this number.
_MAX_DEPTH = 24


class GradientFieldLoss(Loss):
    r"""The loss with the gradient p - q, computed from the values of the mapping alone.

    .. math:: \ell(z; q) = \int_0^1 \langle p(s z) - q, z \rangle \, ds

    If the Jacobian of the mapping is symmetric, this is its Fenchel-Young loss up to a
    constant that depends on the target only (so it can be negative), and p - q is its
    gradient. Otherwise p - q is not the gradient of any loss. A fit checks this on its
    data and raises an error; use the log loss in this case.

    Parameters
    ----------
    mapping : Mapping, callable, str or None, default=None
        Any mapping. None stands for the mapping of the classifier to which the loss is
        passed.

    See Also
    --------
    FenchelYoungLoss : The same for a mapping with a method for its potential.
    LogLoss : For a mapping that is not a gradient.

    Notes
    -----
    The integral of each row is computed with Gauss-Lobatto rules. Intervals are halved
    until the integrand agrees with the polynomial of the rule on each, up to 1e-7 of
    the integral. This takes a few evaluations for a smooth mapping, and many for one
    with kinks. More than a few kinks for each class are an error.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.losses import GradientFieldLoss
    >>> def my_softmax(scores):
    ...     p = np.exp(scores)
    ...     return p / p.sum(axis=1, keepdims=True)
    >>> loss = GradientFieldLoss(my_softmax)
    >>> loss.value([[1.0, 0.0]], [[1, 0]]) + np.log(2)  # the log loss
    array([0.31326169])
    """

    @property
    def traits(self):
        # The number of nodes differs from row to row.
        return super().traits.but(supports_array_api=False)

    def check_on(self, make_scores):
        """Raise ValueError if the Jacobian is not symmetric at the scores."""
        scores = make_scores()
        mapping = self.mapping
        u, v = np.random.default_rng(0).standard_normal((2, *scores.shape))
        step = 1e-5 * max(1.0, np.abs(scores).max())

        def derivative(direction):
            ahead = mapping(scores + step * direction)
            return (ahead - mapping(scores - step * direction)) / (2 * step)

        u_J_v = np.einsum("nk,nk->n", u, derivative(v))
        v_J_u = np.einsum("nk,nk->n", v, derivative(u))
        size = np.maximum(np.abs(u_J_v), np.abs(v_J_u)).max()
        difference = np.abs(u_J_v - v_J_u)
        # A kink between two points affects a few rows, asymmetry all rows.
        if np.mean(difference > 1e-3 * size) > 0.1:
            raise ValueError(
                f"The Jacobian of {mapping!r} is not symmetric on these data (u·Jv and "
                f"v·Ju differ by up to {difference.max():.3g}, of {size:.3g}), so p - "
                "q is not the gradient of any loss. Use the log loss: loss='log'."
            )

    def evaluate(self, scores, target):
        mapping = self.mapping
        scores = shift_to_standard(scores, mapping)
        values = _line_integral(mapping, scores).astype(scores.dtype)
        values -= target.inner(scores)
        gradient = mapping.probabilities(scores)
        check_shape(mapping, "probabilities", gradient, target.shape)
        target.add_to(gradient, -1)
        return values, gradient

    def linearize(self, scores, target):
        mapping = self.mapping
        jvp = mapping.linearize(
            shift_to_standard(np.array(scores, order="K"), mapping)
        ).jvp
        values, gradient = self.evaluate(scores, target)
        return LossLinearization(values, lambda: copied(gradient), jvp)


def _line_integral(mapping, scores):
    """∫₀¹ ⟨p(s z), z⟩ ds for each row z, adaptively."""
    n_samples, n_classes = scores.shape
    nodes, weights, to_halves = gauss_lobatto(_N_NODES)
    tolerance = 1e-7 if scores.dtype == np.float64 else 1e-5

    # An unavailable class has probability 0 and is left out.
    unavailable = np.isneginf(scores)
    finite = np.where(unavailable, 0, scores)

    def integrand(rows, start, width):
        """⟨p(s z), z⟩ at the nodes of an interval of s for each of some rows."""
        s = (start[:, None] + width[:, None] * nodes).astype(scores.dtype)
        z = finite[rows]
        points = s[:, :, None] * z[:, None, :]
        np.copyto(points, -np.inf, where=unavailable[rows][:, None, :])
        points = points.reshape(-1, n_classes)
        p = mapping.probabilities(shift_to_standard(points, mapping))
        p = p.reshape(len(rows), len(nodes), n_classes)
        return np.einsum("rsk,rk->rs", p, z)

    rows = np.arange(n_samples)
    start, width = np.zeros(n_samples), np.ones(n_samples)
    values = integrand(rows, start, width)
    total = np.zeros(n_samples)
    size = np.maximum(np.abs(values).max(axis=1, initial=0), 1)
    for _ in range(_MAX_DEPTH):
        rows, width = np.repeat(rows, 2), np.repeat(width / 2, 2)
        start = np.repeat(start, 2)
        start[1::2] += width[1::2]
        halves = integrand(rows, start, width)
        expected = values @ to_halves.T
        errors = np.abs(halves.reshape(len(values), 2 * _N_NODES) - expected)
        errors = 2 * width[::2] * errors.max(axis=1, initial=0)
        is_accurate = errors <= tolerance * size[rows[::2]]
        integrals = width[::2] * ((halves[::2] + halves[1::2]) @ weights)
        accurate_rows = rows[::2][is_accurate]
        total += np.bincount(accurate_rows, integrals[is_accurate], minlength=n_samples)
        # Divide the other intervals again.
        remaining = np.repeat(~is_accurate, 2)
        rows, start, width = rows[remaining], start[remaining], width[remaining]
        values = halves[remaining]
        if not len(rows):
            return total
        _check_regular(mapping, rows, n_classes)
    return total + np.bincount(rows, width * (values @ weights), minlength=n_samples)


def _check_regular(mapping, rows, n_classes):
    """Raise if a row has more intervals with errors than kinks can cause."""
    most = 64 + 4 * n_classes
    n_intervals = np.bincount(rows)
    if n_intervals.max() > most:
        raise ValueError(
            f"{mapping!r} is too irregular for the gradient-field loss: from zero to "
            f"the scores of row {n_intervals.argmax()} its values are not a smooth "
            f"curve with at most {most // 2} kinks. Use the log loss: loss='log'."
        )
