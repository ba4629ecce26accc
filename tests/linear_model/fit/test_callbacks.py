"""scikit-learn's callbacks see every iteration of a fit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from skprob import EntmaxClassifier, SoftmaxClassifier
from skprob.metrics import BrierScorer

from ...versions import HAS_CALLBACKS, needs_callbacks
from ..data_sets import KINDS, labels
from .recorder import Recorder

if HAS_CALLBACKS:
    from sklearn.callback import ProgressBar, ScoringMonitor

pytestmark = needs_callbacks


def test_every_iteration_is_a_task(sample_classifier):
    for load in KINDS.values():
        check_iterations(clone(sample_classifier), *load())


def check_iterations(model, X, y):
    recorder = Recorder()
    model.set_callbacks(recorder).fit(X, y)
    # A stage of a fit that is over where it begins has begun one iteration in vain.
    begun = recorder.events.count("begin iteration")
    assert model.n_iter_ <= begun < model.n_iter_ + len(model.loss_.stages())
    iterations = ["begin iteration", "end iteration"] * begun
    assert recorder.events == [
        "setup",
        "begin fit",
        *iterations,
        "end fit",
        "teardown",
    ]
    assert_allclose(recorder.data[0], X)
    assert_allclose(recorder.data[2]["sample_weight"], 1)
    # The models of the iterations can predict, and the last is the fitted one.
    losses = [np.linalg.norm(m.coef_ - model.coef_) for m in recorder.models]
    assert losses[0] > losses[-1] == 0
    for on_the_way in recorder.models:
        assert len(on_the_way.predict(X)) == len(X)
        assert_allclose(on_the_way.predict_proba(X).sum(axis=1), 1)


def test_a_callback_stops_the_fit_without_a_warning(sample_classifier):
    X, y = labels()
    recorder = Recorder(stop_after=3)
    model = sample_classifier.set_callbacks(recorder).fit(X, y)
    assert model.n_iter_ == 3
    assert recorder.events.count("begin iteration") == 3
    assert recorder.events.count("end iteration") == 3
    assert model.score(X, y) > 0.5
    full = clone(sample_classifier).set_callbacks().fit(X, y)
    assert full.n_iter_ > 3


def test_callbacks_do_not_change_the_fit(sample_classifier):
    X, y = labels()
    plain = clone(sample_classifier).fit(X, y)
    watched = sample_classifier.set_callbacks(Recorder()).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, watched.coef_)


@pytest.mark.parametrize("max_iter", [0, 1, 2])
def test_few_iterations(max_iter):
    X, y = labels()
    recorder = Recorder()
    model = EntmaxClassifier(max_iter=max_iter).set_callbacks(recorder)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert recorder.events[-2:] == ["end fit", "teardown"]
    begun = recorder.events.count("begin iteration")
    assert begun == recorder.events.count("end iteration")


def test_a_fit_that_fails_is_torn_down():
    X, y = labels()

    class Failing(Recorder):
        def on_fit_task_begin(self, estimator, context):
            super().on_fit_task_begin(estimator, context)
            if self.events.count("begin iteration") == 3:
                raise RuntimeError("enough")

    recorder = Failing()
    with pytest.raises(RuntimeError, match="enough"):
        EntmaxClassifier().set_callbacks(recorder).fit(X, y)
    assert recorder.events[-1] == "teardown"


@pytest.mark.parametrize("kind", KINDS)
def test_scoring_monitor(kind):
    X, y = KINDS[kind]()
    monitor = ScoringMonitor(scoring={"brier": BrierScorer()})
    model = EntmaxClassifier().set_callbacks(monitor).fit(X, y)
    log = [row for row in monitor.get_logs().data if row["task_name"] == "iteration"]
    assert model.n_iter_ <= len(log) < model.n_iter_ + len(model.loss_.stages())
    assert_allclose(log[-1]["brier"], BrierScorer()(model, X, y))
    assert log[-1]["brier"] > log[0]["brier"]


def test_progress_bar(capsys):
    X, y = labels()
    SoftmaxClassifier().set_callbacks(ProgressBar()).fit(X, y)
    printed = capsys.readouterr().out
    assert "SoftmaxClassifier - fit" in printed
    assert "100%" in printed


def test_callbacks_reach_the_fits_of_a_grid_search(capsys):
    X, y = labels()
    search = GridSearchCV(EntmaxClassifier(), {"alpha": [1, 2]}, cv=2)
    search.set_callbacks(ProgressBar(max_propagation_depth=None)).fit(X, y)
    printed = capsys.readouterr().out
    assert "GridSearchCV - fit" in printed
    assert "EntmaxClassifier - fit" in printed
    monitor = ScoringMonitor(scoring="accuracy")
    search = GridSearchCV(
        EntmaxClassifier(tol=1e-8).set_callbacks(monitor), {"alpha": [1, 2]}, cv=2
    )
    search.fit(X, y)
    runs = monitor.get_logs(select="all")
    logged = [row["accuracy"] for run in runs for row in run.data]
    # Two candidates on two folds and the final fit, each of several iterations.
    assert len(logged) > 5 * 5
    assert search.score(X, y) in logged
