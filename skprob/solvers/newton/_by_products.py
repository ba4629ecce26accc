"""Newton's method by Hessian products, and what comes before its first step.

Far from the minimum of large data a sample of the rows leads as far as all of them, and
a pass over it takes as much less time as it has fewer rows. Under a strong penalty the
first steps are those of L-BFGS.
"""

import math
from time import perf_counter

import numpy as np

from .._criteria import Criteria
from .._minimize import minimize
from .._newton_cholesky import NewtonCholesky
from .._plan import plan
from .._tuning import Tuning
from ._newton_cg import NewtonCG, NewtonCGState


def minimize_by_products(
    problem, start, chosen, criteria, callback, is_auto, resume, tuning
):
    """Minimise by Hessian products; large data are first minimised on a sample.

    Parameters
    ----------
    problem : LinearProblem
    start : ndarray of shape (n_parameters,)
        A start other than zero needs no sample.
    chosen : Plan
    criteria : Criteria
    callback : callable or None
        As for :func:`minimize`.
    is_auto : bool
        Whether L-BFGS may take the first steps, and splitting its turn, where products
        become many.
    resume : (State, float) or None
        As for :func:`solve`.
    tuning : Tuning

    Returns
    -------
    solution : Solution
        In its history the passes and seconds of the sample belong to the start. A pass
        over the sample is a share of one over all rows.
    """
    is_cold = resume is None and not _has_coefficients(problem, start)
    if chosen.preconditioner == "diagonal" and resume is None:
        start = _with_best_intercepts(problem, start, tuning)
    solvers, state = [NewtonCG(chosen, tuning=tuning)], None
    if is_auto and chosen.split_after < math.inf and problem.has_penalty:
        # Without a penalty the quadratic problem of a splitting may have no solution.
        from .._splitting import DouglasRachford  # Imported when used.

        first = NewtonCG(chosen, chosen.split_after, tuning)
        solvers = [first, DouglasRachford(tuning), *solvers]
    if resume is not None and isinstance(resume[0], NewtonCGState):
        state = solvers[0].resume(problem, *resume)
    if is_auto and is_cold and _suits_lbfgs(problem, chosen):
        from ._first_lbfgs import FirstLBFGS  # Imported when used.

        first = FirstLBFGS.begin(problem, start, criteria, tuning)
        if first is not None:
            solver, state = first
            solvers.insert(0, solver)
    n_sampled = 0 if start.any() else sample_size(problem.description, tuning)
    if not n_sampled:
        return minimize(problem, solvers, criteria, start, callback, state)

    begun, share = perf_counter(), n_sampled / problem.description.n_rows
    start, passes = _minimum_of_sample(problem, n_sampled, start, criteria, tuning)
    passes, seconds = share * passes, perf_counter() - begun
    problem.count(passes)
    solution = minimize(problem, solvers, criteria, start, callback, state)
    history = [
        row._replace(passes=row.passes + passes, seconds=row.seconds + seconds)
        for row in solution.history
    ]
    return solution._replace(history=history)


def sample_size(description, tuning=Tuning()):
    """Number of rows of the sample that a fit starts on; zero where none pays.

    On a GPU it saves nothing: a pass over a sample takes as long as one over all rows.

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


def _minimum_of_sample(problem, n_sampled, start, criteria, tuning):
    """Parameters at a rough minimum of a sample of the rows, and passes over it."""
    sample, tol = problem.sample(n_sampled), max(criteria.tol, tuning.sample_tol)
    looser = Criteria(tol=tol, max_iter=criteria.max_iter, certify=False, tuning=tuning)
    solver = NewtonCG(plan(sample.description, tuning), tuning=tuning)
    solution = minimize(sample, [solver], looser, start)
    return solution.parameters, sample.passes


def _has_coefficients(problem, start):
    """Whether any coefficient at the start is not zero."""
    return bool(start.reshape(problem.description.shape)[:, :-1].any())


def _suits_lbfgs(problem, chosen):
    """Whether L-BFGS may take the first steps if the penalty is strong.

    With two classes it saves nothing.
    """
    is_single = chosen.preconditioner == "diagonal" and chosen.precision is np.float32
    is_one = chosen.n_groups == 1 and not problem.description.has_row_scores
    has_many = problem.description.shape[0] > 1
    return is_single and is_one and has_many and problem.has_penalty


def _with_best_intercepts(problem, start, tuning):
    """The start, at the best intercepts of zero coefficients if these gain much.

    Only where rows have several classes: single ones are separable more often, and need
    the steps from zero under a stronger penalty.
    """
    matrix = start.reshape(problem.description.shape)
    if matrix[:, :-1].any() or not 1 < len(matrix) <= tuning.most_intercepts:
        return start
    if not problem.has_several_classes or (alone := problem.intercepts_alone()) is None:
        return start
    criteria = Criteria(tol=1e-3, max_iter=50, certify=False, tuning=tuning)
    solution = minimize(alone, [NewtonCholesky(tuning)], criteria, matrix[:, -1])
    # Both values lack the same part, that of targets that differ between rows.
    gain = solution.history[0].objective - solution.value
    if gain < tuning.gain_of_intercepts * abs(problem.value_at_zero):
        return start
    best = matrix.copy()
    best[:, -1] = solution.parameters
    return best.ravel()
