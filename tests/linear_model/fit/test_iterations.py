"""The iterations of a fit with several stages: one count, with one limit."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from skprob import (
    LinearClassifier,
    PerturbMaxClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
    SparseSoftmaxClassifier,
)

from ..data_sets import labels

X, y = labels()
y = np.where(np.arange(len(y)) % 5 == 0, np.roll(y, 1), y)  # Not separable.
# Fits begin with stronger penalties where parameters are more than rows.
noise = np.random.default_rng(0).normal(size=(len(X), len(X)))
wide = np.hstack([X, noise])


def cubes(scores):
    """A mapping that is only a function: a fit begins with softmax."""
    powers = (scores - scores.min(axis=1, keepdims=True) + 1) ** 3
    return powers / powers.sum(axis=1, keepdims=True)


SEVERAL_STAGES = {
    "sparse softmax": (SparseSoftmaxClassifier(k=2, C=10.0, tol=1e-6), X),
    "accuracy": (LinearClassifier(loss="accuracy", tol=1e-6), X),
    "a function": (LinearClassifier(cubes, loss="log", tol=1e-6), X),
    "stronger penalties": (SparsemaxClassifier(l1_ratio=0.9, C=1e3, tol=1e-6), wide),
}


def fit(model, X=X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def printed_iterations(capsys):
    lines = capsys.readouterr().out.splitlines()
    return [int(line.split("iteration ")[1].split(":")[0]) for line in lines]


@pytest.mark.parametrize("model, X", SEVERAL_STAGES.values(), ids=SEVERAL_STAGES)
def test_max_iter_is_the_limit_of_all_stages(model, X, capsys):
    unlimited = fit(model.set_params(verbose=2, max_iter=1000), X)
    n_iter, stages = unlimited.n_iter_, unlimited.history_["stage"]
    assert printed_iterations(capsys) == list(range(1, n_iter + 1))
    assert stages[0] != "final"
    n_first = np.count_nonzero(stages == stages[0])
    assert 2 <= n_first < n_iter
    limits = [0, 1, n_first - 1, n_first, (n_first + n_iter) // 2]
    for max_iter in limits[: 5 if n_iter > n_first + 2 else 3]:
        model.set_params(max_iter=max_iter)
        with pytest.warns(ConvergenceWarning, match=f"max_iter={max_iter} iterations"):
            model.fit(X, y)
        assert model.n_iter_ == max_iter
        assert printed_iterations(capsys) == list(range(1, max_iter + 1))
        history = model.history_
        assert_array_equal(history["iteration"], np.arange(max_iter + 1))
        assert history["stage"][-1] == "final"
        assert history["objective"][-1] == model.objective_
    assert fit(model.set_params(max_iter=n_iter), X).n_iter_ == n_iter
    assert_array_equal(model.history_["stage"], stages)


def test_iterations_under_several_noises_are_one_count(capsys):
    model = PerturbMaxClassifier("student_t", learn_noise=True, verbose=2, tol=1e-3)
    fit(model)
    assert (model.history_["stage"] == "other noise").sum() > 3
    assert printed_iterations(capsys) == list(range(1, model.n_iter_ + 1))


def test_a_single_stage_is_counted_as_before(capsys):
    model = fit(SoftmaxClassifier(verbose=2, max_iter=2, tol=1e-9))
    assert model.n_iter_ == 2
    assert printed_iterations(capsys) == [1, 2]
