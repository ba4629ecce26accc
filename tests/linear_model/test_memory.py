"""With ``memory``, nothing that was minimised is minimised again."""

from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from joblib import Memory
from numpy.testing import assert_array_equal
from scipy.special import softmax
from sklearn.base import clone
from sklearn.callback import ScoringMonitor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import EntmaxClassifier, LinearClassifier, SoftmaxClassifier
from skprob.solvers import SOLVERS

from .toys import KINDS, label_sets

X, Y = label_sets()
CUTS = [0.05, 0.3, [0.1, 0.2, 0.3, 0.1], "support", "cv", "auto"]


@contextmanager
def counted():
    """Yield a list that grows by one item for each run of a solver."""
    runs = []

    def counting(solver):
        def run(*args, **kwargs):
            runs.append(solver)
            return solver(*args, **kwargs)

        return run

    with patch.dict(SOLVERS, {name: counting(s) for name, s in SOLVERS.items()}):
        yield runs


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_fit_again_runs_no_solver(classifier, kind, tmp_path):
    X, y = KINDS[kind]()
    plain = clone(classifier).fit(X, y)
    classifier.set_params(memory=str(tmp_path))
    for expected in (True, False):
        with counted() as runs:
            model = clone(classifier).fit(X, y)
        assert bool(runs) == expected
        for name in ("coef_", "intercept_", "n_iter_", "objective_", "gradient_norm_"):
            assert_array_equal(getattr(model, name), getattr(plain, name))
        assert_array_equal(model.predict(X), plain.predict(X))


def n_runs(grid, memory):
    estimator = make_pipeline(StandardScaler(), EntmaxClassifier(memory=memory))
    grid = {f"entmaxclassifier__{name}": values for name, values in grid.items()}
    search = GridSearchCV(estimator, grid, scoring="f1_micro", cv=3)
    with counted() as runs:
        search.fit(X, Y)
    return len(runs), search


def test_a_search_over_thresholds_fits_each_fold_once(tmp_path):
    memory = Memory(tmp_path, verbose=0)
    # Three folds, and all rows for the best candidate.
    assert n_runs({"threshold": [0.05, 0.3, "support", [0.2] * 4]}, memory)[0] == 4
    # The three more fits that "cv" and "auto" take are the same ones.
    memory.clear(warn=False)
    runs, search = n_runs({"C": [0.1, 10], "threshold": CUTS}, memory)
    n_refit = 4 if search.best_params_["entmaxclassifier__threshold"] in CUTS[4:] else 1
    assert runs == 2 * 3 * (1 + 3) + n_refit
    _, without = n_runs({"C": [0.1, 10], "threshold": CUTS}, None)
    assert_array_equal(
        search.cv_results_["mean_test_score"], without.cv_results_["mean_test_score"]
    )
    assert search.best_params_ == without.best_params_
    assert_array_equal(search.predict(X), without.predict(X))


def test_without_memory_each_candidate_is_fitted():
    runs, _ = n_runs({"threshold": [0.05, 0.3, "support", [0.2] * 4]}, None)
    assert runs == 4 * 3 + 1


@pytest.mark.parametrize(
    "change",
    [
        {"C": 2.0},
        {"temperature": 0.5},
        {"mapping": "sparsemax"},
        {"loss": "log"},
        {"margin": 0.1},
        {"similarity": "cosine"},
        {"fit_intercept": False},
        {"class_weight": {0: 2.0}},
        {"label_smoothing": 0.1},
        {"tol": 1e-6},
        {"max_iter": 500},
    ],
    ids=str,
)
def test_what_changes_the_fit_is_fitted_anew(change, tmp_path):
    model = LinearClassifier(memory=str(tmp_path), threshold=0.2).fit(X, Y)
    with counted() as runs:
        changed = clone(model).set_params(**change).fit(X, Y)
    assert runs
    alone = LinearClassifier(threshold=0.2, **change).fit(X, Y)
    assert_array_equal(changed.coef_, alone.coef_)


@pytest.mark.parametrize(
    "change",
    [{"X": 1.5 * X}, {"y": Y[:, ::-1]}, {"sample_weight": np.arange(60) % 2}],
    ids=lambda change: next(iter(change)),
)
def test_other_data_are_fitted_anew(change, tmp_path):
    data = {"X": X, "y": Y, "sample_weight": np.ones(60)}
    model = SoftmaxClassifier(memory=str(tmp_path), threshold=0.2).fit(**data)
    with counted() as runs:
        model.fit(**data | change)
    assert len(runs) == 1
    alone = SoftmaxClassifier(threshold=0.2).fit(**data | change)
    assert_array_equal(model.coef_, alone.coef_)


def test_a_warm_start_is_its_own_fit(tmp_path):
    model = SoftmaxClassifier(memory=str(tmp_path), warm_start=True).fit(X, Y)
    assert model.n_iter_ > 0
    assert model.fit(X, Y).n_iter_ == 0


def test_that_it_did_not_converge_is_said_again(tmp_path):
    model = SoftmaxClassifier(memory=str(tmp_path), threshold=0.2, max_iter=1)
    for _ in range(2):
        with pytest.warns(ConvergenceWarning, match="max_iter=1 iterations"):
            model.fit(X, Y)


def test_callbacks_see_every_iteration(tmp_path):
    model = SoftmaxClassifier(memory=str(tmp_path), threshold=0.2).fit(X, Y)
    monitor = ScoringMonitor(scoring="f1_micro")
    with counted() as runs:
        model.set_callbacks(monitor).fit(X, Y)
    assert len(runs) == 1
    (run,) = monitor.get_logs(select="all")
    assert sum(row["task_name"] == "iteration" for row in run.data) == model.n_iter_


@pytest.mark.parametrize("memory", [3, 0.5, ("folder",)])
def test_bad_memory(memory):
    with pytest.raises(ValueError, match=r"'memory' parameter .* must be .*None"):
        SoftmaxClassifier(memory=memory).fit(X, Y)


def test_a_function_that_cannot_be_pickled(tmp_path):
    model = LinearClassifier(lambda scores: softmax(scores, axis=1))
    model.fit(X, Y)
    with pytest.raises(ValueError, match=r"memory must be None .* lambda"):
        model.set_params(memory=str(tmp_path)).fit(X, Y)
