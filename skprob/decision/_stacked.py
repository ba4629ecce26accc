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
        n_labels = sample.labels.shape[1]
        folds = _moments_of_folds(sample)
        total = _sum(folds)
        mass = total.p.sum()
        is_share = sample.polytope == "simplex" and mass > 0
        factor = total.y.sum() / mass if is_share else 1.0
        self.least_ = float(_LEAST * factor)
        fits = [_Ridge(_sum(folds, without=i), factor) for i in range(len(folds))]
        self.penalty_ = _best_penalty(fits, folds, factor)
        if self.penalty_ == np.inf:
            self.coef_ = factor * np.eye(n_labels)
            self.intercept_ = np.zeros(n_labels)
            lines = [(self.coef_, self.intercept_)]
        else:
            self.coef_, self.intercept_ = _Ridge(total, factor).line(self.penalty_)
            lines = [fit.line(self.penalty_) for fit in fits]
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
    """Weighted sums over rows: of one, p, the indicator y, pᵀp and pᵀy."""

    one: float
    p: np.ndarray
    y: np.ndarray
    pp: np.ndarray
    py: np.ndarray

    @classmethod
    def of(cls, p, y, weight):
        """The sums over some rows with these weights."""
        weighted = p * weight[:, None]
        return cls(
            one=weight.sum(),
            p=weighted.sum(axis=0),
            y=weight @ y,
            pp=weighted.T @ p,
            py=weighted.T @ y,
        )

    def about(self, p_mean, y_mean):
        """pᵀp and pᵀy, with other origins than zero."""
        left = self.p - self.one * p_mean
        pp = self.pp - np.outer(self.p, p_mean) - np.outer(p_mean, left)
        py = self.py - np.outer(self.p, y_mean)
        return pp, py - np.outer(p_mean, self.y - self.one * y_mean)


def _moments_of_folds(sample):
    """The moments of each fold; of one fold only if there is a single row.

    The error of an entry whose label is not known is zero, and the other errors of the
    label weigh more, so that sums over the rows have the same expectation.
    """
    weight = sample.weight / sample.weight.max()
    n_folds, n_labels = min(_N_FOLDS, len(weight)), sample.labels.shape[1]
    folds = [None] * n_folds
    start, known = 0, sample.known
    if known is not None:
        known_weight = weight @ known
        # A label that is known in no row has no errors.
        has_known = known_weight > np.finfo(float).tiny * weight.sum()
        increase = np.zeros(n_labels)
        np.divide(weight.sum(), known_weight, increase, where=has_known)
    for p, labels in with_rows(sample.blocks, sample.labels):
        p, labels = p.astype(np.float64), labels.toarray()
        if known is not None:
            errors = (labels - p) * known[start : start + len(p)]
            labels = p + errors * increase
        for i, fold in enumerate(folds):
            rows = np.arange((i - start) % n_folds, len(p), n_folds)
            moments = _Moments.of(p[rows], labels[rows], weight[start + rows])
            folds[i] = moments if fold is None else _sum([fold, moments])
        start += len(p)
    return folds


def _sum(folds, without=None):
    """Moments of the rows of all folds, or of all but one; None without a fold."""
    kept = [fold for i, fold in enumerate(folds) if i != without]
    if not kept:
        return None
    return _Moments(*(sum(parts) for parts in zip(*kept, strict=True)))


class _Ridge:
    """Regressions of the errors on the probabilities, for any penalty."""

    def __init__(self, moments, factor):
        self._factor, self.unit = factor, 0.0
        if moments is None:
            return
        self.p_mean, self.y_mean = moments.p / moments.one, moments.y / moments.one
        pp, py = moments.about(self.p_mean, self.y_mean)
        # The spread of constant probabilities is a rounding error.
        spread = np.trace(pp)
        if spread > 1e-12 * np.trace(moments.pp):
            self.unit = spread / len(pp)
            values, self._vectors = np.linalg.eigh(pp)
            self._values = np.maximum(values, 0)
            self._right = self._vectors.T @ (py - factor * pp)

    def line(self, penalty):
        """The matrix and the intercepts that make corrected estimates."""
        rotated = self._right / (self._values + penalty * self.unit)[:, None]
        coef = self._vectors @ rotated
        coef.flat[:: len(coef) + 1] += self._factor
        return coef, self.y_mean - self.p_mean @ coef

    def errors(self, moments):
        """Squared errors of other rows, at each penalty."""
        pp, py = moments.about(self.p_mean, self.y_mean)
        # The indicator is its own square.
        yy = moments.y @ (1 - 2 * self.y_mean) + moments.one * self.y_mean @ self.y_mean
        factor, V, right = self._factor, self._vectors, self._right
        before = yy - 2 * factor * np.trace(py) + factor**2 * np.trace(pp)
        # In the basis V the coefficients are diag(d) right, and only d depends on the
        # penalty. The errors are a quadratic function of d.
        quadratic = (V.T @ pp @ V) * (right @ right.T)
        linear = ((V.T @ (py - factor * pp)) * right).sum(axis=1)
        d = 1 / (self._values + _PENALTIES[:, None] * self.unit)
        return before + ((d @ quadratic) * d).sum(axis=1) - 2 * d @ linear


def _best_penalty(fits, folds, factor):
    """Penalty with the least squared error over the folds; inf is no correction."""
    if not all(fit.unit for fit in fits):
        return np.inf
    errors = np.sum(
        [fit.errors(fold) for fit, fold in zip(fits, folds, strict=True)], axis=0
    )
    total = _sum(folds)
    uncorrected = (
        total.y.sum() - 2 * factor * np.trace(total.py) + factor**2 * np.trace(total.pp)
    )
    best = errors.argmin()
    return float(_PENALTIES[best]) if errors[best] < uncorrected else np.inf


def _corrected_blocks(blocks, lines, least):
    """Blocks of corrected estimates, each row by a regression without its fold."""
    start, n_folds = 0, len(lines)
    for p in blocks:
        result = np.empty(p.shape)
        for i, line in enumerate(lines):
            rows = slice((i - start) % n_folds, None, n_folds)
            result[rows] = _corrected(p[rows], line, least)
        start += len(p)
        yield result


def _corrected(p, line, least):
    coef, intercept = line
    p = p.astype(np.float64, copy=False)
    return np.maximum(p @ coef + intercept, least * p)
