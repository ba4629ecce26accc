"""Newton's step of the intercepts alone, and where there is no curvature."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.objective._intercepts import intercept_step
from skprob.solvers._lbfgs import EvaluatedPoint

from ..solvers.training_problems import classes, hessian_at, objective_of

every_mapping = pytest.mark.parametrize(
    "mapping", [Softmax(), Entmax(1.5), Sparsemax()], ids=repr
)


@every_mapping
@pytest.mark.parametrize("n_classes", [2, 4])
def test_it_is_newtons_step_in_the_intercepts(mapping, n_classes):
    objective = objective_of(*classes(n_classes), mapping)
    x = 0.1 * np.random.default_rng(0).normal(size=objective.n_parameters)
    size = objective.shape[1]
    hessian = hessian_at(objective, x)[size - 1 :: size, size - 1 :: size]
    point = objective.at(x)
    gradient = point.gradient.reshape(objective.shape)[:, -1]
    objective.target_sums()
    before = objective.passes
    step = intercept_step(objective, point)
    assert objective.passes == before
    # At a point without raw predictions they are computed.
    bare = EvaluatedPoint(x, point.value, point.gradient)
    assert_allclose(intercept_step(objective, bare), step, rtol=1e-6, atol=1e-12)
    assert objective.passes == before + 0.5
    # To 1/2000; what all intercepts share changes nothing.
    expected, *_ = np.linalg.lstsq(hessian, -gradient)
    if n_classes > 2:
        step = step - step.mean()
    assert_allclose(step, expected, atol=1e-2 * np.abs(expected).max())


@every_mapping
def test_without_any_curvature_there_is_none_and_the_bound_is_that_of_the_point(
    mapping,
):
    """Far out every row has one class, and SciPy would divide by zero."""
    objective = objective_of(*classes(3), mapping, l2=1.0)
    x = 1e6 * np.random.default_rng(0).normal(size=objective.n_parameters)
    with np.errstate(all="ignore"):
        assert not objective.at(x).total_curvature()[0].any()
        gradient = objective.at(x).gradient.reshape(objective.shape)[:, -1]
        assert gradient.any()
        assert not intercept_step(objective, objective.at(x)).any()
    value, _ = objective.value_and_gradient(x)
    assert 0 <= objective.duality_gap(objective.at(x)) <= value
