"""Solvers and plans for objectives of all sizes, and the numbers that decide."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skprob.mappings import Entmax, Softmax
from skprob.solvers import Tuning, method_for, plan, solve

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
def test_the_table_of_solvers(description, method):
    assert method_for(description) == method


def test_many_raw_predictions_are_not_kept():
    for base in (DENSE, SPARSE_MAPPING):
        assert method_for(sized(100_000, 20, 200, base=base)) == "lbfgs"


def test_what_has_no_useful_hessian_is_left_to_lbfgs():
    assert method_for(STEEP) == "lbfgs"
    assert method_for(DENSE._replace(is_convex=False)) == "lbfgs"
    assert method_for(DENSE._replace(is_convex=False, is_linear=False)) == "lbfgs"


def test_the_numbers_that_choose_the_solver_are_those_of_the_tuning():
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


@pytest.mark.parametrize(
    ("description", "preconditioner"),
    [
        # iris, wine, breast cancer, digits
        (sized(150, 5, 3), "gram by output"),
        (sized(178, 14, 3), "gram by output"),
        (sized(569, 31, 1), "gram by output"),
        (sized(1797, 65, 10), "gram by output"),
        # mnist, covtype
        (sized(60_000, 785, 10), "gram by output"),
        (sized(580_000, 55, 7), "gram by output"),
        # news20: many sparse features
        (sized(16_000, 62_000, 20, density=1e-3), "diagonal"),
        # More raw predictions than numbers of X.
        (sized(100_000, 20, 1000), "gram"),
        (sized(1000, 20, 400), "gram"),
    ],
)
def test_the_table(description, preconditioner):
    assert plan(description).preconditioner.startswith(preconditioner)


def test_products_of_sparse_rows_are_in_the_coordinates_of_the_preconditioner():
    text = sized(16_000, 62_000, 20, density=1e-3)
    sparse = text._replace(suits_single_precision=True)
    assert plan(sparse).is_scaled
    assert not plan(text).is_scaled
    # One raw prediction, rows on other machines, and outputs one by one.
    for kind in ({"shape": (1, 62_000)}, {"is_remote": True}, {"is_separable": True}):
        assert not plan(sparse._replace(**kind)).is_scaled


def test_what_has_no_useful_hessian_has_a_preconditioner_if_it_is_linear():
    bent = plan(DENSE._replace(is_convex=False))
    assert bent.preconditioner == "gram by output"
    cosines = plan(DENSE._replace(is_convex=False, is_linear=False))
    assert cosines.preconditioner == "none"
    assert cosines.n_recycled == 0


def test_what_is_drawn_and_kept_is_bounded():
    for n_rows in (1, 10, 1000, 10**6):
        for n_columns in (1, 10, 300, 10_000):
            for n_outputs in (1, 3, 100, 5000):
                chosen = plan(sized(n_rows, n_columns, n_outputs))
                assert 0 <= chosen.n_drawn <= max(n_rows, n_columns)
                assert chosen.n_recycled >= 0
                assert chosen.n_recycled * n_columns * n_outputs <= 1 << 17
                assert chosen.renew_after > 0
                if chosen.preconditioner != "diagonal":
                    n_grams = n_outputs if "output" in chosen.preconditioner else 1
                    assert n_grams * n_columns**2 * 8 <= 2**28
                    enough = min(n_rows, 3 * n_columns)
                    assert chosen.n_drawn >= enough * min(1, n_columns / n_rows)


@pytest.mark.parametrize("n_columns", [60, 300, 3000])
def test_copies_of_few_rows_do_not_change_the_plan(n_columns):
    """With at most as many rows as columns; with more, the cost of rows counts."""
    for kind in ({}, {"is_convex": False}, {"is_separable": True}):
        few, more, most = (
            plan(sized(n_columns // parts, n_columns, 3, **kind))
            for parts in (20, 4, 1)
        )
        assert few == more == most


@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5)], ids=repr)
def test_copies_of_few_rows_do_not_change_a_fit(mapping):
    X, y = classes(4, n_samples=20, n_features=40)
    solutions = []
    for copies in (1, 2):
        rows = np.tile(np.arange(20), copies)
        objective = objective_of(X[rows], y[rows], mapping)
        start = objective.initial()
        solutions.append(
            solve(objective, start, solver="newton-cg", tol=1e-8, max_iter=99)
        )
    one, two = solutions
    assert one.converged and two.converged
    assert one.n_iter == two.n_iter
    assert_allclose(one.parameters, two.parameters, atol=1e-9)


def test_it_is_pure_and_of_the_description_alone():
    assert plan(DENSE) == plan(DENSE._replace(dtype=np.dtype("f8")))
    assert plan(objective_of(*classes(3), l2=1.0).description) == plan(DENSE)


def test_the_numbers_that_decide_are_those_of_the_tuning():
    covtype = sized(580_000, 55, 7)
    for changed, expected in (
        ({"most_products": 0.0}, {"preconditioner": "diagonal"}),
        ({"most_numbers": 55**2}, {"preconditioner": "gram"}),
        ({"recycled_numbers": 3 * 7 * 55}, {"n_recycled": 3}),
    ):
        chosen = plan(covtype, Tuning(**changed))
        for name, value in expected.items():
            assert getattr(chosen, name) == value
            assert getattr(plan(covtype), name) != value


def test_many_raw_predictions_have_single_precision():
    """They do not if rounding errors may grow, or on remote rows."""
    many = sized(100_000, 20, 1000)
    assert plan(many).precision_of_values is np.float32
    for kind in (
        {"is_convex": False},
        {"has_bounded_hessian": False},
        {"is_remote": True},
    ):
        assert plan(many._replace(**kind)).precision_of_values is np.float64
    assert plan(sized(100_000, 200, 10)).precision_of_values is np.float64


def test_gram_matrices_of_little_data_are_of_all_rows():
    n_rows = Tuning().little_data // 65
    assert plan(sized(n_rows, 65, 10)).n_drawn == n_rows
    assert plan(sized(n_rows + 1, 65, 10)).n_drawn < n_rows


def test_fields_of_a_plan_can_be_fixed():
    iris = sized(150, 5, 3)
    tuning = Tuning(fixed_plan=(("preconditioner", "gram"), ("renew_after", 7.0)))
    chosen = plan(iris, tuning)
    assert (chosen.preconditioner, chosen.renew_after) == ("gram", 7.0)
    assert chosen.n_drawn == 150


def test_dense_rows_are_copied_in_single_precision():
    """Unless they take too much memory, or products cost little."""
    dense = sized(20_000, 50, 10)._replace(is_dense=True)
    assert plan(dense).precision is np.float32
    for other in (
        dense._replace(is_dense=False),
        dense._replace(is_remote=True),
        dense._replace(has_shrinkage=True),
        dense._replace(is_convex=False),
        sized(10**6, 50, 10)._replace(is_dense=True),
        sized(100, 10, 3)._replace(is_dense=True),
    ):
        assert plan(other).precision is np.float64
