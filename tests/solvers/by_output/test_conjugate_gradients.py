"""Conjugate gradients of several systems, compared with a dense solution."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skprob.solvers.by_output._conjugate_gradients import conjugate_gradients


class DenseHessians:
    def __init__(self, matrices, counts):
        self.matrices, self.counts = matrices, counts

    def product(self, direction):
        self.counts.append(len(direction))
        return np.einsum("kij,kj->ki", self.matrices, direction)

    def of_outputs(self, some):
        return DenseHessians(self.matrices[some], self.counts)


class Diagonal:
    def __init__(self, inverse):
        self.inverse = inverse

    def times(self, gradient):
        product = self.inverse * gradient
        return product, (product * gradient).sum(axis=1)

    def of_outputs(self, some):
        return Diagonal(self.inverse[some])


def systems(n_outputs=7, size=12):
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(n_outputs, size, size))
    # The first ones are easy, the last ones are not.
    spread = np.linspace(0, 2, n_outputs)[:, None] * np.linspace(-1, 1, size)
    factors *= 10 ** spread[:, None, :]
    matrices = np.eye(size) + factors.transpose(0, 2, 1) @ factors / size
    diagonal = np.einsum("kii->ki", matrices)
    return matrices, Diagonal(1 / diagonal), rng.normal(size=(n_outputs, size))


@pytest.mark.parametrize("order", ["C", "F"])
def test_each_residual_is_as_small_as_its_own_term_says(order):
    matrices, scaling, gradient = systems()
    gradient, terms = np.asarray(gradient, order=order), np.logspace(-1, -9, 7)
    counts = []
    model = conjugate_gradients(
        DenseHessians(matrices, counts), gradient, scaling, terms, 0.0
    )
    residual = gradient + np.einsum("kij,kj->ki", matrices, model.steps)
    left = np.sqrt(scaling.times(residual)[1] / scaling.times(gradient)[1])
    assert (left <= 1.01 * terms).all()
    exact = -np.linalg.solve(matrices, gradient[:, :, None])[:, :, 0]
    assert_allclose(model.steps[-1], exact[-1], rtol=1e-6)
    # Systems that are solved leave.
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 7
    assert counts[-1] <= 4
    # A Rayleigh quotient in the norm of the scaling, and so within its spectrum.
    scaled = matrices * np.sqrt(
        scaling.inverse[:, :, None] * scaling.inverse[:, None, :]
    )
    least = np.linalg.eigvalsh(scaled)[:, 0]
    assert (model.least_curvatures >= 0.999 * least).all()
    assert model.least_curvatures[-1] < 2 * least[-1]


def test_zero_gradients_and_directions_without_curvature():
    matrices, scaling, gradient = systems()
    gradient[2] = 0
    matrices[4] = 0
    matrices[5] = -matrices[5]
    terms = np.full(7, 1e-8)
    model = conjugate_gradients(
        DenseHessians(matrices, []), gradient, scaling, terms, 0
    )
    assert not model.steps[2].any()
    for k in 4, 5:
        assert_allclose(model.steps[k], -scaling.inverse[k] * gradient[k])
    exact = -np.linalg.solve(matrices[0], gradient[0])
    assert_allclose(model.steps[0], exact, rtol=1e-6)
