"""Objectives of wide sparse rows with several labels."""

import numpy as np
from scipy import sparse

from skprob.losses import FenchelYoungLoss
from skprob.mappings import Sigmoid
from skprob.objective import LinearObjective, split_rows
from skprob.solvers import plan
from skprob.targets import DenseTarget

L2 = 0.01
LIMITS = {"solver": "auto", "tol": 1e-9, "max_iter": 200}


def wide_rows(n_rows=60, n_columns=260, n_labels=6):
    """Wide sparse rows, with rare and frequent labels."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((n_rows, n_columns), density=0.04, rng=rng, format="csr")
    noise = rng.logistic(size=(n_rows, n_labels))
    scores = 2 * X @ rng.normal(size=(n_columns, n_labels)) + noise
    return X, (scores > np.linspace(-1, 2.5, n_labels)).astype(float)


def objective_of(X, target, weight=None, alpha=1.0, l2=L2, fit_intercept=True, **rows):
    weight = np.ones(X.shape[0]) if weight is None else weight
    target = DenseTarget(target) if isinstance(target, np.ndarray) else target
    blocks = split_rows(X, target, weight, **rows)
    loss = FenchelYoungLoss(Sigmoid(alpha))
    problem = LinearObjective(blocks, loss, l2=l2, fit_intercept=fit_intercept)
    assert plan(problem.description).by_output
    return problem
