"""Fits of Dask collections on clusters of real processes, some of which are lost."""

import functools
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skprob import (
    EntmaxClassifier,
    LinearClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.mappings import Softmax

distributed = pytest.importorskip("distributed", reason="needs the extra skprob[dask]")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array", reason="needs the extra skprob[dask]")

from skprob.data import _dask  # noqa: E402

# Sockets and processes are closed by the interpreter, which says so.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

N_ROWS, N_FEATURES, N_CLASSES = 3000, 6, 3


@functools.cache
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, N_FEATURES)) * np.arange(1, 7) + 5
    W = rng.standard_normal((N_CLASSES, N_FEATURES)) / np.arange(1, 7)
    y = (X @ W.T + rng.gumbel(size=(N_ROWS, N_CLASSES))).argmax(axis=1)
    return X, y, rng.uniform(0.5, 2, N_ROWS)


def collections():
    """Seven partitions: of a tree that is not full."""
    return [da.from_array(array, chunks=450) for array in rows()]


def cluster(n_workers):
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        silence_logs=50,
    )


def assert_nothing_is_left(client):
    """No task on the scheduler, soon after a fit."""
    for _ in range(100):
        left = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
        if not left:
            return
        time.sleep(0.05)
    raise AssertionError(f"{left} tasks are left")


def after_round_trips(monkeypatch, number, function):
    """Have a function called before a round trip of a fit."""
    ask = _dask.Cluster._ask

    def asked(self, *args):
        if self.n_round_trips == number:
            self.n_round_trips += 1
            function()
        return ask(self, *args)

    monkeypatch.setattr(_dask.Cluster, "_ask", asked)


def kill_workers(client, number):
    pids = sorted(client.run(os.getpid).values())[:number]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


MODELS = [
    SoftmaxClassifier(tol=1e-10, solver="lbfgs"),
    SparsemaxClassifier(tol=1e-11, solver="newton-cg", class_weight="balanced"),
    EntmaxClassifier(tol=1e-12),
]


def test_the_number_of_workers_and_their_loss_change_nothing(monkeypatch):
    data, found = collections(), []
    with cluster(1) as workers, distributed.Client(workers) as client:
        for n_workers in (1, 2, 3):
            workers.scale(n_workers)
            client.wait_for_workers(n_workers)
            found.append([model.fit(*data).coef_ for model in MODELS])
            assert_nothing_is_left(client)
        for model, *of_workers in zip(MODELS, *found, strict=True):
            expected = model.fit(*rows()).coef_
            assert_allclose(of_workers[0], expected, rtol=0, atol=1e-8)
            for coef in of_workers:
                assert_array_equal(coef, of_workers[0])
        # All but one of the workers are killed, then all of them.
        for n_killed, number in ((2, 0), (3, 1)):
            with monkeypatch.context() as patch:
                kill = functools.partial(kill_workers, client, n_killed)
                after_round_trips(patch, 12, kill)
                model = MODELS[number].fit(*data)
            assert_array_equal(model.coef_, found[0][number])
            assert model.history_["round_trips"][-1] > 12
            assert_nothing_is_left(client)


def test_errors_reach_the_caller_and_leave_nothing(monkeypatch):
    X, y, weight = collections()
    model = SoftmaxClassifier()
    with cluster(2) as workers, distributed.Client(workers) as client:
        # A partition that is wrong: the message is that of arrays in memory.
        wrong = rows()[0].copy()
        wrong[[700, 2000], 3] = np.nan
        with pytest.raises(ValueError) as in_memory:
            model.fit(wrong, rows()[1])
        with pytest.raises(ValueError) as error:
            model.fit(da.from_array(wrong, chunks=450), y)
        assert str(error.value) == str(in_memory.value)
        assert "partition 1" in error.value.__notes__[0]
        assert_nothing_is_left(client)

        # A task that fails.
        def unreadable(block):
            raise OSError("no such file")

        with pytest.raises(OSError, match="no such file"):
            model.fit(X.map_blocks(unreadable, dtype=float), y)
        assert_nothing_is_left(client)

        # A function of a block that fails.
        def fails(scores):
            if len(scores) > 100:  # Not of the rows that the caller tries it on.
                raise ZeroDivisionError("no such probability")
            return Softmax()(scores)

        with pytest.raises(ZeroDivisionError, match="no such probability"):
            LinearClassifier(fails, loss="log").fit(X, y)
        assert_nothing_is_left(client)

        # An interrupt.
        def interrupt():
            threading.Timer(0.001, signal.raise_signal, [signal.SIGINT]).start()

        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            after_round_trips(patch, 8, interrupt)
            for _ in range(100):
                SoftmaxClassifier(tol=1e-12, max_iter=100_000).fit(X, y)
        assert_nothing_is_left(client)
        assert not hasattr(model, "coef_")

        # After all that the client, the cluster and the estimator are as good as new.
        model.fit(X, y, weight)
        assert_nothing_is_left(client)

        # No worker comes back.
        dask.config.set({"distributed.scheduler.no-workers-timeout": "1s"})
        begun = time.monotonic()
        with (
            monkeypatch.context() as patch,
            pytest.raises(RuntimeError, match="no worker"),
        ):
            after_round_trips(patch, 8, functools.partial(workers.scale, 0))
            SoftmaxClassifier(tol=1e-12).fit(X, y)
        assert time.monotonic() - begun < 20
        assert_nothing_is_left(client)
        dask.config.set({"distributed.scheduler.no-workers-timeout": None})


def test_a_lost_scheduler_is_told_of(monkeypatch, tmp_path):
    X, y, _ = collections()
    file = str(tmp_path / "scheduler.json")
    program = [sys.executable, "-m"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    options = ["--scheduler-file", file, "--no-dashboard"]
    scheduler = subprocess.Popen(
        [*program, "distributed.cli.dask_scheduler", *options, "--port", "0"], **quiet
    )
    worker = subprocess.Popen(
        [*program, "distributed.cli.dask_worker", *options, "--no-nanny"], **quiet
    )
    try:
        with (
            dask.config.set({"distributed.comm.timeouts.connect": "2s"}),
            distributed.Client(scheduler_file=file) as client,
        ):
            client.wait_for_workers(1)
            model, begun = SoftmaxClassifier(tol=1e-12), time.monotonic()
            with pytest.raises(ConnectionError, match=r"scheduler .* is lost"):
                after_round_trips(monkeypatch, 8, scheduler.kill)
                model.fit(X, y)
            assert time.monotonic() - begun < 30
            assert not hasattr(model, "coef_")
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait(30)
    # Without a client the model is fitted on Dask's own scheduler.
    assert model.fit(X, y).score(X, y) > 0.5
