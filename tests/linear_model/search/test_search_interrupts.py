"""A search that is interrupted, or fails: what is kept, and that nothing works on."""

import _thread
import threading
import time
from functools import partial

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold

from skprob import EntmaxClassifierCV

from ...versions import needs_callbacks
from ..data_sets import default_score, label_sets, labels

ALPHAS, STRENGTHS, FOLDS = [1, 2], [0.1, 1, 10], KFold(4)
# Processes of loky take long to start; the tests that they serve follow each other.
BACKENDS = ["loky", "threading", "multiprocessing"]
PATHS = ["scores_", "coefs_paths_", "intercepts_paths_"]
RESULTS = {"n_features_in_", "classes_", "alphas_", "Cs_", "n_iter_", *PATHS}
CHOICE = {"alpha_", "C_", "best_score_"}


class Watcher:
    """A callback that counts tasks, and raises when one of them begins or ends."""

    def __init__(self, event=None, number=1, error=None):
        self.event, self.number, self.error = event, number, error
        self.events = []

    def setup(self, estimator, context):
        self._tell("setup")

    def teardown(self, estimator, context):
        self._tell("teardown")

    def on_fit_task_begin(self, estimator, context):
        self._tell(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context):
        self._tell(f"end {context.task_name}")

    def _tell(self, event):
        self.events.append(event)
        if event == self.event and self.events.count(event) == self.number:
            raise self.error


def search(**params):
    return EntmaxClassifierCV(ALPHAS, STRENGTHS, cv=FOLDS, **params)


def fitted_attributes(model):
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


@pytest.fixture(scope="module")
def full():
    """A search that nothing has interrupted."""
    return search().fit(*labels())


def slow_score(model, X, y, log, seconds):
    """The default score, which leaves a line in a file."""
    with open(log, "a") as file:
        file.write(f"{model.alpha} {model.C}\n")
    time.sleep(seconds)
    return default_score(model, X, y)


def failing_score(model, X, y):
    raise OSError("the disk is full")


@needs_callbacks
@pytest.mark.parametrize("n_done", [0, 1, 4, 6, 20])
def test_an_interrupt_keeps_the_fits_that_have_ended(full, n_done):
    # The next fit begins after so many have ended.
    watcher = Watcher("begin candidate", n_done + 1, KeyboardInterrupt())
    model = search().set_callbacks(watcher)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*labels())
    assert fitted_attributes(model).keys() == RESULTS
    assert watcher.events[-1] == "teardown"
    order = np.arange(24).reshape(full.scores_.shape)
    done = order < n_done
    # The fits of an alpha are scored together.
    scored = order < n_done // 3 * 3
    for name, known in zip(PATHS, [scored, done, done], strict=True):
        values, expected = getattr(model, name), getattr(full, name)
        assert values.shape == expected.shape
        assert_array_equal(values[known], expected[known])
        assert np.isnan(values[~known]).all()
    assert_array_equal(model.n_iter_, np.where(done, full.n_iter_, -1))
    assert_array_equal(model.alphas_, ALPHAS)
    assert_array_equal(model.Cs_, [STRENGTHS] * len(ALPHAS))


@needs_callbacks
def test_after_an_interrupt_there_is_no_model_and_the_next_fit_is_a_new_one(full):
    X, y = labels()
    model = search().fit(*label_sets())
    assert hasattr(model, "threshold_")
    model.set_callbacks(Watcher("end candidate", 4, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :3], y)
    assert fitted_attributes(model).keys() == RESULTS
    assert model.n_features_in_ == 3
    for call in (model.predict, model.predict_proba, partial(model.score, y=y)):
        with pytest.raises(NotFittedError):
            call(X[:, :3])
    model.set_callbacks().fit(X, y)
    assert fitted_attributes(model).keys() == fitted_attributes(full).keys()
    assert_array_equal(model.coef_, full.coef_)


@needs_callbacks
def test_an_interrupt_of_the_final_fit_keeps_the_search(full):
    model = search().set_callbacks(Watcher("begin refit", 1, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        model.fit(*labels())
    assert fitted_attributes(model).keys() == RESULTS | CHOICE
    for name in RESULTS | CHOICE:
        assert_array_equal(getattr(model, name), getattr(full, name))
    with pytest.raises(NotFittedError):
        model.predict(labels()[0])


def test_an_interrupt_before_the_search_changes_nothing():
    def interrupted(X, y):
        raise KeyboardInterrupt
        yield

    X, y = labels()
    model = search().fit(X, y)
    before = fitted_attributes(model)
    cv = KFold(2)
    cv.split = interrupted
    with pytest.raises(KeyboardInterrupt):
        model.set_params(cv=cv).fit(X[:, :2], y)
    assert fitted_attributes(model) == before


@needs_callbacks
@pytest.mark.parametrize(
    ("n_jobs", "event"),
    [(None, "begin candidate"), (2, "end candidate"), (None, "end refit")],
)
def test_after_an_error_the_search_is_as_it_was_before(n_jobs, event):
    X, y = labels()
    with parallel_config(backend="threading"):
        model = search(n_jobs=n_jobs).set_callbacks(Watcher(event, 1, OSError("full")))
        with pytest.raises(OSError, match="full"):
            model.fit(X, y)
        assert not fitted_attributes(model)
        model.set_callbacks().fit(*label_sets())
        before = fitted_attributes(model)
        watcher = Watcher(event, 1, OSError("full"))
        with pytest.raises(OSError, match="full"):
            model.set_callbacks(watcher).fit(X[:, :2], y)
    assert watcher.events[-1] == "teardown"
    assert fitted_attributes(model) == before
    assert model.predict(X).shape == (60, 4)


@pytest.mark.parametrize("backend", BACKENDS[1:])
def test_an_error_of_a_scorer_is_that_of_the_fit(backend):
    model = search(scoring=failing_score, n_jobs=2)
    with parallel_config(backend=backend), pytest.raises(OSError, match="is full"):
        model.fit(*labels())
    assert not fitted_attributes(model)


@needs_callbacks
@pytest.mark.parametrize(
    ("backend", "error"),
    [
        ("threading", KeyboardInterrupt()),
        ("threading", OSError("full")),
        ("multiprocessing", KeyboardInterrupt()),
    ],
)
def test_nothing_works_on_after_an_exception(backend, error, tmp_path, full):
    log = tmp_path / "log"
    scorer = partial(slow_score, log=log, seconds=0.02)
    model = search(n_jobs=2, scoring=scorer)
    model.set_callbacks(Watcher("end candidate", 1, error))
    before = threading.active_count()
    with parallel_config(backend=backend), pytest.raises(type(error)):
        model.fit(*labels())
    # The alpha that a thread is at is brought to its end.
    time.sleep(0.3)
    n_lines = log.read_text().count("\n")
    assert n_lines < 24
    time.sleep(0.5)
    assert log.read_text().count("\n") == n_lines
    assert backend != "threading" or threading.active_count() <= before
    if isinstance(error, KeyboardInterrupt):
        is_done = ~np.isnan(model.scores_)
        # Folds end as a whole, and which one is the first is not known.
        assert_array_equal(is_done.all(axis=(1, 2)), is_done.any(axis=(1, 2)))
        assert 0 < is_done.sum() < 24
        assert_allclose(model.scores_[is_done], full.scores_[is_done])


@needs_callbacks
@pytest.mark.parametrize("backend", [*BACKENDS, "sequential"])
def test_every_backend_finds_the_same_and_tells_of_every_fit(backend, full):
    watcher = Watcher()
    model = search(n_jobs=2).set_callbacks(watcher)
    with parallel_config(backend=backend):
        model.fit(*labels())
    for name in [*PATHS, "coef_", "n_iter_"]:
        # Not bit for bit: the arrays of a process may begin at other addresses.
        assert_allclose(getattr(model, name), getattr(full, name), rtol=1e-9)
    assert watcher.events == [
        *("setup", "begin fit"),
        *["begin candidate", "end candidate"] * 24,
        *("begin refit", "end refit"),
        *("end fit", "teardown"),
    ]


@pytest.mark.parametrize("backend", BACKENDS)
def test_ctrl_c_while_the_workers_are_at_work(backend, tmp_path):
    log = tmp_path / "log"
    model = search(n_jobs=2, scoring=partial(slow_score, log=log, seconds=0.2))

    def interrupt():
        while not log.exists():
            time.sleep(0.01)
        _thread.interrupt_main()

    watcher = threading.Thread(target=interrupt, daemon=True)
    with parallel_config(backend=backend), pytest.raises(KeyboardInterrupt):
        watcher.start()
        model.fit(*labels())
    watcher.join()
    time.sleep(0.8)
    n_lines = log.read_text().count("\n")
    time.sleep(0.5)
    assert log.read_text().count("\n") == n_lines <= 6
    assert fitted_attributes(model).keys() == RESULTS


@needs_callbacks
def test_with_one_job_callbacks_hear_of_fits_as_they_end(tmp_path):
    # The models of an alpha are scored when the last of them is fitted.
    log, n_scored = tmp_path / "log", []

    class Reader(Watcher):
        def on_fit_task_end(self, estimator, context):
            n_scored.append(log.read_text().count("\n") if log.exists() else 0)

    scorer = partial(slow_score, log=log, seconds=0)
    search(scoring=scorer, refit=False).set_callbacks(Reader()).fit(*labels())
    assert n_scored == [n // 3 * 3 for n in range(1, 25)] + [24]


def test_n_jobs_may_come_from_joblib():
    seen = set()

    def score(estimator, X, y):
        seen.add(threading.current_thread())
        return 0.0

    with parallel_config(backend="threading", n_jobs=2):
        search(scoring=score, refit=False).fit(*labels())
    assert seen and threading.main_thread() not in seen


@pytest.mark.parametrize(
    ("verbose", "numbers"), [(0, []), (1, [10, 20, 24]), (2, range(1, 25))]
)
def test_verbose_counts_the_fits(verbose, numbers, capsys):
    search(verbose=verbose, refit=False).fit(*labels())
    expected = [f"[EntmaxClassifierCV] {n} of 24 fits" for n in numbers]
    assert capsys.readouterr().out.splitlines() == expected
