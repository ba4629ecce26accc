"""Newton's method by Hessian products, from the minimum of a sample of the rows.

Far from the minimum a step from a sample of the rows is as good as one from all rows,
and a pass over the sample takes less time in proportion to its size.
"""

import math
from time import perf_counter

from ..._utils.tuning import Tuning
from .._minimize import minimize
from .._newton_cholesky import NewtonCholesky
from .._plan import plan
from ._newton_cg import NewtonCG, NewtonCGState


def minimize_by_products(
    problem, start, chosen, criteria, *, callback, may_split, resume
):
    """Minimise by Hessian products; large data are first minimised on a sample.

    Parameters
    ----------
    problem : LinearProblem
    start : ndarray of shape (n_parameters,)
        Start; a sample is used only if it is zero.
    chosen : Plan
    criteria : Criteria
    callback : callable or None
        As for :func:`minimize`.
    may_split : bool
        Whether splitting may continue, if products become many.
    resume : (State, float) or None
        As for :func:`solve`.

    Returns
    -------
    solution : Solution
        The solution. The passes and seconds for the sample are part of the start in its
        history. A pass over the sample counts as a share of a pass over all rows.
    """
    tuning = criteria.tuning
    if chosen.preconditioner == "diagonal" and resume is None:
        start = _with_best_intercepts(problem, start, criteria)
    solvers, state = [NewtonCG(chosen, tuning=tuning)], None
    if may_split and chosen.split_after < math.inf and problem.has_penalty:
        # Without a penalty the quadratic problem of a splitting may have no solution.
        from .._splitting import DouglasRachford  # Imported when used.

        first = NewtonCG(chosen, chosen.split_after, tuning)
        solvers = [first, DouglasRachford(tuning), *solvers]
    if resume is not None and isinstance(resume[0], NewtonCGState):
        state = solvers[0].resume(problem, *resume)
    n_sampled = 0 if start.any() else sample_size(problem.description, tuning)
    begun, passes = perf_counter(), 0.0
    if n_sampled:
        start, passes_of_sample = _minimum_of_sample(
            problem, n_sampled, start, criteria
        )
        passes = n_sampled / problem.description.n_rows * passes_of_sample
        problem.count(passes)
    seconds = perf_counter() - begun
    solution = minimize(problem, solvers, criteria, start, callback, state)
    if not n_sampled:
        return solution
    history = [
        row._replace(passes=row.passes + passes, seconds=row.seconds + seconds)
        for row in solution.history
    ]
    return solution._replace(history=history)


def sample_size(description, tuning=Tuning()):
    """Number of rows of the sample for the start; zero if a sample saves no time.

    On a GPU it saves none: a pass over a sample takes as long as one over all rows.

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
        and description.is_on_host
        and not description.is_remote
        and n_sampled >= tuning.sampled_rows * size
        and description.n_rows * size >= tuning.large_data
    )
    return n_sampled if pays else 0


def _minimum_of_sample(problem, n_sampled, start, criteria):
    """Parameters at a rough minimum of a sample of the rows, and passes over it."""
    sample, tuning = problem.sample(n_sampled), criteria.tuning
    tol = max(criteria.tol, tuning.sample_tol)
    looser = criteria.of_start(tol, criteria.max_iter)
    solver = NewtonCG(plan(sample.description, tuning), tuning=tuning)
    solution = minimize(sample, [solver], looser, start)
    return solution.parameters, sample.passes


def _with_best_intercepts(problem, start, criteria):
    """The start, at the best intercepts of zero coefficients if these gain much.

    It is changed only if targets have several classes. Rows with a single class are
    separable more often, and need the steps from zero under a stronger penalty.
    """
    matrix, tuning = start.reshape(problem.description.shape), criteria.tuning
    if matrix[:, :-1].any() or not 1 < len(matrix) <= tuning.most_intercepts:
        return start
    if not problem.has_several_classes or (alone := problem.intercepts_alone()) is None:
        return start
    rough = criteria.of_start(tol=1e-3, max_iter=50)
    solution = minimize(alone, [NewtonCholesky(tuning)], rough, matrix[:, -1])
    # Both values differ from those of all rows by the same constant.
    gain = solution.history[0].objective - solution.value
    if gain < tuning.gain_of_intercepts * abs(problem.value_at_zero):
        return start
    best = matrix.copy()
    best[:, -1] = solution.parameters
    return best.ravel()
