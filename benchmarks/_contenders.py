"""The programs that are timed: each fits a problem and returns its coefficients."""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from _optimum import Reference
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from skprob import EntmaxClassifier, SoftmaxClassifier, SparsemaxClassifier
from skprob.solvers import SOLVERS

OURS = {
    1: SoftmaxClassifier,
    1.5: EntmaxClassifier,
    2: SparsemaxClassifier,
}
DEFAULT_SOLVER = SoftmaxClassifier().solver
# newton-cholesky writes out the Hessian; with more operations for one, it would take
# minutes, and with more entries, more memory than there is.
MAX_HESSIAN_OPERATIONS = 2e12
MAX_HESSIAN_ENTRIES = 2e8


class Contender(NamedTuple):
    """A solver of one side.

    ``fit(problem, C, tol, max_iter)`` returns an array of shape (M, n_features + 1).
    """

    side: str
    solver: str
    fit: Callable


def contenders(problem, alpha):
    """All contenders that can fit a problem, those of skprob first."""
    results = [
        Contender("skprob", solver, skprob_fit(OURS[alpha], solver))
        for solver in SOLVERS
        if solver != "newton-cholesky" or can_write_hessian(problem)
    ]
    if alpha == 1:
        results += [
            Contender("scikit-learn", solver, scikit_learn_fit(solver))
            for solver in scikit_learn_solvers(problem)
        ]
    else:
        results.append(Contender("SciPy", "L-BFGS-B", scipy_fit(alpha)))
        if not sparse.issparse(problem.X):
            results.append(Contender("torch", "LBFGS", torch_fit(alpha)))
    return results


def scikit_learn_solvers(problem):
    """Names of the solvers that can have this problem's objective."""
    n_classes = problem.y.max() + 1
    solvers = ["lbfgs", "newton-cg"]
    if can_write_hessian(problem):
        solvers.append("newton-cholesky")
    if n_classes == 2 and not problem.fit_intercept:
        solvers.append("liblinear")
    return [*solvers, "sag", "saga"]


def can_write_hessian(problem):
    """Whether the Hessian of a problem takes neither minutes nor much memory.

    skprob allows 10,000 parameters, which is less than the limit of the entries.
    """
    n_samples, n_features = problem.X.shape
    n_classes = problem.y.max() + 1
    size = (n_features + 1) * (1 if n_classes == 2 else n_classes)
    is_small = size <= 10_000 and size**2 <= MAX_HESSIAN_ENTRIES
    return is_small and n_samples * size**2 <= MAX_HESSIAN_OPERATIONS


def skprob_fit(classifier, solver):
    def fit(problem, C, tol, max_iter):
        model = classifier(
            C=C,
            fit_intercept=problem.fit_intercept,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
        )
        return theta_of(model.fit(problem.X, problem.y))

    return fit


def scikit_learn_fit(solver):
    def fit(problem, C, tol, max_iter):
        model = LogisticRegression(
            C=C,
            fit_intercept=problem.fit_intercept,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            random_state=0,
        )
        return theta_of(model.fit(problem.X, problem.y))

    return fit


def theta_of(model):
    intercept = np.broadcast_to(model.intercept_, len(model.coef_))
    return np.hstack([model.coef_, intercept[:, None]])


def scipy_fit(alpha):
    """L-BFGS of the plain NumPy objective."""

    def fit(problem, C, tol, max_iter):
        objective = Reference(problem, alpha, C)
        shape = objective.zeros().shape

        def fun(parameters):
            value, gradient = objective.value_and_gradient(parameters.reshape(shape))
            return value, gradient.ravel()

        options = {"gtol": tol, "ftol": 0.0, "maxiter": max_iter, "maxfun": 10**9}
        start = objective.zeros().ravel()
        result = minimize(fun, start, jac=True, method="L-BFGS-B", options=options)
        return result.x.reshape(shape)

    return fit


def torch_fit(alpha):
    """Torch's L-BFGS of the entmax package's loss, by automatic differentiation."""
    import entmax
    import torch

    loss_of = {
        1.5: entmax.Entmax15Loss(reduction="elementwise_mean"),
        2: entmax.SparsemaxLoss(reduction="elementwise_mean"),
    }[alpha]

    def fit(problem, C, tol, max_iter):
        X, y = torch.from_numpy(problem.X), torch.from_numpy(problem.y)
        n_classes = int(y.max()) + 1
        n_outputs = 1 if n_classes == 2 else n_classes
        coef = torch.zeros(n_outputs, X.shape[1], dtype=X.dtype, requires_grad=True)
        intercept = torch.zeros(
            n_outputs, dtype=X.dtype, requires_grad=problem.fit_intercept
        )
        parameters = [coef, intercept] if problem.fit_intercept else [coef]
        l2 = 1 / (C * len(y))
        optimizer = torch.optim.LBFGS(
            parameters,
            max_iter=max_iter,
            max_eval=10**9,
            tolerance_grad=tol,
            tolerance_change=0,
            history_size=10,
            line_search_fn="strong_wolfe",
        )

        def closure():
            optimizer.zero_grad()
            scores = X @ coef.T + intercept
            if n_outputs == 1:
                scores = torch.hstack([-scores, scores]) / 2
            value = loss_of(scores, y) + l2 / 2 * (coef**2).sum()
            value.backward()
            return value

        optimizer.step(closure)
        with torch.no_grad():
            return torch.hstack([coef, intercept[:, None]]).numpy()

    return fit


def run(contender, problem, C, tol, max_iter):
    """Fit without convergence warnings: the benchmark measures the suboptimality."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return contender.fit(problem, C, tol, max_iter)
