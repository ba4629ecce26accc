"""The minimum of several problems, one after the other."""

import math

from .._utils.tuning import Tuning
from ._groups import groups_of_outputs
from ._solve import solve
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
    """Minimise problems one after the other, each from the last one's solution.

    Parameters
    ----------
    problems : list of Problem
        The minimum of each is a good start for the next.
    start : ndarray of shape (n_parameters,)
    max_iter : int
        Largest number of iterations of all problems together; with groups of outputs,
        of each group, on average.
    stage : Stage
        Stage of all problems but the last, for the history.
    progress : callable, default=None
        The callback of the problems, with iterations numbered over all of them.
        ``progress.begin(parameters)`` is called before the first iteration of each, and
        ``progress.end()`` after its last.
    n_before : int, default=0
        Number of iterations that were reported before, which do not count towards
        `max_iter`.
    solver, tuning, **options
        As for :func:`solve`.

    Returns
    -------
    solution : Solution
        The solution of the last problem, or of the one at which a callback stopped the
        fit, with the ``n_iter`` and ``history`` of all problems.
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
        n_groups = len(groups_of_outputs(problem.description, tuning, solver))
        n_spent += math.ceil(solution.n_iter / n_groups)
        parameters = solution.parameters
        history = total_of(history, solution.history, stage)
        if solution.stopped:
            break
    # The state is dropped, because it stores arrays of the rows.
    return solution._replace(n_iter=history[-1].iteration, history=history, state=None)


def most_iterations(problems, solver, max_iter, tuning=Tuning()):
    """Largest number of iterations of problems in turn, unfinished ones included.

    The last iteration of each problem may be unfinished.
    """
    groups = [groups_of_outputs(each.description, tuning, solver) for each in problems]
    return max(map(len, groups)) * max(max_iter, 1) + len(problems) - 1


def _numbered_from(n_before, callback):
    """The callback, with `n_before` added to the numbers of iterations."""
    return lambda n_iter, *point: callback(n_before + n_iter, *point)


def total_of(history: list[Iteration], more: list[Iteration], stage: Stage):
    """Two histories joined, the second of another problem.

    The first gets this stage. Its gaps are not comparable with those of the second and
    become NaN. So do its objectives, unless the stage is a stronger penalty.
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
