"""A loss that is not a number is an error that names the mapping."""

import numpy as np
import pytest

from skprob.data import SingleBlock
from skprob.losses import FenchelYoungLoss
from skprob.mappings import Softmax
from skprob.objective import CosineObjective
from skprob.solvers import SOLVERS, solve

from ..solvers.training_problems import classes, objective_of


class Broken(FenchelYoungLoss):
    """A loss whose last row is `wrong`, away from zero scores."""

    wrong = np.nan

    def evaluate(self, scores, target):
        values, gradient = super().evaluate(scores, target)
        return self._spoilt(values, scores), gradient

    def linearize(self, scores, target):
        at_zero = not scores.any()
        linear = super().linearize(scores, target)
        return (
            linear if at_zero else linear._replace(values=self._spoilt(linear.values))
        )

    def _spoilt(self, values, scores=None):
        if scores is None or scores.any():
            values = values.copy()
            values[-1] = self.wrong
        return values


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_the_error_names_the_mapping(wrong, n_classes):
    objective = objective_of(*classes(n_classes))
    loss = Broken(Softmax())
    loss.wrong = wrong
    broken = objective.with_loss(loss)
    for solver in SOLVERS:
        with pytest.raises(ValueError, match=r"finite.* 1 of 60 .*Softmax\(\)"):
            start = broken.initial()
            solve(broken, start, solver=solver, tol=1e-4, max_iter=10)
    x = np.ones(objective.n_parameters)
    for method in (broken.value_and_gradient, broken.at):
        with pytest.raises(
            ValueError, match=r"Check the loss and its mapping, Softmax\(\)"
        ):
            method(x)


def test_a_gradient_that_is_not_a_number_in_one_class():
    class BrokenGradient(FenchelYoungLoss):
        def linearize(self, scores, target):
            linear = super().linearize(scores, target)
            gradient = linear.residual()
            gradient[[5, 7], [0, 1]] = np.nan
            return linear._replace(residual=lambda: gradient.copy())

    broken = objective_of(*classes(3)).with_loss(BrokenGradient(Softmax()))
    with pytest.raises(ValueError, match=r"gradient of the loss .* in 2 of 60 rows"):
        broken.at(np.ones(broken.n_parameters))


def test_so_it_is_for_cosines():
    X, y = classes(3)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    cosine = CosineObjective(objective_of(X, y).blocks.map(_plain), Broken(Softmax()))
    with pytest.raises(ValueError, match=r"Softmax\(\)"):
        cosine.value_and_gradient(cosine.initial())


def _plain(block):
    return block


def test_few_rows_of_an_objective_are_a_single_block():
    assert type(objective_of(*classes()).blocks) is SingleBlock
