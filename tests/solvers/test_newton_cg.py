"""How well the model of a Newton step is solved."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.preprocessing import scale

import skprob.solvers
from skprob.mappings import Entmax, Softmax
from skprob.solvers import newton_cg

from .problems import counted_passes, objective_of

# The package has a function of the same name.
MODULE = sys.modules[skprob.solvers.newton_cg.__module__]


def passes_along_a_path(monkeypatch, mapping):
    """Of fits under less and less penalty, each from the last one's solution."""
    X, y = load_digits(return_X_y=True)
    objective = objective_of(scale(X), y, mapping, l2=1.0)
    start = newton_cg(objective, objective.initial(), tol=1e-5, max_iter=50).parameters
    with monkeypatch.context() as patch:
        passes = counted_passes(patch)
        for l2 in np.logspace(-0.5, -3, 6):
            penalised = objective.with_penalty(l2)
            solution = newton_cg(penalised, start, tol=1e-5, max_iter=50)
            assert solution.converged
            start = solution.parameters
    return passes


@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5), Entmax(2)], ids=repr)
def test_steps_are_fewer_and_better_from_another_fit_s_solution(mapping, monkeypatch):
    found = passes_along_a_path(monkeypatch, mapping)
    monkeypatch.setattr(MODULE, "_MUCH_CARE", MODULE._LITTLE_CARE)
    expected = passes_along_a_path(monkeypatch, mapping)
    assert found["evaluations"] < 0.9 * expected["evaluations"]
    assert found["products"] < 1.15 * expected["products"]
