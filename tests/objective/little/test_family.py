"""Objectives that differ in the penalty, at once, against each one alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skprob.losses import FenchelYoungLoss
from skprob.mappings import Entmax, Sigmoid, Softmax
from skprob.objective.little._family import Family

from ..formulas import Problem, by_differences, gradient_at


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("mapping", "n_classes"),
    [(Softmax(), 2), (Entmax(1.5), 3), (Sigmoid(), 3)],
    ids=repr,
)
def test_values_and_derivatives_at_a_point_for_each(mapping, n_classes, fit_intercept):
    problem = Problem(n_classes, polytope=mapping.traits.polytope)
    loss = FenchelYoungLoss(mapping)
    objective = problem.objective(loss, fit_intercept=fit_intercept)
    strengths, which = np.array([0.01, 1.0, 20.0]), np.array([2, 0, 2])
    points = np.random.default_rng(0).normal(size=(3, objective.n_parameters)) / 3
    values, gradients, hessians = Family(objective, strengths).at(points, which)
    for at, (number, x) in enumerate(zip(which, points, strict=True)):
        alone = objective.with_l2(strengths[number])
        value, gradient = alone.value_and_gradient(x)
        assert_allclose(values[at], value, rtol=1e-12)
        assert_allclose(gradients[at], gradient, rtol=1e-10, atol=1e-13)
        expected = by_differences(lambda z, f=alone: gradient_at(f, z), x, 1e-6)
        size = objective.shape[1]
        if objective.description.is_shift_invariant and fit_intercept:
            # The same added to all intercepts is given a curvature.
            expected[size - 1 :: size, size - 1 :: size] += 1 / n_classes
        largest = np.abs(expected).max()
        assert_allclose(hessians[at], expected, rtol=1e-4, atol=1e-5 * largest)
