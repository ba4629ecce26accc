"""A sum over outputs: groups of outputs are minimised one after another.

If the loss is a sum of losses of one output each, such as one-vs-rest, so is the whole
objective. A group of outputs is then a separate problem: it stops when its criteria are
met, and only its raw predictions are stored. If each group is within its tolerance, so
is the sum.
"""

from __future__ import annotations

import math
from itertools import pairwise
from time import perf_counter

import numpy as np

from .._utils.tuning import Tuning
from ._state import Iteration, Solution


def groups_of_outputs(description, tuning=Tuning(), solver="auto"):
    """Slices of the outputs that the named solver minimises one after another.

    There is a single one if the loss is not a sum over outputs, if all outputs fit in a
    group, or if the name is of a solver that does not gain by groups. Rows on other
    machines have one, too: each group would take round trips.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.objective import Description
    >>> from skprob.solvers import groups_of_outputs
    >>> labels = Description(
    ...     n_rows=100_000,
    ...     n_stored=5_000_000,
    ...     shape=(30, 51),
    ...     dtype=np.dtype("f8"),
    ...     is_separable=True,
    ... )
    >>> groups_of_outputs(labels)
    [slice(0, 10, None), slice(10, 20, None), slice(20, 30, None)]
    """
    n_outputs, _ = description.shape
    most = max(tuning.group_size // description.n_rows, tuning.fewest_outputs)
    has_groups = description.is_separable and solver in ("auto", "newton-cg")
    if not has_groups or description.is_remote or n_outputs <= most:
        return [slice(0, n_outputs)]
    ends = np.linspace(0, n_outputs, -(-n_outputs // most) + 1).astype(int).tolist()
    return [slice(*pair) for pair in pairwise(ends)]


def minimize_groups(problem, groups, minimize_group, start, callback=None):
    """Minimise a sum over outputs, a group of outputs after another.

    Parameters
    ----------
    problem : LinearProblem
        A problem whose loss is a sum over outputs.
    groups : list of slice
        Slices of the outputs, in their order.
    minimize_group : callable
        ``minimize_group(problem, start, callback=callback)`` returns the
        :class:`Solution` of a group's problem.
    start : ndarray of shape (n_parameters,)
    callback : callable, default=None
        As for :func:`minimize`; iterations are numbered over all groups.

    Returns
    -------
    solution : Solution
        The solution of the whole problem. Its history has the iterations of all groups,
        with the objective and the gradient of all outputs. If a callback stops the fit,
        the later groups keep their start.
    """
    begun, shape = perf_counter(), problem.description.shape
    parts = [problem.of_outputs(outputs) for outputs in groups]
    # A pass for a group multiplies X with its outputs alone.
    shares = [part.description.shape[0] / shape[0] for part in parts]
    parameters = start.reshape(shape).copy()
    gradient = np.empty(shape)
    values, norms = np.empty((2, len(groups)))
    for i, (part, outputs) in enumerate(zip(parts, groups, strict=True)):
        values[i], slope = part.value_and_gradient(parameters[outputs].ravel())
        gradient[outputs] = slope.reshape(-1, shape[1])
        norms[i] = np.abs(slope).max()
        problem.count(shares[i])
    first = Iteration(
        iteration=0,
        objective=values.sum(),
        gradient_norm=norms.max(),
        duality_gap=math.nan,
        passes=1.0,
        seconds=0.0,
        round_trips=0,
        bytes=0,
    )
    history = [first._replace(seconds=perf_counter() - begun)]

    solutions = []
    for i, (part, outputs) in enumerate(zip(parts, groups, strict=True)):
        before = history[-1]

        def report(n_iter, of_group, value, norm, last, i=i, before=before):
            """Call the user's callback with the numbers of all outputs."""
            parameters[groups[i]] = of_group.reshape(-1, shape[1])
            total = values.sum() - values[i] + value
            largest = max(norm, np.delete(norms, i).max(initial=0.0))
            last = last and i == len(groups) - 1
            whole = parameters.flatten(), total, largest, last
            return callback(before.iteration + n_iter, *whole)

        solution = minimize_group(
            part,
            parameters[outputs].ravel(),
            callback=report if callback else None,
        )
        problem.count(shares[i] * solution.history[-1].passes)
        others = values.sum() - values[i], np.delete(norms, i).max(initial=0.0)
        for row in solution.history[1:]:
            history.append(_of_all(row, before, shares[i], *others))
        parameters[outputs] = solution.parameters.reshape(-1, shape[1])
        gradient[outputs] = solution.gradient.reshape(-1, shape[1])
        values[i], norms[i] = solution.value, solution.gradient_norm
        solutions.append(solution)
        if solution.stopped:
            break

    is_complete = len(solutions) == len(groups)
    failed = [solution for solution in solutions if not solution.converged]
    names = dict.fromkeys(solution.solver for solution in solutions)
    gap = sum(solution.duality_gap for solution in solutions)
    return Solution(
        parameters=parameters.ravel(),
        value=float(values.sum()),
        gradient=gradient.ravel(),
        gradient_norm=float(norms.max()),
        duality_gap=gap if is_complete else math.inf,
        n_iter=history[-1].iteration,
        converged=not failed,
        stopped=solutions[-1].stopped,
        message=_message(solutions, groups),
        remedies=tuple(dict.fromkeys(name for s in failed for name in s.remedies)),
        solver="+".join(dict.fromkeys("+".join(names).split("+"))),
        history=history,
    )


def _of_all(row, before, share, other_values, other_norm):
    """The row of a group's history, with the numbers of all outputs."""
    return row._replace(
        iteration=before.iteration + row.iteration,
        objective=other_values + row.objective,
        gradient_norm=max(other_norm, row.gradient_norm),
        duality_gap=math.nan,
        passes=before.passes + share * row.passes,
        seconds=before.seconds + row.seconds,
    )


def _message(solutions, groups):
    """The message of the first group that did not converge."""
    for solution, outputs in zip(solutions, groups, strict=False):
        if not solution.converged:
            return f"labels {outputs.start} to {outputs.stop - 1}: {solution.message}"
    return solutions[-1].message
