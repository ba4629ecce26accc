"""Conjugate gradients of several systems, compared with a dense solution."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skprob.solvers.by_output._conjugate_gradients import conjugate_gradients


class DenseHessians:
    def __init__(self, matrices, counts):
        self.matrices, self.counts = matrices, counts

    def product(self, variables):
        self.counts.append(variables.shape[1])
        return np.einsum("kij,jk->ik", self.matrices, variables)

    def of_outputs(self, some):
        return DenseHessians(self.matrices[some], self.counts)


def systems(n_outputs=7, size=12):
    """Matrices with a diagonal of ones, and gradients."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(n_outputs, size, size))
    # The first ones are easy, the last ones are not.
    spread = np.linspace(0, 2, n_outputs)[:, None] * np.linspace(-1, 1, size)
    factors *= 10 ** spread[:, None, :]
    matrices = np.eye(size) + factors.transpose(0, 2, 1) @ factors / size
    roots = np.sqrt(np.einsum("kii->ki", matrices))
    matrices /= roots[:, :, None] * roots[:, None, :]
    return matrices, rng.normal(size=(size, n_outputs))


def exact_steps(matrices, gradient):
    return -np.linalg.solve(matrices, gradient.T[:, :, None])[:, :, 0].T


@pytest.mark.parametrize("n_kept", [0, 2])
def test_each_residual_is_as_small_as_its_own_term_says(n_kept):
    matrices, gradient = systems()
    terms, counts = np.logspace(-1, -9, 7), []
    model = conjugate_gradients(
        DenseHessians(matrices, counts), gradient, terms, 0.0, n_kept
    )
    residual = gradient + np.einsum("kij,jk->ik", matrices, model.steps)
    left = np.linalg.norm(residual, axis=0) / np.linalg.norm(gradient, axis=0)
    assert (left <= 1.01 * terms).all()
    exact = exact_steps(matrices, gradient)
    assert_allclose(model.steps[:, -1], exact[:, -1], rtol=1e-6)
    # Systems that are solved leave.
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 7
    assert counts[-1] <= 4
    # A Rayleigh quotient, and so within the spectrum.
    least = np.linalg.eigvalsh(matrices)[:, 0]
    assert (model.least_curvatures >= 0.999 * least).all()
    assert model.least_curvatures[-1] < 2 * least[-1]


def test_zero_gradients_and_directions_without_curvature():
    matrices, gradient = systems()
    gradient[:, 2] = 0
    matrices[4] = 0
    matrices[5] = -matrices[5]
    terms = np.full(7, 1e-8)
    model = conjugate_gradients(DenseHessians(matrices, []), gradient, terms, 0, 2)
    assert not model.steps[:, 2].any()
    for k in 4, 5:
        assert_allclose(model.steps[:, k], -gradient[:, k])
    exact = exact_steps(matrices[:1], gradient[:, :1])
    assert_allclose(model.steps[:, :1], exact, rtol=1e-6)


def test_kept_residuals_save_products_where_one_eigenvalue_is_large():
    """In single precision components along its eigenvector come back."""
    rng = np.random.default_rng(0)
    size = 300
    matrix = np.diag(np.geomspace(0.1, 10, size))
    direction = rng.normal(size=size)
    matrix += 1e5 * np.outer(direction, direction) / (direction @ direction)
    gradient = rng.normal(size=(size, 1)) + 10 * direction[:, None]
    exact = exact_steps(matrix[None], gradient)
    n_products = []
    for n_kept in 0, 2:
        counts = []
        model = conjugate_gradients(
            DenseHessians(matrix[None].astype(np.float32), counts),
            gradient.astype(np.float32),
            np.array([1e-3]),
            0.0,
            n_kept,
        )
        assert model.steps.dtype == np.float32
        error = model.steps - exact
        assert error.T @ matrix @ error <= 1e-2 * (exact.T @ matrix @ exact)
        n_products.append(len(counts))
    assert n_products[1] < 0.8 * n_products[0]
