"""A rule that first corrects the probability of each label by the other labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from .._utils.checks import InstancesOf
from .._utils.parts import Repeatable
from ._base import DecisionRule
from ._blocks import with_rows
from ._cuts import LabelCuts

# Penalties of the ridge regression, relative to the mean variance of the probabilities.
_PENALTIES = 10.0 ** np.arange(2, -3, -0.5)
_N_FOLDS = 5
# A corrected estimate is at least this share of the estimate. So labels whose estimate
# would be negative keep their order, and a row always has a most probable label.
_LEAST = 1e-3
# Products of larger numbers may overflow.
_LARGEST = 1e100


class StackedLabels(DecisionRule):
    r"""A rule for probabilities that are corrected by those of the other labels.

    A linear model of label sets estimates the probability of each label from the
    features alone. If labels exclude or imply each other, the probabilities of the
    other labels contain more information. Here the error of each label, its indicator
    less its estimate, is regressed on the probabilities of all labels, and the
    predicted error is added to the estimate. Then `rule` makes sets of the corrected
    estimates.

    The estimates are the probabilities; shares are multiplied by the mean size of the
    sets, so that they sum to the number of labels. The regression has a ridge penalty,
    the one with the least squared error over five folds of the rows. If none has a
    smaller error than the estimates themselves, nothing is corrected. Fit the rule to
    out-of-fold probabilities, as the parameter ``threshold`` of an estimator does. Take
    few folds: with leave-one-out and many labels, the regression learns how a row that
    is left out changes the model, which does not help new rows.

    Time grows with the third power of the number of labels, and memory with the second:
    it is meant for at most some thousand labels.

    Parameters
    ----------
    rule : DecisionRule or None, default=None
        Rule that is fitted to the corrected estimates, as marginals. None stands for
        ``LabelCuts()``.

    Attributes
    ----------
    rule_ : DecisionRule
        The fitted rule.
    penalty_ : float
        Chosen penalty, relative to the mean variance of the probabilities; ``np.inf``
        if nothing is corrected.
    coef_ : ndarray of shape (n_labels, n_labels)
        The corrected estimates are ``probabilities @ coef_ + intercept_``, and at least
        ``least_ * probabilities``.
    intercept_ : ndarray of shape (n_labels,)
    least_ : float
        Smallest ratio of a corrected estimate to its probability: 0.001 for marginals,
        and a thousandth of the factor of shares.
    n_labels_ : int
        Number of labels.
    label_names_ : ndarray of shape (n_labels,) or None
        Names of the labels, if ``fit`` was given a DataFrame.
    may_be_empty_ : bool
        Whether some rows in ``fit`` had no label.
    polytope_ : str
        "simplex" or "cube", as in ``fit``.

    See Also
    --------
    LabelCuts : The rule for the corrected probabilities.

    References
    ----------
    Breiman, Friedman, "Predicting multivariate responses in multiple linear
    regression", Journal of the Royal Statistical Society B, 1997.

    Godbole, Sarawagi, "Discriminative methods for multi-labeled classification", PAKDD
    2004.

    Examples
    --------
    Two labels exclude each other, and the probability of the second is always one half:

    >>> import numpy as np
    >>> from skprob.decision import LabelCuts, StackedLabels
    >>> rng = np.random.default_rng(0)
    >>> first = rng.random(300)
    >>> labels = np.column_stack([first > 0.5, first <= 0.5]).astype(int)
    >>> p = np.column_stack([first, np.full(300, 0.5)])
    >>> for rule in LabelCuts(), StackedLabels(LabelCuts()):
    ...     sets = rule.fit(p, labels, polytope="cube").predict(p)
    ...     print(f"{(sets == labels).mean():.2f}")
    0.72
    0.99
    """

    _uses_known = True
    _parameter_constraints: dict = {"rule": [InstancesOf(DecisionRule), None]}

    def __init__(self, rule: DecisionRule | None = None) -> None:
        self.rule = rule

    def _fit(self, sample):
        folds = _moments_of_folds(sample)
        total = folds.summed()
        mass = total.p.sum()
        is_share = sample.polytope == "simplex" and mass > 0
        factor = total.y.sum() / mass if is_share else 1.0
        self.least_ = float(_LEAST * factor)
        # A single row has no others to learn from.
        fits = _Ridge(folds.others(), factor) if len(folds.one) > 1 else None
        self.penalty_ = np.inf if fits is None else _best_penalty(fits, folds, factor)
        if self.penalty_ == np.inf:
            n_labels = sample.labels.shape[1]
            self.coef_ = factor * np.eye(n_labels)
            self.intercept_ = np.zeros(n_labels)
            lines = self.coef_[None], self.intercept_[None]
        else:
            self.coef_, self.intercept_ = _Ridge(total, factor).line(self.penalty_)
            lines = fits.line(self.penalty_)
        self.rule_ = LabelCuts() if self.rule is None else clone(self.rule)
        blocks = Repeatable(_corrected_blocks, sample.blocks, lines, self.least_)
        # Only marginals have unknown labels, and their estimates are the probabilities.
        self.rule_.fit_sample(
            sample._replace(blocks=blocks, sizes=None, polytope="cube", has_none=False)
        )

    def _chosen(self, p, sizes):
        corrected = _corrected(p, (self.coef_, self.intercept_), self.least_)
        return self.rule_._chosen(corrected, None)


class _Moments(NamedTuple):
    """Weighted sums over rows: of one, p, the indicator y, pᵀp and pᵀy.

    The moments of several sets of rows have a first axis for the sets.
    """

    one: np.ndarray
    p: np.ndarray
    y: np.ndarray
    pp: np.ndarray
    py: np.ndarray

    @classmethod
    def of(cls, p, y, weight):
        """The sums over rows with these weights, the rows of a set along axis 1."""
        transposed = (p * weight[..., None]).swapaxes(1, 2)
        return cls(
            one=weight.sum(axis=1),
            p=transposed.sum(axis=2),
            y=(weight[:, None] @ y)[:, 0],
            pp=transposed @ p,
            py=transposed @ y,
        )

    def plus(self, other):
        """The moments of the rows of both."""
        return _Moments(*map(np.add, self, other))

    def summed(self):
        """The moments of the rows of all sets."""
        return _Moments(*(part.sum(axis=0) for part in self))

    def others(self):
        """The moments of the rows outside each set.

        A sum has no rounding errors of the size of the set that is left out.
        """
        without = 1 - np.eye(len(self.one))
        return _Moments(*(np.tensordot(without, part, axes=1) for part in self))

    def about(self, p_mean, y_mean):
        """pᵀp and pᵀy, with other origins than zero."""
        one, column = self.one[..., None], p_mean[..., None]
        p_left, y_left = self.p - one * p_mean, self.y - one * y_mean
        p = self.p[..., None]
        pp = self.pp - p * p_mean[..., None, :] - column * p_left[..., None, :]
        return pp, self.py - p * y_mean[..., None, :] - column * y_left[..., None, :]


def _moments_of_folds(sample):
    """The moments of each fold, fewer than five if there are fewer rows.

    The error of an entry whose label is not known is zero, and the other errors of the
    label weigh more, so that sums over the rows have the same expectation.
    """
    weight = sample.weight / sample.weight.max()
    n_folds, n_labels = min(_N_FOLDS, len(weight)), sample.labels.shape[1]
    moments, start, known = None, 0, sample.known
    if known is not None:
        known_weight = weight @ known
        # A label that is known in no row has no errors.
        has_known = known_weight > np.finfo(float).tiny * weight.sum()
        increase = np.zeros(n_labels)
        np.divide(weight.sum(), known_weight, increase, where=has_known)
    parts = with_rows(sample.blocks, sample.labels, weight, known)
    for p, labels, row_weight, is_known in parts:
        p, labels = p.astype(np.float64), labels.toarray()
        if p.max(initial=0) > _LARGEST:
            raise ValueError(
                f"probabilities must not exceed {_LARGEST:.0e} for StackedLabels; "
                f"got {p.max():.6g}."
            )
        if known is not None:
            labels = p + (labels - p) * is_known * increase
        arrays = p, labels, row_weight
        part = _Moments.of(*(_by_fold(array, start, n_folds) for array in arrays))
        moments = part if moments is None else moments.plus(part)
        start += len(p)
    return moments


def _by_fold(array, start, n_folds):
    """The rows of a block with a first axis for the folds, and rows of zeros between.

    The folds take turns along the rows, of which `start` come before the block.
    """
    before = start % n_folds
    n_rows = before + len(array)
    filled = np.zeros((n_rows + -n_rows % n_folds, *array.shape[1:]))
    filled[before:n_rows] = array
    return filled.reshape(-1, n_folds, *array.shape[1:]).swapaxes(0, 1)


class _Ridge:
    """Regressions of the errors on the probabilities, for any penalty.

    There is one for each set of rows, if the moments have a first axis for the sets.
    """

    def __init__(self, moments, factor):
        self._factor = factor
        # Rows whose weights are all rounded to zero have sums of zero, and no means.
        one = np.where(moments.one > 0, moments.one, 1)[..., None]
        self._p_mean, self._y_mean = moments.p / one, moments.y / one
        pp, py = moments.about(self._p_mean, self._y_mean)
        values, self._vectors = np.linalg.eigh(pp)
        self._values = np.maximum(values, 0)
        self._right = self._vectors.mT @ (py - factor * pp)
        # The spread of constant probabilities is a rounding error.
        spread = _trace(pp)
        self.is_constant = spread <= 1e-12 * _trace(moments.pp)
        self._unit = spread / pp.shape[-1]

    def line(self, penalty):
        """The matrix and the intercepts that make corrected estimates."""
        rotated = (
            self._right / (self._values + penalty * self._unit[..., None])[..., None]
        )
        coef = self._vectors @ rotated + self._factor * np.eye(rotated.shape[-1])
        return coef, self._y_mean - (self._p_mean[..., None, :] @ coef)[..., 0, :]

    def errors(self, moments):
        """Squared errors of other rows, at each penalty along the last axis."""
        pp, py = moments.about(self._p_mean, self._y_mean)
        # The indicator is its own square.
        yy = (moments.y * (1 - 2 * self._y_mean)).sum(axis=-1)
        yy += moments.one * (self._y_mean**2).sum(axis=-1)
        factor, V, right = self._factor, self._vectors, self._right
        before = yy - 2 * factor * _trace(py) + factor**2 * _trace(pp)
        # In the basis V the coefficients are diag(d) right, and only d depends on the
        # penalty. The errors are a quadratic function of d.
        quadratic = (V.mT @ pp @ V) * (right @ right.mT)
        linear = ((V.mT @ (py - factor * pp)) * right).sum(axis=-1)
        penalties = _PENALTIES[:, None] * self._unit[..., None, None]
        d = 1 / (self._values[..., None, :] + penalties)
        squares = ((d @ quadratic) * d).sum(axis=-1)
        return before[..., None] + squares - 2 * (d @ linear[..., None])[..., 0]


def _trace(matrices):
    return np.trace(matrices, axis1=-2, axis2=-1)


def _best_penalty(fits, folds, factor):
    """Penalty with the least squared error over the folds; inf is no correction."""
    if fits.is_constant.any():
        return np.inf
    errors, total = fits.errors(folds).sum(axis=0), folds.summed()
    uncorrected = (
        total.y.sum() - 2 * factor * _trace(total.py) + factor**2 * _trace(total.pp)
    )
    best = errors.argmin()
    return float(_PENALTIES[best]) if errors[best] < uncorrected else np.inf


def _corrected_blocks(blocks, lines, least):
    """Blocks of corrected estimates, each row by a regression without its fold."""
    start, n_folds = 0, len(lines[0])
    coef, intercept = lines[0], lines[1][:, None]
    for p in blocks:
        corrected = _corrected(_by_fold(p, start, n_folds), (coef, intercept), least)
        before = start % n_folds
        in_order = corrected.swapaxes(0, 1).reshape(-1, p.shape[1])
        start += len(p)
        yield in_order[before : before + len(p)]


def _corrected(p, line, least):
    coef, intercept = line
    p = p.astype(np.float64, copy=False)
    return np.maximum(p @ coef + intercept, least * p)
