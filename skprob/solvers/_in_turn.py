"""The minimum of several problems, one after the other."""

import math

from .._utils.tuning import Tuning
from ._solve import groups_of, solve
from ._state import Iteration, Stage


def solve_in_turn(
    problems,
    start,
    *,
    max_iter,
    solver="auto",
    stage=Stage.EASIER_LOSS,
    progress=None,
    n_before=0,
    tuning=Tuning(),
    **options,
):
    """Minimise problems one after the other, each from where the last one ended.

    Parameters
    ----------
    problems : list of Problem
        The minimum of each is a good start for the next.
    start : ndarray of shape (n_parameters,)
    max_iter : int
        Largest number of iterations of all problems together; with groups of outputs,
        of each group, on average.
    stage : Stage
        That of all but the last problem, for the history.
    progress : callable, default=None
        The callback of the problems, with iterations numbered over all of them.
        ``progress.begin(parameters)`` is called before the first iteration of each, and
        ``progress.end()`` after its last.
    n_before : int, default=0
        The number of iterations that were reported before. They do not count towards
        `max_iter`.
    solver, tuning, **options
        As for :func:`solve`.

    Returns
    -------
    solution : Solution
        Of the last problem, or of the one that a callback stopped at; ``n_iter`` and
        ``history`` are those of all.
    """
    parameters, history = start, []
    callback, n_spent = None, 0
    options |= {"solver": solver, "max_iter": max_iter, "tuning": tuning}
    for problem in problems:
        if progress is not None:
            progress.begin(parameters)
            n_reported = history[-1].iteration if history else 0
            callback = _numbered_from(n_before + n_reported, progress)
        solution = solve(
            problem, parameters, callback=callback, n_before=n_spent, **options
        )
        if progress is not None:
            progress.end()
        n_groups = len(groups_of(problem.description, solver, tuning))
        n_spent += math.ceil(solution.n_iter / n_groups)
        parameters = solution.parameters
        history = total_of(history, solution.history, stage)
        if solution.stopped:
            break
    # The state of the rows takes memory.
    return solution._replace(n_iter=history[-1].iteration, history=history, state=None)


def most_iterations(problems, solver, max_iter, tuning=Tuning()):
    """Largest number of iterations of problems in turn, unfinished ones included.

    A problem whose solver ends within an iteration has an unfinished one.
    """
    n_groups = [len(groups_of(each.description, solver, tuning)) for each in problems]
    return max(n_groups) * max(max_iter, 1) + len(problems) - 1


def _numbered_from(n_before, callback):
    """The callback with iterations numbered from others that came before."""
    return lambda n_iter, *point: callback(n_before + n_iter, *point)


def total_of(history: list[Iteration], more: list[Iteration], stage: Stage):
    """Two histories joined, the second of another problem.

    The first becomes this stage. Its gaps are not comparable with the second: they
    become NaN, and so do its objectives unless they are those of the same loss under a
    stronger penalty.
    """
    if not history:
        return list(more)
    last = history[-1]
    keeps_objective = stage is Stage.STRONGER_PENALTY
    joined = [
        row._replace(
            objective=row.objective if keeps_objective else math.nan,
            duality_gap=math.nan,
            stage=stage,
        )
        for row in history[:-1]
    ]
    for row in more:
        joined.append(
            row._replace(
                iteration=last.iteration + row.iteration,
                passes=last.passes + row.passes,
                seconds=last.seconds + row.seconds,
                round_trips=last.round_trips + row.round_trips,
                bytes=last.bytes + row.bytes,
            )
        )
    return joined
