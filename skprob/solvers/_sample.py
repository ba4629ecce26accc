"""A start for large data: the solution of the same problem on a sample of the rows.

Far from the minimum a sample of the rows leads as far as all of them, and a pass over
it takes as much less time as it has fewer rows.
"""

from time import perf_counter

from ._tuning import Tuning


def sample_size(description, tuning=Tuning()):
    """Number of rows of the sample that a fit starts on; zero where none pays.

    Parameters
    ----------
    description : Description
    tuning : Tuning
    """
    _, size = description.shape
    n_sampled = int(description.n_rows * tuning.sampled_share)
    pays = (
        description.is_linear
        and description.is_convex
        and not description.is_remote
        and n_sampled >= tuning.sampled_rows * size
        and description.n_rows * size >= tuning.large_data
    )
    return n_sampled if pays else 0


def minimize_from_sample(problem, n_sampled, start, minimize_sample, minimize_all):
    """Minimise a problem, started from the solution on a sample of its rows.

    Parameters
    ----------
    problem : LinearProblem
    n_sampled : int
        Number of rows of the sample.
    start : ndarray of shape (n_parameters,)
        Where the fit to the sample starts.
    minimize_sample, minimize_all : callable
        ``minimize_sample(problem, start)`` returns the :class:`Solution` of the sample,
        and ``minimize_all(problem, start)`` that of all rows.

    Returns
    -------
    solution : Solution
        In its history the passes and seconds of the sample belong to the start. A pass
        over the sample is a share of one over all rows.
    """
    begun, share = perf_counter(), n_sampled / problem.description.n_rows
    sample = problem.sample(n_sampled)
    start = minimize_sample(sample, start).parameters
    passes, seconds = share * sample.passes, perf_counter() - begun
    problem.count(passes)
    del sample  # Free its memory.
    solution = minimize_all(problem, start)
    history = [
        row._replace(passes=row.passes + passes, seconds=row.seconds + seconds)
        for row in solution.history
    ]
    return solution._replace(history=history)
