"""Which solver suits objectives of all sizes, and by which numbers."""

import numpy as np
import pytest

from skprob.mappings import Entmax
from skprob.solvers import Tuning, method_for
from skprob.solvers._method import check_hessian

from .descriptions import DENSE, SPARSE_MAPPING, sized
from .training_problems import classes, objective_of

STEEP = objective_of(*classes(3), Entmax(2.5)).description


@pytest.mark.parametrize(
    ("description", "method"),
    [
        # iris, wine, breast cancer, digits
        (sized(150, 5, 3), "newton-cholesky"),
        (sized(178, 14, 3), "newton-cholesky"),
        (sized(569, 31, 1), "newton-cholesky"),
        (sized(1797, 65, 10), "newton-cg"),
        # mnist, covtype
        (sized(60_000, 785, 10), "newton-cg"),
        (sized(580_000, 55, 7), "newton-cg"),
        # news20: many sparse features
        (sized(16_000, 62_000, 20, density=1e-3), "newton-cg"),
        # More raw predictions than numbers of X.
        (sized(100_000, 20, 1000), "lbfgs"),
        (sized(1000, 20, 400), "newton-cg"),
        # A few rows of many features: the factor costs more than the Hessian.
        (sized(2, 300, 1), "newton-cg"),
    ],
)
def test_the_table(description, method):
    assert method_for(description) == method


def test_many_raw_predictions_are_not_kept():
    for base in (DENSE, SPARSE_MAPPING):
        assert method_for(sized(100_000, 20, 200, base=base)) == "lbfgs"


def test_what_has_no_useful_hessian_is_left_to_lbfgs():
    assert method_for(STEEP) == "lbfgs"
    assert method_for(DENSE._replace(is_convex=False)) == "lbfgs"
    assert method_for(DENSE._replace(is_convex=False, is_linear=False)) == "lbfgs"


@pytest.mark.parametrize("kind", [{"is_convex": False}, {"is_linear": False}])
def test_without_a_useful_hessian_its_solver_is_refused(kind):
    check_hessian(DENSE)
    with pytest.raises(ValueError, match="needs a convex loss of linear scores"):
        check_hessian(DENSE._replace(**kind))


def test_the_numbers_that_decide_are_those_of_the_tuning():
    covtype = sized(580_000, 55, 7)
    assert method_for(covtype) == "newton-cg"
    for changed, method in (
        ({"largest_hessian_cost": np.inf}, "newton-cholesky"),
        ({"many_raw_predictions": 0.0, "most_numbers": 0}, "lbfgs"),
    ):
        assert method_for(covtype, Tuning(**changed)) == method
    remote = sized(200_000, 5, 3, is_remote=True)
    assert method_for(remote) == "newton-cholesky"
    assert method_for(remote, Tuning(round_trip_cost=0)) == "lbfgs"
