"""Rules that compare probabilities with cuts."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from .._utils.checks import OneOf, RealInterval
from .._utils.parts import Repeatable
from ._base import DecisionRule
from ._best_threshold import best_threshold
from ._blocks import with_rows
from ._cut_candidates import (
    CandidateCounts,
    Predictions,
    macro_gain,
    micro_gain,
    ratio_of,
)

# Strengths of the shrinkage that are tried.
_SHRINKAGES = (20, 50, 200, 1000)


class _CutRule(DecisionRule):
    """Labels whose probability, in the chosen scale, is above a cut."""

    _parameter_constraints: dict = {"scale": [OneOf("auto", "probability", "marginal")]}

    def _fit(self, sample):
        labels, weight = sample.labels, sample.weight / sample.weight.max()
        best = None
        for model, blocks in self._scales(sample):
            common = best_threshold(blocks, labels, weight)
            counts = CandidateCounts.of(blocks, labels, weight, common)
            steps, shrinkage, predictions = self._chosen_steps(counts)
            result = _Result(model, common, steps, shrinkage, predictions)
            if best is None or _is_clearly_better(result, best, counts.true):
                best = result
        self.expected_size_ = best.expected_size
        is_marginal = best.expected_size is not None or sample.polytope == "cube"
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
                yield model, Repeatable(_scaled, sample.blocks, sizes)

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

    def _chosen_steps(self, counts):
        """Steps from the common cut to each cut, the shrinkage and the predictions."""
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

    See Also
    --------
    CommonCut : One cut for all labels.
    StackedLabels : Corrects the probabilities before the cuts.

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
        "average": [OneOf("both", "micro", "macro")],
        "shrinkage": [RealInterval(0, None, closed="both"), OneOf("auto")],
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

    def _chosen_steps(self, counts):
        whole = counts.summed()
        (best,), (n_rows,) = whole.best(self.average), whole.n_rows
        if self.shrinkage != "auto":
            steps = _shrunk(best, n_rows, self.shrinkage)
            return steps, self.shrinkage, counts.at(steps)
        reference = counts.at(np.zeros(len(best)))
        chosen, predictions, most = np.inf, reference, 0.0
        gain_of = macro_gain if self.average == "macro" else micro_gain
        others = counts.others()
        best_of_others = others.best(self.average)
        for shrinkage in _SHRINKAGES:
            candidate = counts.at(_shrunk(best_of_others, others.n_rows, shrinkage))
            gain, error = gain_of(candidate, reference, counts.true)
            if gain > max(most, error):
                chosen, predictions, most = shrinkage, candidate, gain
        return _shrunk(best, n_rows, chosen), chosen, predictions

    def _set_cuts(self, result):
        self.cuts_ = result.common * ratio_of(result.steps)
        self.common_cut_, self.shrinkage_ = result.common, result.shrinkage

    def _cuts(self):
        return self.cuts_


def _scaled(blocks, factors):
    """Blocks of probabilities times a number for each row."""
    return (p * some[:, None] for p, some in with_rows(blocks, factors))


class _Result(NamedTuple):
    """Cuts in one scale, and what they predict."""

    expected_size: object
    common: float
    steps: np.ndarray
    shrinkage: float
    predictions: Predictions


def _shrunk(steps, n_rows, shrinkage):
    """Steps from the common cut, times n / (n + shrinkage)."""
    if shrinkage == 0:
        return steps.astype(float)
    return steps * (n_rows / (n_rows + shrinkage))


def _is_clearly_better(new, old, true):
    """Whether micro-F1 is higher by more than one standard error."""
    gain, error = micro_gain(new.predictions, old.predictions, true)
    return gain > error
