"""Coordinates by Gram matrices on a device, compared with solutions by SciPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg

from skprob.losses import FenchelYoungLoss
from skprob.mappings import Sigmoid, Softmax, Sparsemax
from skprob.objective import Description, LinearObjective, split_rows
from skprob.solvers import Tuning, plan, solve
from skprob.solvers.newton._inverse_factor import inverse_factor
from skprob.solvers.newton._whitening_on_device import WhiteningOnDevice
from skprob.targets import LabelTarget

RNG = np.random.default_rng(0)
RIDGE = np.array([1e-3, 0.1, 0.1, 0.1, 0.0])


def described(n_outputs, is_shift_invariant=False):
    return Description(
        n_rows=9,
        n_stored=45,
        shape=(n_outputs, 5),
        dtype=np.dtype("f8"),
        is_shift_invariant=is_shift_invariant,
    )


def gram_matrices(n_grams):
    factors = RNG.normal(size=(n_grams, 5, 9))
    return factors @ factors.swapaxes(1, 2)


@pytest.mark.parametrize(("n_grams", "n_outputs"), [(1, 1), (1, 3), (3, 3)])
def test_a_gradient_there_and_back_is_a_newton_step(n_grams, n_outputs, library):
    grams = gram_matrices(n_grams)
    given = library.array(grams)
    whitening = WhiteningOnDevice(given, RIDGE, described(n_outputs))
    gradient = RNG.normal(size=5 * n_outputs)
    variables = whitening.gradient(gradient)
    assert library.holds(variables, "float64")
    expected = [
        linalg.solve(gram + np.diag(RIDGE), row)
        for gram, row in zip(
            np.broadcast_to(grams, (n_outputs, 5, 5)),
            gradient.reshape(n_outputs, 5),
            strict=True,
        )
    ]
    step = whitening.to_parameters(variables)
    assert type(step) is np.ndarray
    assert_allclose(step, np.ravel(expected), rtol=1e-6)
    variables = np.random.default_rng(1).normal(size=5 * n_outputs)
    ahead = whitening.to_parameters(library.array(variables))
    # One map is the adjoint of the other.
    back = whitening.gradient(gradient)
    expected = float(library.array(variables) @ back)
    assert ahead @ gradient == pytest.approx(expected, rel=1e-12)


def test_equal_changes_have_coordinates_of_their_own(library):
    """Their curvature is that of the penalty: the steps of outputs are centred."""
    grams, ridge = gram_matrices(3), np.full(5, 0.1)
    whitening = WhiteningOnDevice(library.array(grams), ridge, described(3, True))
    gradient = RNG.normal(size=(3, 5))
    mean = gradient.mean(axis=0)
    steps = np.array(
        [
            linalg.solve(gram + np.diag(ridge), row)
            for gram, row in zip(grams, gradient - mean, strict=True)
        ]
    )
    expected = steps - steps.mean(axis=0) + mean / ridge
    step = whitening.to_parameters(whitening.gradient(gradient.ravel()))
    assert_allclose(step.reshape(3, 5), expected, rtol=1e-6)


def test_matrices_without_a_factor(library, numpy):
    bad = np.stack([np.diag([1.0, -1.0]), np.full((2, 2), np.inf), 4 * np.eye(2)])
    assert inverse_factor(library.array(bad[:1])) is None
    whitening = WhiteningOnDevice(
        library.array(np.pad(bad, ((0, 0), (0, 3), (0, 3)))), RIDGE, described(3)
    )
    assert np.isfinite(whitening.to_parameters(whitening.gradient(np.ones(15)))).all()
    assert_allclose(numpy(inverse_factor(library.array(bad[2]))), np.eye(2) / 2)


@pytest.mark.parametrize(
    ("mapping", "solver"),
    [(Softmax(), "lbfgs"), (Sparsemax(), "newton-cg"), (Sigmoid(), "lbfgs")],
    ids=repr,
)
def test_the_minimum_is_the_same(mapping, solver, library):
    """With Gram matrices of any size on the device, as with none there."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6)) @ rng.normal(size=(6, 6))
    y = (X @ rng.normal(size=(6, 4)) / 3 + rng.gumbel(size=(300, 4))).argmax(axis=1)
    X += 3
    target, loss = LabelTarget(y, 4), FenchelYoungLoss(mapping)
    on_device, in_numpy = (
        LinearObjective(split_rows(rows, target, np.ones(300)), loss, l2=0.01)
        for rows in (library.array(X), X)
    )
    always, never = Tuning(least_on_device=0), Tuning(least_on_device=np.inf)
    assert plan(on_device.description, always).on_device
    assert not plan(on_device.description, never).on_device
    assert not plan(in_numpy.description, always).on_device
    options = {"solver": solver, "tol": 1e-9, "max_iter": 500}
    solutions = [
        solve(objective, objective.initial(), tuning=tuning, **options)
        for objective, tuning in (
            (on_device, always),
            (on_device, never),
            (in_numpy, always),
        )
    ]
    for solution in solutions:
        assert solution.converged
        assert_allclose(solution.parameters, solutions[2].parameters, atol=1e-6)
    passes = [solution.history[-1].passes for solution in solutions]
    assert passes[0] <= 1.1 * passes[2]
