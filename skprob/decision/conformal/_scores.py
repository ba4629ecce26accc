"""Nonconformity scores: how badly a class fits a row, from 0 for the best one.

A score has three members. ``response`` names its input: the "scores" of the classes or
their "probabilities". ``of_pairs`` gives the nonconformity of stated classes, for
calibration, and ``within`` says which classes are at most a limit away, for prediction.
Both are exact but for rounding errors, which the limit allows for: a class that is
exactly at the quantile must not be lost.
"""

from ._entmax_score import EntmaxScore
from ._probability_scores import AdaptiveScore, ThresholdScore


def nonconformity_of(score_function, alpha, never_empty, rank_penalty, free_ranks):
    """The score that parameters of :class:`ConformalSets` choose.

    Returns
    -------
    score : EntmaxScore, ThresholdScore or AdaptiveScore
    """
    if score_function == "entmax":
        return EntmaxScore(alpha)
    if score_function == "threshold":
        return ThresholdScore(never_empty)
    return AdaptiveScore(never_empty, rank_penalty, free_ranks)
