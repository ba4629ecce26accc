"""L-BFGS through SciPy, in standardised coordinates."""

from collections import deque

import numpy as np
from scipy.optimize import minimize

from ._scaling import coordinates_of
from ._solution import Solution
from ._threads import serial_scipy_blas

_UNLIMITED = np.iinfo(np.int32).max
# So many iterations that together lower the objective by no more than its rounding
# show that nothing is left to gain.
_PATIENCE = 10


def lbfgs(objective, initial, *, tol, max_iter, callback=None):
    """Minimise a smooth objective with SciPy's L-BFGS-B.

    The variables are those of centred and scaled features
    (:class:`Standardization`), so that the units of the features do not matter.

    Parameters
    ----------
    objective : object
        With ``value_and_gradient(parameters)``, ``dtype`` and, if its features are
        to be standardised, what :class:`Standardization` asks for.
    initial : ndarray of shape (n_parameters,)
        Where to start.
    tol : float
        Largest absolute entry of the gradient at which to stop, both in the
        original coordinates (scikit-learn's criterion) and in the standardised
        ones (so that small units do not hide that the optimum is far). Where large
        units put the former out of reach of the arithmetic, the latter is enough.
    max_iter : int
        Iterations at most; evaluations are not limited.
    callback : callable, optional
        ``callback(n_iter, parameters, value, gradient_norm, last)`` after every
        iteration, `last` telling that no other follows; a true result stops the
        solver.

    Returns
    -------
    solution : Solution

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.losses import FenchelYoungLoss, SparseTarget
    >>> from skprob.mappings import Softmax
    >>> from skprob.objective import LinearObjective, split_rows
    >>> from skprob.solvers import lbfgs
    >>> X = np.array([[0.0], [1e6], [2e6], [3e6]])
    >>> target = SparseTarget.from_labels(np.array([0, 1, 0, 1]), n_classes=2)
    >>> blocks = split_rows(X, target, np.ones(4))
    >>> objective = LinearObjective(blocks, FenchelYoungLoss(Softmax()), l2=0.0)
    >>> solution = lbfgs(objective, np.zeros(2), tol=1e-6, max_iter=100)
    >>> solution.converged, round(solution.value, 4)
    (True, 0.5869)
    """
    scaling = coordinates_of(objective)
    rounding = _PATIENCE * np.finfo(objective.dtype).eps
    values = deque(maxlen=_PATIENCE + 1)
    # The last evaluation; SciPy's iterate is always the last point it asked for.
    last = {}

    def fun(variables):
        parameters = scaling.to_original(variables)
        value, gradient = objective.value_and_gradient(parameters)
        scaled = scaling.gradient(gradient)
        last.update(
            variables=variables.copy(),
            parameters=parameters,
            value=value,
            gradient_norm=float(np.abs(gradient).max(initial=0)),
            scaled_norm=float(np.abs(scaled).max(initial=0)),
        )
        return value, scaled

    def evaluated(variables):
        if not np.array_equal(variables, last["variables"]):
            fun(variables)

    n_iter = 0
    stopped = stalled = False

    def is_converged():
        return last["scaled_norm"] <= tol and (stalled or last["gradient_norm"] <= tol)

    def after_iteration(variables):
        nonlocal n_iter, stopped, stalled
        n_iter += 1
        evaluated(variables)
        values.append(last["value"])
        gain = values[0] - values[-1]
        stalled = n_iter > _PATIENCE and gain <= rounding * abs(last["value"])
        done = stalled or is_converged()
        stopped = callback is not None and callback(
            n_iter,
            last["parameters"],
            last["value"],
            last["gradient_norm"],
            done or n_iter == max_iter,
        )
        if done or stopped:
            raise StopIteration

    variables = scaling.from_original(initial)
    fun(variables)
    if max_iter > 0 and not is_converged():
        options = {
            "maxiter": max_iter,
            "maxfun": _UNLIMITED,
            "ftol": 0.0,
            "gtol": 0.0,
        }
        with serial_scipy_blas:
            result = minimize(
                fun,
                variables,
                method="L-BFGS-B",
                jac=True,
                callback=after_iteration,
                options=options,
            )
        evaluated(result.x)
        # Neither stopped by us nor by the count: no step lowered the objective.
        stalled = stalled or (result.status in (0, 2) and not stopped)
    converged = is_converged()
    if converged and last["gradient_norm"] > tol:
        message = "gradient within tol up to rounding: the features' units are large"
    elif converged:
        message = "gradient within tol"
    elif stopped:
        message = "stopped by a callback"
    elif stalled:
        message = "no step lowers the objective any further in this precision"
    else:
        message = f"max_iter={max_iter} iterations were not enough"
    return Solution(
        last["parameters"],
        last["value"],
        last["gradient_norm"],
        n_iter,
        converged,
        bool(stopped),
        message,
    )
