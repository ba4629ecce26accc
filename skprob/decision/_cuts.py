"""Rules that compare probabilities with cuts."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from sklearn.utils._param_validation import StrOptions

from .._utils.checks import RealInterval
from ._base import DecisionRule
from ._best_threshold import best_threshold
from ._blocks import with_rows

# Candidates for a label's cut are the common cut times powers of two, up to four
# octaves from it in steps of an eighth. On the seven development sets steps of a
# sixteenth had the same micro-F1, three octaves 0.15 points less and two 0.36.
_PER_OCTAVE = 8
_STEPS = np.arange(-4 * _PER_OCTAVE, 4 * _PER_OCTAVE + 1)
_COMMON = len(_STEPS) // 2
_N_FOLDS = 5
_SHRINKAGES = (20, 50, 200, 1000)


class _CutRule(DecisionRule):
    """Labels whose probability, in the chosen scale, is above a cut."""

    _parameter_constraints: dict = {
        "scale": [StrOptions({"auto", "probability", "marginal"})]
    }

    def _fit(self, sample):
        labels, weight = sample.labels, sample.weight / sample.weight.max()
        fold = np.arange(len(weight)) % _N_FOLDS
        best = None
        for size, blocks in self._scales(sample):
            common = best_threshold(blocks, labels, weight)
            counts = _Counts.of(blocks, labels, weight, common, fold)
            steps, shrinkage, at = self._steps(counts)
            result = _Result(size, common, steps, shrinkage, *at)
            if best is None or _is_clearly_better(result, best, counts.true):
                best = result
        self.expected_size_ = best.size
        is_marginal = best.size is not None or sample.polytope == "cube"
        self.scale_ = "marginal" if is_marginal else "probability"
        self._set_cuts(best)

    def _scales(self, sample):
        """Pairs of an :class:`ExpectedSize` or None, and blocks in that scale."""
        is_share = sample.polytope == "simplex"
        if self.scale == "marginal" and is_share and sample.sizes is None:
            raise ValueError(
                "X must be given for scale='marginal': the expected size of a set is "
                "regressed on the features. Use scale='probability' without them."
            )
        if self.scale != "marginal" or not is_share:
            yield None, sample.blocks
        if self.scale != "probability" and is_share and sample.sizes is not None:
            model, sizes = sample.sizes()
            # Sizes that are all the same change no order, and so no set.
            if self.scale == "marginal" or np.ptp(sizes) > 0:
                yield model, _Scaled(sample.blocks, sizes)

    def _chosen(self, p, sizes):
        q = p if sizes is None else p * sizes[:, None]
        chosen = q > self._cuts()
        if not self.may_be_empty_:
            empty = np.flatnonzero(~chosen.any(axis=1))
            relative = q[empty] / np.maximum(self._cuts(), np.finfo(q.dtype).tiny)
            chosen[empty, relative.argmax(axis=1)] = True
        return chosen


class CommonCut(_CutRule):
    r"""One cut for all labels: the cut with the highest micro-F1.

    Shares are learnt from targets that are uniform over each set S, and estimate E[1{k
    in S} / \|S\|]. So a label of large sets is below a common cut too often. A share
    times the expected size of the set estimates the marginal P(k in S) of the label, if
    membership and size are nearly independent.

    Parameters
    ----------
    scale : {"probability", "marginal", "auto"}, default="probability"
        What is compared with the cut. With "probability" it is the given probability;
        with "marginal" it is the share times the expected size of the set, which is
        predicted from the features by ridge regression. "auto" is "marginal" if
        features are given and micro-F1 is higher by more than one standard error, over
        five folds of the rows, and "probability" otherwise. Probabilities that are
        marginals (``polytope="cube"``) are not changed.

    Attributes
    ----------
    cut_ : float
        The cut: half way between the smallest probability above it and the next smaller
        one.
    scale_ : {"probability", "marginal"}
        The scale of the cut.
    expected_size_ : callable or None
        ``expected_size_(X)`` gives the expected sizes of the sets; None unless
        ``scale_`` is "marginal".
    n_labels_ : int
        Number of labels.
    label_names_ : ndarray of shape (n_labels,) or None
        Names of the labels, if ``fit`` was given a DataFrame.
    may_be_empty_ : bool
        Whether some rows in ``fit`` had no label. If not, ``predict`` gives each row at
        least its most probable label.
    polytope_ : str
        "simplex" or "cube", as in ``fit``.

    See Also
    --------
    LabelCuts : A cut for each label.

    References
    ----------
    Lipton, Elkan, Naryanaswamy, "Optimal thresholding of classifiers to maximize F1
    measure", ECML PKDD 2014.

    Examples
    --------
    >>> from skprob.decision import CommonCut
    >>> p = [[0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.3, 0.2, 0.5]]
    >>> rule = CommonCut().fit(p, [[1, 0, 0], [1, 1, 0], [0, 0, 1]])
    >>> round(rule.cut_, 2)
    0.35
    >>> rule.predict([[0.5, 0.4, 0.1], [0.34, 0.33, 0.33]])
    array([[1, 1, 0],
           [1, 0, 0]])
    """

    def __init__(
        self, scale: Literal["probability", "marginal", "auto"] = "probability"
    ) -> None:
        self.scale = scale

    def _steps(self, counts):
        steps = np.zeros(counts.hits.shape[1])
        return steps, np.inf, counts.at(steps)

    def _set_cuts(self, result):
        self.cut_ = result.common

    def _cuts(self):
        return self.cut_


class LabelCuts(_CutRule):
    """A cut for each label, shrunk towards the common cut.

    The common cut has the highest micro-F1 (see :class:`CommonCut`). A label's
    own cut is searched from 1/16 to 16 times the common cut. Without shrinkage this is
    SCut of Yang (2001), who found that it over-fits labels of few rows. So the
    logarithm of the cut is a weighted mean: the own cut has the weight n / (n +
    ``shrinkage``), where n is the number of rows with the label, and the common cut the
    rest.

    Parameters
    ----------
    average : {"both", "micro", "macro"}, default="both"
        Measure that the cuts maximise before they are shrunk. "micro" is the micro-F1
        of all labels together; rare labels may then never be predicted. "macro" is the
        F1 of each label, and so macro-F1. "both" uses the cuts of "micro", but lowers a
        cut that is above both the common cut and the label's cut of "macro", so that
        rare labels are predicted, too.
    shrinkage : float or "auto", default="auto"
        Strength of the shrinkage: 0 is none, and ``np.inf`` is the common cut for all
        labels. "auto" chooses from 20, 50, 200 and 1000 by five folds of the rows. The
        measure is macro-F1 if `average` is "macro", and micro-F1 otherwise. It is
        ``np.inf`` if none of these is better than the common cut by more than one
        standard error.
    scale : {"probability", "marginal", "auto"}, default="probability"
        As in :class:`CommonCut`.

    Attributes
    ----------
    cuts_ : ndarray of shape (n_labels,)
        The cut of each label, on the scale ``scale_``.
    common_cut_ : float
        The common cut, towards which the cuts are shrunk.
    shrinkage_ : float
        The shrinkage that was used.
    scale_ : {"probability", "marginal"}
        The scale of the cuts.
    expected_size_ : callable or None
        ``expected_size_(X)`` gives the expected sizes of the sets; None unless
        ``scale_`` is "marginal".
    n_labels_ : int
        Number of labels.
    label_names_ : ndarray of shape (n_labels,) or None
        Names of the labels, if ``fit`` was given a DataFrame.
    may_be_empty_ : bool
        Whether some rows in ``fit`` had no label. If not, ``predict`` gives each row at
        least the label with the largest ratio of probability to cut.
    polytope_ : str
        "simplex" or "cube", as in ``fit``.

    References
    ----------
    Yang, "A study of thresholding strategies for text categorization", SIGIR 2001.

    Fan, Lin, "A study on threshold selection for multi-label classification", 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.decision import LabelCuts
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random((300, 2))
    >>> labels = (p > [0.3, 0.6]).astype(int)
    >>> LabelCuts().fit(p, labels, polytope="cube").cuts_.round(1)
    array([0.3, 0.6])
    """

    _parameter_constraints: dict = {
        **_CutRule._parameter_constraints,
        "average": [StrOptions({"both", "micro", "macro"})],
        "shrinkage": [RealInterval(0, None, closed="both"), StrOptions({"auto"})],
    }

    def __init__(
        self,
        average: Literal["both", "micro", "macro"] = "both",
        *,
        shrinkage: float | Literal["auto"] = "auto",
        scale: Literal["probability", "marginal", "auto"] = "probability",
    ) -> None:
        self.average = average
        self.shrinkage = shrinkage
        self.scale = scale

    def _steps(self, counts):
        if self.shrinkage != "auto":
            steps = _shrunk(counts.best(self.average), counts.n_rows, self.shrinkage)
            return steps, self.shrinkage, counts.at(steps)
        common = np.zeros(counts.hits.shape[1])
        candidates = {np.inf: counts.at(common)}
        gain_of = _macro_gain if self.average == "macro" else _micro_gain
        others = [counts.without(fold) for fold in range(len(counts.hits))]
        best_alone = [other.best(self.average) for other in others]
        for shrinkage in _SHRINKAGES:
            steps = [
                _shrunk(best, other.n_rows, shrinkage)
                for best, other in zip(best_alone, others, strict=True)
            ]
            candidates[shrinkage] = counts.at(np.array(steps))
        reference = candidates[np.inf]
        chosen, most = np.inf, 0.0
        for shrinkage in _SHRINKAGES:
            gain, error = gain_of(candidates[shrinkage], reference, counts.true)
            if gain > max(most, error):
                chosen, most = shrinkage, gain
        steps = _shrunk(counts.best(self.average), counts.n_rows, chosen)
        return steps, chosen, candidates[chosen]

    def _set_cuts(self, result):
        self.cuts_ = result.common * 2.0 ** (result.steps / _PER_OCTAVE)
        self.common_cut_, self.shrinkage_ = result.common, result.shrinkage

    def _cuts(self):
        return self.cuts_


class _Scaled:
    """Blocks of probabilities times a number for each row."""

    def __init__(self, blocks, factors):
        self._blocks, self._factors = blocks, factors

    def __iter__(self):
        for p, factors in with_rows(self._blocks, self._factors):
            yield p * factors[:, None]


class _Result(NamedTuple):
    """Cuts in one scale, and their hits and predictions by fold and label."""

    size: object
    common: float
    steps: np.ndarray
    shrinkage: float
    hits: np.ndarray
    predicted: np.ndarray


class _Counts(NamedTuple):
    """Numbers of predicted and of true entries at each candidate for a cut.

    Attributes
    ----------
    hits, predicted : ndarray of shape (n_folds, n_labels, n_steps)
        Total weight of the rows above the cut: of the rows with the label, and of all.
    true : ndarray of shape (n_folds, n_labels)
        Weight of the rows with the label.
    unit : float
        The mean weight of a row.
    """

    hits: np.ndarray
    predicted: np.ndarray
    true: np.ndarray
    unit: float

    @property
    def n_rows(self):
        """Rows with each label, in units of the mean weight."""
        return self.true.sum(axis=0) / self.unit

    @classmethod
    def of(cls, blocks, labels, weight, common, fold):
        """Count in one pass over the blocks."""
        n_labels, n_bins = labels.shape[1], len(_STEPS) + 1
        cuts = common * 2.0 ** (_STEPS / _PER_OCTAVE)
        shape = _N_FOLDS, n_labels, n_bins
        predicted, hits = np.zeros(np.prod(shape)), np.zeros(np.prod(shape))
        true = np.zeros(_N_FOLDS * n_labels)
        start = 0

        def add_to(total, p, rows, columns):
            # The number of cuts that the probability is above.
            place = np.searchsorted(cuts, p[rows, columns])
            known = rows + start
            place += n_bins * (columns + n_labels * fold[known])
            total += np.bincount(place, weight[known], minlength=len(total))

        for p in blocks:
            add_to(predicted, p, *np.nonzero(p > cuts[0]))
            part = labels[start : start + len(p)].tocoo()
            add_to(hits, p, *part.coords)
            known = part.coords[0] + start
            place = part.coords[1] + n_labels * fold[known]
            true += np.bincount(place, weight[known], minlength=len(true))
            start += len(p)
        above = (
            np.cumsum(total.reshape(shape)[..., :0:-1], axis=-1)[..., ::-1]
            for total in (hits, predicted)
        )
        return cls(*above, true.reshape(_N_FOLDS, n_labels), unit=weight.mean())

    def without(self, fold):
        """All of the rows that are not in a fold, as one fold."""
        kept = np.arange(len(self.true)) != fold
        return _Counts(
            *(total[kept].sum(axis=0, keepdims=True) for total in self[:3]), self.unit
        )

    def at(self, steps):
        """Hits and predictions of each fold and label, of shape (n_folds, n_labels).

        Steps are of shape (n_labels,), or (n_folds, n_labels), and rounded.
        """
        place = _COMMON + np.rint(steps).astype(int)
        place = np.broadcast_to(place, self.true.shape)[..., None]
        return tuple(
            np.take_along_axis(total, place, axis=-1)[..., 0]
            for total in (self.hits, self.predicted)
        )

    def best(self, average):
        """The steps from the common cut to the best cuts, of shape (n_labels,)."""
        hits, predicted = self.hits.sum(axis=0), self.predicted.sum(axis=0)
        true = self.true.sum(axis=0)
        # Among equal candidates, choose the one nearest to the common cut.
        tie = 1e-9 * np.abs(_STEPS) * self.unit
        total = predicted + true[:, None]
        f1 = 2 * hits / np.where(total > 0, total, 1)
        macro = np.argmax(f1 - 1e-9 * np.abs(_STEPS), axis=1)
        macro = np.where(true > 0, macro, _COMMON)
        if average == "macro":
            return _STEPS[macro]
        micro = np.full(len(true), _COMMON)
        rows, best = np.arange(len(true)), -1.0
        # Dinkelbach's iterations: F1 is a ratio of sums over the labels.
        while True:
            total = predicted[rows, micro].sum() + true.sum()
            f1 = 2 * hits[rows, micro].sum() / total if total > 0 else 0.0
            if f1 <= best + 1e-12:
                break
            best = f1
            micro = np.argmax(2 * hits - f1 * predicted - tie, axis=1)
        if average == "both":
            micro = np.minimum(micro, np.maximum(macro, _COMMON))
        return _STEPS[micro]


def _shrunk(steps, n_rows, shrinkage):
    if shrinkage == 0:
        return steps.astype(float)
    return steps * (n_rows / (n_rows + shrinkage))


def _micro_gain(candidate, reference, true):
    """Increase of micro-F1, to first order, and its standard error.

    Both are pairs of hits and predictions of each fold and label.
    """
    true = true.sum(axis=1)
    hits, predicted = (total.sum(axis=1) for total in candidate)
    old_hits, old_predicted = (total.sum(axis=1) for total in reference)
    size = old_predicted.sum() + true.sum()
    f1 = 2 * old_hits.sum() / size
    gains = 2 * (hits - old_hits) - f1 * (predicted - old_predicted)
    gains = gains / size
    return gains.sum(), gains.std(ddof=1) * np.sqrt(len(gains))


def _macro_gain(candidate, reference, true):
    """Increase of macro-F1, and its standard error by the jackknife over the folds."""

    def gain(folds):
        new, old = (
            _macro_f1(*(total[folds] for total in (*pair, true)))
            for pair in (candidate, reference)
        )
        return new - old

    n_folds = len(true)
    without = [gain(np.arange(n_folds) != fold) for fold in range(n_folds)]
    return gain(slice(None)), np.sqrt(n_folds - 1) * np.std(without)


def _macro_f1(hits, predicted, true):
    size = (predicted + true).sum(axis=0)
    return np.mean(2 * hits.sum(axis=0) / np.where(size > 0, size, 1))


def _is_clearly_better(new, old, true):
    """Whether micro-F1 is higher by more than one standard error."""
    gain, error = _micro_gain(new[-2:], old[-2:], true)
    return gain > error
