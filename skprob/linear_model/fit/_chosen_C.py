"""C="loo": the C whose model has the best leave-one-out score, approximately.

Where the Hessian takes more than a second, the score is that of folds of rows.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...objective import (
    Fold,
    LinearObjective,
    drawn_rows,
    is_affordable,
    leave_one_out,
    scores_of,
)
from ...solvers import minimize_path
from ..predict import log_shares_of, shares_of
from ._run import objectives_of, penalty_strength

# Multiples of the C of "auto", from the strongest penalty to the weakest.
_GRID = np.logspace(-4, 4, 10)
# Number of the value with which the search begins, near the best one for most data: for
# labels the last below the C of "auto", for other targets, which are noisier, the one
# before. With one value later for labels the chosen C is the same. Letter, pendigits
# and iris then take 0.7 to 1.05 times as long, digits and wine 1.05 to 1.4 times,
# breast cancer 1.3 to 1.6 times, and all together 1.05 times.
_FIRST_OF_LABELS, _FIRST_OF_OTHERS = 4, 3
# The search ends when the next rise of the score is expected to be at most this share
# of the score, which is about its error at the tolerance of the fits. The ratio of two
# successive rises is expected to stay the same. On eight data sets, with three mappings
# and three splits each, the search scores 3.5 values on average. It finds the best of
# all ten, or on letter a score that is up to 0.1 % lower, except for one split of wine,
# whose scores have a second maximum.
_LEAST_RISE = 1e-3
# Tolerance of the fits of the path. With 1e-3 nearly separable rows have another
# support, and the scores for weak penalties differ.
_TOL = 1e-4
# About the number of rows of equal weights whose scores are computed, if there are
# more: letter with 16,000 rows takes 0.5 times as long.
_ROWS = 4000
# Number of folds of the rows, where the Hessian takes too long. Only so many are left
# out that they have the number of rows above.
_FOLDS = 5
# Tolerance of the fits without a fold. With 1e-4 C is the same on texts of 1,000 and
# 4,193 words (softmax, 1.5-entmax, sparsemax), and fits take 1.4 to 2 times as long.
_TOL_OF_FOLDS = 1e-2
# Most probabilities that are computed at a time.
_PART = 1 << 20


class PathStart(NamedTuple):
    """The solution of the path for the chosen C, from which the fit starts."""

    objective: LinearObjective  #: With the penalty of the chosen C.
    parameters: np.ndarray


def with_chosen_C(spec, rows):
    """The spec with the chosen C, the start of its fit, and attributes of the choice.

    Parameters
    ----------
    spec : FitSpec
        With C="loo".
    rows : RowsInMemory

    Returns
    -------
    spec : FitSpec
    start : PathStart
        The solution for this C, to the tolerance of the path.
    attributes : dict
        ``Cs_`` and ``loo_scores_``.

    Raises
    ------
    ValueError
        If the loss, the mapping or the penalty do not allow the approximation.
    """
    check_leave_one_out(spec, rows)
    resolved = replace(spec, C="auto").for_rows(rows)
    Cs = resolved.C * _GRID
    with np.errstate(over="ignore", invalid="ignore"):
        objective = objectives_of(replace(resolved, C=Cs[-1]), rows)[-1]
    if not objective.penalty.diagonal.any():
        raise ValueError(
            "C='loo' needs a feature that is penalised; all penalty_factors are 0."
        )
    strengths = np.array([penalty_strength(C, rows.total_weight) for C in Cs])
    folds = folds_to_leave_out(objective, rows.weight)
    if folds:
        some = np.concatenate([fold.rows for fold in folds])
        path = _left_out_by_folds(folds, strengths, spec)
    else:
        share, some = _share_of_rows(rows.weight), np.arange(len(rows.weight))
        if share < 1:
            some = drawn_rows(objective, share)
        path = _left_out_by_hessian(objective, strengths, share, spec)

    def score_of(raw):
        with np.errstate(all="ignore"):
            return left_out_score(raw, resolved.loss.mapping, rows, some)

    directions = _directions(len(Cs), rows.target_type)
    tried, best, parameters = _search(path, score_of, directions, objective.initial())
    scores = np.full(len(Cs), np.nan)
    scores[list(tried)] = list(tried.values())
    start = PathStart(objective.with_l2(strengths[best]), parameters)
    spec = replace(spec, C=float(Cs[best]))
    return spec, start, {"Cs_": Cs, "loo_scores_": scores}


def _search(path, score_of, directions, start):
    """The value of the best score, among those that are tried in turn.

    In each direction values are tried until the next rise of the score is expected to
    be negligible. The second direction is tried only if the first value was the best.

    Parameters
    ----------
    path : callable
        ``path(numbers, start)`` yields, for each number of a value, the number, raw
        predictions of left-out rows, and the parameters of the fit.
    score_of : callable
        Score of raw predictions; greater is better.
    directions : list of range
        Numbers of the values of each direction.
    start : ndarray of shape (n_parameters,)

    Returns
    -------
    scores : dict
        Score of each number that was tried.
    best : int
    parameters : ndarray of shape (n_parameters,)
        Those of the best one.
    """
    scores, best, best_parameters = {}, None, start
    for numbers in directions:
        rise = np.inf
        for number, raw, parameters in path(numbers, best_parameters):
            score = scores[number] = score_of(raw)
            last_rise, rise = rise, np.inf
            if best is not None:
                rise = score - scores[best]
            if not rise <= 0:
                best, best_parameters = number, parameters
            # The next rise is expected to be this part of the current one.
            part = abs(rise) / last_rise if last_rise < np.inf else 1.0
            if not rise * min(part, 1.0) > _LEAST_RISE * abs(score):
                break
        if best != numbers[0]:
            break
    return scores, best, best_parameters


def _directions(n_values, target_type):
    """Numbers of the values to search in turn: weaker penalties, then stronger ones."""
    first = _FIRST_OF_LABELS if target_type == "class" else _FIRST_OF_OTHERS
    return [range(first, n_values), range(first)[::-1]]


def folds_to_leave_out(objective, weight):
    """Folds of the rows, where leave-one-out takes more than about a second; else none.

    Parameters
    ----------
    objective : LinearObjective
    weight : ndarray of shape (n_rows,)
        Weights of its rows.

    Returns
    -------
    folds : list of Fold
    """
    if is_affordable(objective):
        return []
    n_left_out = min(math.ceil(_share_of_rows(weight) * _FOLDS), _FOLDS)
    return [Fold(objective, number, _FOLDS) for number in range(n_left_out)]


def _share_of_rows(weight):
    """The share of the rows that are scored; 1 or more stands for all."""
    # Number of rows of equal weights that have the same information (Kish).
    relative = weight / weight.max()
    n_effective = relative.sum() ** 2 / np.square(relative).sum()
    return _ROWS / n_effective


# Paths along the penalties, for `_search`.


def _left_out_by_hessian(objective, strengths, share, spec):
    """The path of all rows; a share of them is left out one by one."""
    options = _options(spec, _TOL)

    def path(numbers, start):
        some = strengths[list(numbers)]
        solutions = minimize_path(objective, some, [start], **options)
        for number, solution in zip(numbers, solutions, strict=True):
            parameters, point = solution.parameters, solution.point
            at_strength = objective.with_l2(strengths[number])
            with np.errstate(all="ignore"):
                raw = leave_one_out(at_strength, parameters, share, point)
            yield number, np.concatenate(raw), parameters

    return path


def _left_out_by_folds(folds, strengths, spec):
    """The paths without each fold; parameters are those without the first one."""
    options, solutions = _options(spec, _TOL_OF_FOLDS), {}

    def path(numbers, start):
        for number in numbers:
            for fold in folds:
                # The objective is not kept, because it has a copy of most rows.
                others = fold.others(strengths[number])
                strength = others.penalty.strength
                starts = [solutions.get(fold, start)]
                (solution,) = minimize_path(others, [strength], starts, **options)
                solutions[fold] = solution.parameters
            raw = [fold.raw(solutions[fold]) for fold in folds]
            yield number, np.concatenate(raw), solutions[folds[0]]

    return path


def _options(spec, tol):
    # The search often ends before the next value. All values together would take 1.1
    # times as long.
    tuning = spec.tuning._replace(family_rounds=0)
    return spec.solver_options | {"tol": tol, "tuning": tuning}


def check_leave_one_out(spec, rows, name="C='loo'", instead="a number"):
    """Raise where leave-one-out scores cannot be approximated.

    The message has the name and value of the parameter that asks for them, and what to
    use instead.
    """
    missing = missing_for_leave_one_out(spec, rows)
    if missing is not None:
        raise ValueError(
            f"{name} needs {missing}. Use {instead}, or GridSearchCV, which fits to "
            "folds."
        )


def missing_for_leave_one_out(spec, rows):
    """Text of what the fit lacks for leave-one-out predictions; None if nothing."""
    loss = spec.loss.traits
    missing = None
    if spec.unit_rows is not None:
        missing = "scores W x + b; similarity is 'cosine', which has no penalty"
    elif rows.is_remote:
        missing = "X and y in memory; got Dask collections"
    elif spec.noise is not None:
        missing = "a mapping that is given; learn_noise is True"
    elif spec.l1_ratio > 0:
        missing = f"the ridge penalty, l1_ratio=0; got l1_ratio={spec.l1_ratio}"
    elif spec.loss.mapping.traits.is_scale_invariant:
        missing = (
            f"a penalty; {spec.loss.mapping!r} does not depend on the scale of scores"
        )
    elif rows.target_type == "candidates" or not loss.is_convex or loss.has_kinks:
        missing = f"a convex loss with second derivatives; got {spec.loss!r}"
        if rows.target_type == "candidates":
            missing = "a convex loss; that of target_type='candidates' is not"
    elif not loss.has_bounded_hessian:
        missing = (
            "a loss with bounded second derivatives, such as those of entmax for "
            f"alpha <= 2; got {spec.loss!r}"
        )
    elif np.count_nonzero(rows.weight) < 2:
        missing = "two or more rows with a target and a positive weight"
    return missing


def left_out_score(raw, mapping, rows, numbers):
    """Score of the raw predictions of left-out rows; greater is better.

    It is minus the weighted mean, over the rows, of the Brier score if the mapping has
    exact zeros, else of the log loss. For marginals it is also the mean over the
    labels.

    Parameters
    ----------
    raw : ndarray of shape (n, M)
    mapping : Mapping
    rows : RowsInMemory
    numbers : ndarray of int of shape (n,)
        Numbers of the rows.
    """
    if not np.isfinite(raw).all():
        return -np.inf
    is_cube, total = mapping.traits.polytope == "cube", 0.0
    is_one_vs_rest = is_cube and rows.target_type == "class"
    length = max(_PART // rows.n_scores, 1)
    for start in range(0, len(raw), length):
        part = numbers[start : start + length]
        scores = scores_of(raw[start : start + length])
        rows.given_in_loss.put_into(scores, part)
        target = rows.target.take(part).to_dense(np.float64)
        if mapping.traits.has_zeros:
            of_scores = shares_of(mapping) if is_one_vs_rest else mapping
            losses = np.square(of_scores(scores) - target)
        elif is_cube and not is_one_vs_rest:
            losses = _log_losses_of_marginals(mapping(scores), target)
        else:
            of_scores = mapping.log_probabilities
            if is_one_vs_rest:
                of_scores = log_shares_of(mapping)
            log_p = of_scores(scores)
            losses = -np.where(target > 0, target * log_p, 0.0)
        losses = losses.sum(axis=1)
        total += rows.weight[part] @ losses
    if is_cube and not is_one_vs_rest:
        total /= rows.n_scores
    score = float(-total / rows.weight[numbers].sum())
    return score if np.isfinite(score) else -np.inf


def _log_losses_of_marginals(p, target):
    """Log losses (n_rows, n_labels), with marginals clipped to the open interval."""
    limits = np.finfo(np.float64)
    no, yes = (
        np.log1p(-np.minimum(p, 1 - limits.epsneg)),
        np.log(np.maximum(p, limits.tiny)),
    )
    return -(target * yes + np.where(target < 1, (1 - target) * no, 0.0))
