"""Solvers use the members that their protocols declare, and no others."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize as scipy_minimize

from skprob.objective import CosineObjective, LinearObjective
from skprob.solvers import (
    SOLVERS,
    Criteria,
    DouglasRachford,
    LinearProblem,
    NewtonCG,
    NewtonCholesky,
    Problem,
    Tuning,
    members_of,
    minimize,
    minimize_path,
    plan,
    solve,
)
from skprob.solvers._problem import (
    Curvature,
    Description,
    Family,
    LinearPoint,
    Point,
    Ray,
    ScaledHessian,
    Splitting,
)
from skprob.solvers.newton._newton_family import minimize_family

from .minimal_problems import (
    PlainDescription,
    PlainRay,
    SquaredHinges,
    SquaredHingesFamily,
    SquaredHingesPoint,
    SquaredHingesScaledHessian,
    SquaredHingesSplitting,
    Valley,
    ValleyPoint,
)
from .training_problems import classes, objective_of


def squared_hinges(n_outputs=3, n_rows=200, n_columns=6, **kind):
    rng = np.random.default_rng(n_outputs)
    X = rng.normal(size=(n_rows, n_columns)) * 2.0 ** rng.uniform(-2, 2, n_columns)
    raw = X @ rng.normal(size=(n_columns, n_outputs))
    signs = np.sign(raw + rng.normal(size=raw.shape))
    return SquaredHinges(X, signs, 1e-3, **kind)


def public(instance):
    return {name for name in dir(instance) if not name.startswith("_")}


def test_the_minimal_problems_have_the_declared_members_and_no_others():
    linear, curved = squared_hinges(), Valley()
    point, curved_point = linear.at(linear.initial()), curved.at(curved.initial())
    for instance, kind, *protocols in (
        (linear, SquaredHinges, LinearProblem),
        (linear.description, PlainDescription, Description),
        (point, SquaredHingesPoint, LinearPoint),
        (point.along(point.gradient), PlainRay, Ray),
        (
            point.scaled_hessian(np.ones(linear.description.shape), None),
            SquaredHingesScaledHessian,
            ScaledHessian,
        ),
        (linear.splitting(linear.initial(), 1.0, 3), SquaredHingesSplitting, Splitting),
        (linear.family(np.ones(2)), SquaredHingesFamily, Family),
        (curved, Valley, Problem),
        (curved_point, ValleyPoint, Point),
    ):
        assert type(instance) is kind
        declared = set().union(*map(members_of, protocols))
        assert public(instance) == declared, kind
    curvature = linear.curvature_at(linear.initial())
    assert public(curvature) == members_of(Curvature)


def hinge_optimum(problem):
    return scipy_minimize(
        problem.value_and_gradient,
        problem.initial(),
        jac=True,
        hess=lambda x: problem.at(x).hessian(),
        method="trust-exact",
        options={"gtol": 1e-11, "maxiter": 500},
    )


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"is_separable": True},
        {"is_remote": True},
        {"suits_single_precision": True},
        {"has_bounded_hessian": False},
    ],
    ids=str,
)
def test_named_solvers_need_no_more(solver, kind):
    for n_outputs in (1, 3):
        problem = squared_hinges(n_outputs, **kind)
        start = problem.initial()
        solution = solve(problem, start, solver=solver, tol=1e-6, max_iter=200)
        assert solution.converged, solution.message
        best = hinge_optimum(problem)
        assert_allclose(solution.value, best.fun, rtol=1e-6)
        assert_allclose(solution.parameters, best.x, atol=1e-3)


KINDS = "none", "diagonal", "gram", "gram by output"


@pytest.mark.parametrize("preconditioner", KINDS)
def test_newton_by_conjugate_gradients_needs_no_more_of_any_preconditioner(
    preconditioner,
):
    problem, criteria = squared_hinges(), Criteria(tol=1e-6, max_iter=200)
    chosen = plan(problem.description)._replace(preconditioner=preconditioner)
    solution = minimize(problem, [NewtonCG(chosen)], criteria, problem.initial())
    assert solution.converged, solution.message
    assert_allclose(solution.value, hinge_optimum(problem).fun, rtol=1e-6)


def test_newton_by_conjugate_gradients_needs_no_more_of_a_scaled_hessian():
    problem, criteria = squared_hinges(), Criteria(tol=1e-6, max_iter=200)
    scaled = {"preconditioner": "diagonal", "is_scaled": True, "precision": np.float32}
    chosen = plan(problem.description)._replace(**scaled, n_recycled=0)
    solution = minimize(problem, [NewtonCG(chosen)], criteria, problem.initial())
    assert solution.converged, solution.message
    assert_allclose(solution.value, hinge_optimum(problem).fun, rtol=1e-6)


@pytest.mark.parametrize("solver", [DouglasRachford, NewtonCholesky])
def test_other_solvers_alone_need_no_more(solver):
    problem, criteria = squared_hinges(), Criteria(tol=1e-6, max_iter=200)
    solution = minimize(problem, [solver()], criteria, problem.initial())
    assert solution.value == pytest.approx(hinge_optimum(problem).fun, rel=1e-4)
    assert solution.solver == solver.name


def test_a_family_needs_no_more():
    problem, strengths = squared_hinges(), np.array([1.0, 1e-3])
    starts = np.zeros((2, len(problem.initial())))
    limits = {"tol": 1e-6, "tol_at_start": 1e-6, "max_iter": 100}
    parameters, n_iter = minimize_family(problem, strengths, starts, **limits)
    assert (n_iter > 0).all()
    # The second has the problem's own penalty.
    assert_allclose(parameters[1], hinge_optimum(problem).x, atol=1e-4)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_path_needs_no_more(solver):
    problem, strengths = squared_hinges(), np.array([1.0, 1e-3])
    limits = {"solver": solver, "tol": 1e-6, "max_iter": 200}
    *_, last = minimize_path(problem, strengths, [], **limits)
    assert last.converged
    assert_allclose(last.parameters, hinge_optimum(problem).x, atol=1e-3)


def test_a_splitting_that_takes_over_needs_no_more():
    problem = squared_hinges(has_proximal_step=True, n_columns=30, n_rows=60)
    tuning = Tuning(largest_hessian_cost=0, most_products=3, recycled_numbers=0)
    # Gram matrices for each output would take more than three products, too.
    limits = {"tol": 1e-6, "max_iter": 200, "tuning": tuning}
    solution = solve(problem, problem.initial(), **limits)
    assert solution.solver == "newton-cg+splitting"
    assert solution.converged, solution.message
    assert_allclose(solution.value, hinge_optimum(problem).fun, rtol=1e-6)


@pytest.mark.parametrize("solver", ["auto", "lbfgs", "newton-cg"])
def test_scores_that_are_not_linear_need_no_more(solver):
    problem = Valley()
    start = problem.initial()
    solution = solve(problem, start, solver=solver, tol=1e-9, max_iter=500)
    assert solution.converged, solution.message
    assert_allclose(solution.parameters, 1, rtol=1e-6)
    with pytest.raises(ValueError, match=r"newton-cholesky.*needs a convex loss"):
        solve(problem, start, solver="newton-cholesky", tol=1e-9, max_iter=500)


def test_too_many_parameters_for_the_whole_hessian_are_refused():
    problem = SquaredHinges(np.eye(2, 3400), np.ones((2, 3)), 1.0)
    with pytest.raises(ValueError, match=r"at most 10,000 parameters.*got 10,200"):
        start = problem.initial()
        solve(problem, start, solver="newton-cholesky", tol=1e-3, max_iter=5)


def test_objectives_have_the_members_of_their_protocols():
    X, y = classes(3)
    linear = objective_of(X, y)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    cosine = CosineObjective(objective_of(X, y).blocks, linear.loss)
    assert isinstance(linear, LinearObjective)
    for objective, protocol, of_point in (
        (linear, LinearProblem, (LinearPoint,)),
        (cosine, Problem, (Point,)),
    ):
        point = objective.at(objective.initial())
        for instance, protocols in (
            (objective, [protocol]),
            (objective.description, [Description]),
            (point, of_point),
            (point.along(point.gradient), [Ray]),
        ):
            declared = set().union(*map(members_of, protocols))
            assert declared <= public(instance), declared - public(instance)
