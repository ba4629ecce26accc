"""At zero coefficients one row stands for all, and X is not read."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skprob.losses import FenchelYoungLoss, LogLoss, MarginLoss
from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.objective import LinearObjective, split_rows
from skprob.objective.little import is_little
from skprob.targets import LabelTarget, as_target

from ..solvers.training_problems import in_blocks
from .formulas import Problem


class RecordedSoftmax(Softmax):
    """Softmax that records the number of rows of each call."""

    n_rows: list = []

    def probabilities_and_potential(self, scores):
        self.n_rows.append(len(scores))
        return super().probabilities_and_potential(scores)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_at_zero_one_row_is_evaluated_for_all(container, fit_intercept):
    """Its probabilities and its Hessian are those of all rows."""
    problem = Problem(3)
    for target in (
        LabelTarget(problem.Q.argmax(axis=1), 3),
        as_target(problem.Q, problem.Q.shape, float),
    ):
        blocks = in_blocks(container(problem.X), target, problem.weight, [9])
        one, other = (
            LinearObjective(
                blocks, FenchelYoungLoss(mapping), l2=0.1, fit_intercept=fit_intercept
            )
            for mapping in (RecordedSoftmax(), Softmax())
        )
        zero = np.zeros(one.n_parameters)
        RecordedSoftmax.n_rows.clear()
        point, passes = one.at(zero), one.passes
        value, gradient = one.value_and_gradient(zero)
        assert one.passes == passes  # The sums of the target are known.
        curvature = one.curvature_at(zero)
        total, n_active = curvature.total_curvature()
        sandwich = curvature.sandwiches(False, np.inf)
        assert set(RecordedSoftmax.n_rows) == {1}
        # Nearly zero, where all rows are evaluated.
        near = np.full(one.n_parameters, 1e-200)
        assert_allclose(value, other.value_and_gradient(near)[0], rtol=1e-14)
        assert_allclose(gradient, other.value_and_gradient(near)[1], atol=1e-14)
        assert_array_equal(point.gradient, gradient)
        curvature = other.curvature_at(near)
        assert_allclose(total, curvature.total_curvature()[0], rtol=1e-14)
        assert n_active == curvature.total_curvature()[1]
        expected = curvature.sandwiches(False, np.inf)
        assert_allclose(sandwich, expected, rtol=1e-12, atol=1e-14)


START_LOSSES = [
    FenchelYoungLoss(Softmax()),
    FenchelYoungLoss(Sparsemax()),
    LogLoss(Entmax(1.2)),
    MarginLoss(FenchelYoungLoss(Softmax())),
]


@pytest.mark.parametrize("loss", START_LOSSES, ids=repr)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_moments_and_target_sums_at_zero_are_those_of_the_rows(
    loss, container, fit_intercept
):
    """Also of a sample of the rows, of some features, and where zero has been seen."""
    problem = Problem(3)
    target = as_target(problem.Q, problem.Q.shape, float)
    if container is np.asarray:  # Little data are in one block.
        blocks = split_rows(problem.X, target, problem.weight)
    else:
        blocks = in_blocks(container(problem.X), target, problem.weight, [9])
    whole = LinearObjective(blocks, loss, l2=0.1, fit_intercept=fit_intercept)
    assert is_little(whole.blocks) == (container is np.asarray)
    whole.at(np.zeros(whole.n_parameters))
    for objective in whole, whole.restricted(np.array([0, 2])), whole.sample(9):
        objective.at(np.zeros(objective.n_parameters))
        blocks = objective.blocks._blocks
        Z = np.vstack([block.design.columns(slice(None)).T for block in blocks])
        s = np.concatenate([block.weight for block in blocks])
        Q = np.vstack([block.target.to_dense(float) for block in blocks])
        sums = objective.target_sums()
        assert_allclose(objective.class_means, s @ Q, atol=1e-14)
        assert_allclose(sums.coupling, (Q * s[:, None]).T @ Z, atol=1e-13)
        if not objective.traits.is_convex:
            continue
        jacobians = np.array(
            [
                loss.linearize(
                    np.zeros((1, 3)), as_target(q[None], (1, 3), float)
                ).hessian_diagonal()[0]
                for q in Q
            ]
        )
        start = objective.curvature_at(np.zeros(objective.n_parameters))
        weight = s[:, None] * jacobians
        total, mean, variance = start.curvature_moments()
        assert_allclose(total, weight.sum(axis=0), rtol=1e-12)
        expected = weight.T @ Z / total[:, None]
        assert_allclose(mean, expected, atol=1e-13)
        square = weight.T @ Z**2 / total[:, None]
        assert_allclose(variance, square - expected**2, atol=1e-13)
