"""L-BFGS through SciPy, in standardised coordinates."""

import numpy as np
from scipy.optimize import minimize

from ._scaling import Standardization
from ._solution import Solution
from ._threads import serial_scipy_blas

_UNLIMITED = np.iinfo(np.int32).max


def lbfgs(objective, initial, *, tol, max_iter, callback=None):
    """Minimise a smooth objective with SciPy's L-BFGS-B.

    The variables are those of centred and scaled features
    (:class:`Standardization`), so that the units of the features do not matter.

    Parameters
    ----------
    objective : object
        With ``value_and_gradient(parameters)`` and what
        :class:`Standardization` asks for.
    initial : ndarray of shape (n_parameters,)
        Where to start.
    tol : float
        Largest absolute entry of the gradient at which to stop, both in the
        original coordinates (scikit-learn's criterion) and in the standardised
        ones (so that small units do not hide that the optimum is far). An entry
        below its own rounding error counts as zero.
    max_iter : int
        Iterations at most; evaluations are not limited.
    callback : callable, optional
        ``callback(n_iter, parameters, value, gradient_norm)`` after every
        iteration; a true result stops the solver.

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
    scaling = Standardization(objective)
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
            converged=_is_small(objective, scaling, gradient, scaled, tol),
        )
        return value, scaled

    n_iter = 0
    message = f"stopped after max_iter={max_iter} iterations"

    def after_iteration(variables):
        nonlocal n_iter, message
        n_iter += 1
        if not np.array_equal(variables, last["variables"]):
            fun(variables)
        stop = callback is not None and callback(
            n_iter, last["parameters"], last["value"], last["gradient_norm"]
        )
        if last["converged"]:
            message = "gradient within tol"
            raise StopIteration
        if stop:
            message = "stopped by a callback"
            raise StopIteration

    variables = scaling.from_original(initial)
    fun(variables)
    if last["converged"]:
        message = "gradient within tol at the start"
    elif max_iter > 0:
        options = {
            "maxiter": max_iter,
            "maxfun": _UNLIMITED,
            "maxls": 50,
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
        if not np.array_equal(result.x, last["variables"]):
            fun(result.x)
        if result.status == 2:
            message = (
                "no step lowers the objective any further in this precision: "
                f"{result.message}"
            )
    return Solution(
        last["parameters"],
        last["value"],
        last["gradient_norm"],
        n_iter,
        last["converged"],
        message,
    )


def _is_small(objective, scaling, gradient, scaled, tol):
    """Whether each gradient entry is within tol, or lost in rounding."""
    coef, intercept = objective.unpack(scaled)
    original, _ = objective.unpack(gradient)
    lost = np.abs(coef) <= scaling.rounding
    small = (np.abs(coef) <= tol) & (np.abs(original) <= tol)
    return bool((lost | small).all() and (np.abs(intercept) <= tol).all())
