"""A whole fit whose rows live in another process: only sums of terms come back."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from skprob.data import LocalBlocks, as_design
from skprob.losses import FenchelYoungLoss
from skprob.mappings import Softmax, Sparsemax
from skprob.objective import Block, CosineObjective, LinearObjective
from skprob.solvers import solve
from skprob.targets import LabelTarget

from .processes import Process, ProcessBlocks
from .training_problems import classes

N_ROWS, CUTS = 1500, [0, 300, 310, 900, 1100, 1500]


def blocks(container=np.asarray, unit_rows=False):
    """Five, of several sizes."""
    X, y = classes(3, n_samples=N_ROWS, n_features=6)
    X[:, :2] = 50 * X[:, :2] + 10
    X[:, 5] = X[:, 5] > 1
    if unit_rows:
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    design = as_design(container(X))
    target = LabelTarget(y, 3)
    weight = np.random.default_rng(0).uniform(0.5, 2, N_ROWS)
    weight /= weight.sum()
    rows = [slice(*pair) for pair in pairwise(CUTS)]
    return [Block(design.take(r), target.take(r), weight[r]) for r in rows]


@pytest.fixture(scope="module")
def process():
    process = Process()
    yield process
    process.end()


def fit(objective, solver):
    """All that a fit tells, but for the seconds."""
    limits = {"tol": 1e-6, "max_iter": 200}
    solution = solve(objective, objective.initial(), solver=solver, **limits)
    end = solution.parameters, solution.value, solution.gradient
    history = [row[:5] for row in solution.history]
    point = objective.at(solution.parameters)
    gap, apart = objective.duality_gap(point), objective.is_unbounded(point)
    return solution.converged, solution.solver, *end, history, gap, apart


def assert_same(one, other):
    for a, b in zip(one, other, strict=True):
        assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("solver", "mapping", "container", "l2"),
    [
        ("auto", Softmax(), np.asarray, 1e-3),
        ("auto", Softmax(), np.asarray, 0.0),
        ("newton-cg", Softmax(), sparse.csr_array, 1e-3),
        ("newton-cg", Sparsemax(), np.asarray, 1e-3),
        ("lbfgs", Softmax(), np.asarray, 1e-3),
        ("lbfgs", Sparsemax(), sparse.csr_array, 1e-3),
    ],
)
def test_a_fit_is_bit_for_bit_that_of_blocks_in_memory(
    process, solver, mapping, container, l2
):
    parts = blocks(container)
    loss = FenchelYoungLoss(mapping)
    local = LinearObjective(LocalBlocks(parts), loss, l2=l2)
    elsewhere = ProcessBlocks.of(process, parts)
    process.n_bytes_sent.clear(), process.n_bytes_received.clear()
    remote = LinearObjective(elsewhere, loss, l2=l2)
    expected, remote_fit = fit(local, solver), fit(remote, solver)
    assert expected[0]
    assert_same(remote_fit, expected)
    # One number a row would be more than this.
    assert len(process.n_bytes_sent) > 20
    assert max(process.n_bytes_sent) < 8 * N_ROWS / 2
    assert max(process.n_bytes_received) < 8 * N_ROWS / 2


def test_so_is_one_of_cosines(process):
    parts = blocks(unit_rows=True)
    loss = FenchelYoungLoss(Softmax())
    elsewhere = ProcessBlocks.of(process, parts)
    expected, remote_fit = (
        fit(CosineObjective(each, loss), "auto")
        for each in (LocalBlocks(parts), elsewhere)
    )
    assert_same(remote_fit, expected)


def test_an_error_comes_back(process):
    elsewhere = ProcessBlocks.of(process, [1, 2, 0])
    assert elsewhere.map(np.sqrt).sum(np.atleast_1d) == [1 + np.sqrt(2)]
    with pytest.raises(ZeroDivisionError):
        elsewhere.sum(divmod, 0)
