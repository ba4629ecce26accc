"""Derivatives of mappings by finite differences in many digits."""

import mpmath as mp
import numpy as np
from numpy.testing import assert_allclose

from skprob._utils.scores import standard_scores

#: For what needs the digits; the precision of other tests is left as it was.
many_digits = mp.workdps(60)
STEP = mp.mpf(10) ** -20


def row(z):
    return [mp.mpf(float(x)) for x in z]


def floats(values):
    return np.array([float(x) for x in values])


def jacobian(function, z):
    """∂function_i/∂z_j as an array of mpf; the error is below 1e-30."""
    columns = []
    for j in range(len(z)):
        up, down = list(z), list(z)
        up[j] += STEP
        down[j] -= STEP
        pairs = zip(function(up), function(down), strict=True)
        columns.append([(a - b) / (2 * STEP) for a, b in pairs])
    return np.array(columns, dtype=object).T


def derivative_of_vjp(function, z, cotangent, direction):
    """Derivative of the transposed Jacobian times `cotangent` along `direction`."""
    step = [STEP * mp.mpf(d) for d in direction]
    up = jacobian(function, [x + d for x, d in zip(z, step, strict=True)])
    down = jacobian(function, [x - d for x, d in zip(z, step, strict=True)])
    return (up - down).T @ cotangent / (2 * STEP)


def assert_linearization(linear, function, z, tolerance):
    """Check the value and all derivatives at a row of scores."""
    rng = np.random.default_rng(len(z))
    cotangent, direction = rng.normal(size=(2, len(z)))
    exact = jacobian(function, row(z))
    second = derivative_of_vjp(function, row(z), cotangent, direction)
    expected = [
        (linear.probabilities, function(row(z))),
        (linear.jvp(direction[None].copy()), exact @ direction),
        (linear.vjp(cotangent[None]), exact.T @ cotangent),
        (linear.vjp_derivative(cotangent[None], direction[None]), second),
    ]
    for actual, wanted in expected:
        wanted = floats(wanted)
        scale = max(1, np.abs(wanted).max())
        assert_allclose(actual[0], wanted, rtol=tolerance, atol=tolerance * scale)


@many_digits
def assert_derivatives(mapping, function, scores, tolerance=1e-13):
    """Check the derivatives of a mapping and of its logarithm, row by row."""

    def log_function(z):
        return [mp.log(p) if p > 0 else -mp.inf for p in function(z)]

    for z in scores:
        standard = standard_scores(z[None], mapping.traits.is_shift_invariant)
        linear = mapping.linearize(standard.copy())
        assert_linearization(linear, function, z, tolerance)
        if all(p > 0 for p in function(row(z))):
            linear = mapping.log_linearize(standard.copy())
            assert_linearization(linear, log_function, z, tolerance)
