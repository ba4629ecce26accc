"""Fits of Dask collections on clusters of real processes, some of which are lost."""

import functools
import os
import signal
import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skprob import (
    LinearClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)
from skprob.mappings import Softmax

distributed = pytest.importorskip("distributed", reason="needs the extra skprob[dask]")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array", reason="needs the extra skprob[dask]")

from skprob.data import Cluster  # noqa: E402

# Sockets and processes are closed by the interpreter, which says so.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

N_ROWS, N_FEATURES, N_CLASSES = 1500, 6, 3


@functools.cache
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, N_FEATURES)) * np.arange(1, 7) + 5
    W = rng.standard_normal((N_CLASSES, N_FEATURES)) / np.arange(1, 7)
    y = (X @ W.T + rng.gumbel(size=(N_ROWS, N_CLASSES))).argmax(axis=1)
    return X, y, rng.uniform(0.5, 2, N_ROWS)


def collections():
    """Seven partitions: of a tree that is not full."""
    return [da.from_array(array, chunks=220) for array in rows()]


@pytest.fixture(scope="module", autouse=True)
def processes(forked_workers):
    return forked_workers


def cluster(n_workers):
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
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
    ask = Cluster._ask

    def asked(self, *args):
        if self.n_round_trips == number:
            self.n_round_trips += 1
            function()
        return ask(self, *args)

    monkeypatch.setattr(Cluster, "_ask", asked)


def wait_for_new_workers(cluster):
    """A cluster that is closed while it starts a worker anew may never end."""
    while not all(
        nanny.process.status is distributed.Status.running
        for nanny in cluster.workers.values()
    ):
        time.sleep(0.05)


def kill_a_worker(client):
    os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)


MODELS = [
    SoftmaxClassifier(tol=1e-10, solver="lbfgs"),
    SparsemaxClassifier(tol=1e-11, solver="newton-cg", class_weight="balanced"),
]


def test_the_number_of_workers_and_their_loss_change_nothing(monkeypatch):
    data, coefs = collections(), []

    def fit_while_one_is_killed(number):
        """A fit in the middle of which a worker is lost, and starts again empty."""
        with monkeypatch.context() as patch:
            after_round_trips(patch, 12, functools.partial(kill_a_worker, client))
            model = MODELS[number].fit(*data)
        assert model.history_["round_trips"][-1] > 12
        assert_nothing_is_left(client)
        return model.coef_

    # A cluster replaces a worker that has not come back after 15 s. On a busy machine
    # it may come back later: then there are two of one name, and the fit never ends.
    patience = {"distributed.deploy.lost-worker-timeout": "10 minutes"}
    with (
        dask.config.set(patience),
        cluster(3) as workers,
        distributed.Client(workers) as client,
    ):
        for n_workers in (3, 1):
            workers.scale(n_workers)
            while len(client.nthreads()) > n_workers:
                time.sleep(0.05)
            coefs.append([model.fit(*data).coef_ for model in MODELS])
            assert_nothing_is_left(client)
            if n_workers == 3:
                one_of_three = fit_while_one_is_killed(0)
                wait_for_new_workers(workers)
        the_only_one = fit_while_one_is_killed(1)
        wait_for_new_workers(workers)
    for model, *of_workers in zip(MODELS, *coefs, strict=True):
        assert_allclose(of_workers[0], model.fit(*rows()).coef_, rtol=0, atol=1e-8)
        for coef in of_workers:
            assert_array_equal(coef, of_workers[0])
    assert_array_equal(one_of_three, coefs[0][0])
    assert_array_equal(the_only_one, coefs[0][1])


def test_errors_reach_the_caller_and_leave_nothing(monkeypatch):
    X, y, weight = collections()
    model = SoftmaxClassifier()
    with cluster(2) as workers, distributed.Client(workers) as client:
        # A partition that is wrong: the message is that of arrays in memory.
        wrong = rows()[0].copy()
        wrong[[300, 1000], 3] = np.nan
        with pytest.raises(ValueError) as in_memory:
            model.fit(wrong, rows()[1])
        with pytest.raises(ValueError) as error:
            model.fit(da.from_array(wrong, chunks=220), y)
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
            if len(scores) > 100:  # The few rows of the caller's trial pass.
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
        # Dask tries so long to reach a worker that goes at that moment.
        soon = {"distributed.comm.timeouts.connect": "5s"}
        dask.config.set({"distributed.scheduler.no-workers-timeout": "1s"})
        begun = time.monotonic()
        with (
            dask.config.set(soon),
            monkeypatch.context() as patch,
            pytest.raises(RuntimeError, match="no worker"),
        ):
            after_round_trips(patch, 8, functools.partial(workers.scale, 0))
            SoftmaxClassifier(tol=1e-12).fit(X, y)
        assert time.monotonic() - begun < 20
        assert_nothing_is_left(client)
        dask.config.set({"distributed.scheduler.no-workers-timeout": None})


def test_a_lost_scheduler_ends_a_fit(monkeypatch, tmp_path, processes):
    X, y, _ = collections()
    file = str(tmp_path / "scheduler.json")

    def start(command, *options):
        options = ["--scheduler-file", file, "--no-dashboard", *options]
        code = f"from distributed.cli.{command} import main; main({options})"
        process = processes.Process(target=exec, args=(code,))
        process.start()
        return process

    scheduler = start("dask_scheduler", "--port", "0")
    worker = start("dask_worker", "--no-nanny")
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
            process.join(30)
    # Without a client the model is fitted on Dask's own scheduler.
    assert model.fit(X, y).score(X, y) > 0.5
