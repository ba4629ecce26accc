"""Training problems, and their optima by a method that shares no code."""

from itertools import pairwise

import numpy as np
from scipy.optimize import minimize

from skprob.data import LocalBlocks, as_design
from skprob.losses import FenchelYoungLoss
from skprob.mappings import Softmax
from skprob.objective import Block, LinearObjective, split_rows
from skprob.solvers import SOLVERS
from skprob.targets import LabelTarget

#: All solvers but "auto", which stands for one of them.
METHODS = tuple(solver for solver in SOLVERS if solver != "auto")


def classes(n_classes=3, n_samples=60, n_features=3, seed=0):
    """Standardised X and overlapping labels y."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    scores = X @ rng.normal(size=(n_features, n_classes))
    y = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
    y[:n_classes] = range(n_classes)
    return X, y


def objective_of(X, y, mapping=None, *, l2=0.01, fit_intercept=True, weight=None):
    target = LabelTarget(y, int(y.max()) + 1, X.dtype)
    weight = np.ones(len(y)) if weight is None else weight
    loss = FenchelYoungLoss(mapping or Softmax())
    blocks = split_rows(X, target, weight)
    return LinearObjective(blocks, loss, l2=l2, fit_intercept=fit_intercept)


def correlated(n_classes, container=np.asarray, **options):
    """An objective of correlated features in units of seven decades."""
    X, y = classes(n_classes, n_features=4, n_samples=300)
    X = X @ np.random.default_rng(1).normal(size=(4, 4)) * [1e-3, 1, 10, 1e3]
    X += np.array([0, 5, -100, 1e3])
    return objective_of(container(X), y, **options)


def in_blocks(X, target, weight, cuts):
    """Blocks that end at the given rows."""
    weight = weight / weight.sum()
    slices = [slice(*pair) for pair in pairwise([0, *cuts, len(weight)])]
    return LocalBlocks(
        Block(as_design(X[rows]), target.take(rows), weight[rows]) for rows in slices
    )


def hessian_at(objective, parameters):
    """Hessian at one point, by products with unit vectors."""
    product = objective.at(parameters).hessian_product
    return np.array([product(e) for e in np.eye(objective.n_parameters)])


def rounding_error(objective, parameters):
    """Difference that rounding may make between two ways to the same raw predictions.

    A solver adds those of its steps up; a new evaluation multiplies X by the sum.
    """
    eps = np.finfo(objective.description.dtype).eps
    return 4 * eps * (1 + np.abs(parameters).max())


def exact_optimum(objective):
    """By SciPy's trust-region method with an exact Hessian."""
    n = objective.n_parameters
    return minimize(
        objective.value_and_gradient,
        objective.initial(),
        jac=True,
        # A shift of all classes has no curvature and no gradient.
        hess=lambda parameters: hessian_at(objective, parameters) + 1e-12 * np.eye(n),
        method="trust-exact",
        options={"gtol": 1e-11, "maxiter": 1000},
    ).x


def optimum(X, y, mapping, *, l2, penalty_unit=1.0):
    """Coefficients and intercepts by a trust-region Newton method, K >= 3.

    The objective is written out with the mapping's public methods. `penalty_unit`
    divides each feature's coefficient in the penalty.
    """
    n, K = len(y), int(y.max()) + 1
    A = np.hstack([X, np.ones((n, 1))])
    Q = np.eye(K)[y]
    ridge = l2 / np.append(np.broadcast_to(penalty_unit, X.shape[1]), 1.0) ** 2
    ridge[-1] = 0
    # What all classes share has no effect but in the penalty: here it is zero.
    tie = 1e-3 * np.kron(np.eye(A.shape[1]), np.ones((K, K)))

    def value(theta):
        W = theta.reshape(-1, K)
        z = A @ W
        loss = mapping.potential(z) - mapping.entropy(Q) - (Q * z).sum(axis=1)
        return loss.mean() + 0.5 * (ridge @ W**2).sum() + 0.5 * theta @ tie @ theta

    def gradient(theta):
        W = theta.reshape(-1, K)
        data = A.T @ (mapping(A @ W) - Q) / n
        return (data + ridge[:, None] * W).ravel() + tie @ theta

    def hessian(theta):
        J = mapping.jacobian(A @ theta.reshape(-1, K))
        data = np.einsum("na,nij,nb->aibj", A, J, A, optimize=True) / n
        size = theta.size
        return data.reshape(size, size) + np.kron(np.diag(ridge), np.eye(K)) + tie

    start = np.zeros(A.shape[1] * K)
    options = {"gtol": 1e-10, "maxiter": 500}
    result = minimize(
        value, start, jac=gradient, hess=hessian, method="trust-exact", options=options
    )
    assert np.abs(gradient(result.x)).max() < 1e-8
    W = result.x.reshape(-1, K)
    return W[:-1].T, W[-1]
