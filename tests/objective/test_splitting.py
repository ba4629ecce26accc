"""The splitting of an objective: pure steps, and its fixed point."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from skprob.mappings import Sparsemax
from skprob.solvers import solve

from ..solvers.training_problems import classes, objective_of


def test_a_warm_start_at_the_minimum_stays_there():
    objective = objective_of(*classes(n_classes=4), Sparsemax())
    exact = solve(
        objective, objective.initial(), solver="newton-cg", tol=1e-9, max_iter=500
    )
    splitting = objective.splitting(exact.parameters, 0.05, 3)
    _, parameters, products = splitting.step()
    assert_allclose(parameters, exact.parameters, atol=1e-6)
    assert products[-1] < 1e-10


def test_a_step_changes_nothing_of_the_splitting_before():
    objective = objective_of(*classes(n_classes=4), Sparsemax())
    first = objective.splitting(objective.initial(), 0.05, 3)
    before = objective.passes
    second, parameters, products = first.step()
    assert objective.passes == before + 1
    mixed = second.mixed(np.ones(1))
    for again in (first.step(), first.step()):
        assert_array_equal(again[1], parameters)
        assert_array_equal(again[2], products)
    _, one, residuals = mixed.step()
    _, other, _ = second.mixed(np.ones(1)).step()
    assert_array_equal(one, other)
    assert len(residuals) == 2
    # The residual is shorter than at the start.
    assert 0 < residuals[-1] < products[0]


def test_residuals_are_kept_up_to_a_number_and_products_are_theirs():
    objective = objective_of(*classes(n_classes=4), Sparsemax())
    splitting, vectors = objective.splitting(objective.initial(), 0.05, 3), []
    block = objective.blocks.map(_same)._blocks[0]
    for n in range(1, 6):
        splitting, parameters, products = splitting.step()
        assert len(products) == min(n, 3)
        rows = splitting.rows._blocks[0]
        raw = block.design.matvec(parameters.reshape(objective.shape))
        vectors.append(raw - rows._nearest)
        weight = block.weight[:, None]
        expected = [np.sum(weight * vectors[-1] * v) for v in vectors[-3:]]
        # They are kept in single precision.
        assert_allclose(products, expected, rtol=1e-5, atol=1e-9)
        splitting = splitting.mixed(np.eye(len(products))[-1])


def _same(block):
    return block
