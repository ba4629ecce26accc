"""Fits that the workers of a Dask cluster cannot finish end with the reason."""

import time

import numpy as np
import pytest

from skprob import LinearClassifier, SoftmaxClassifier
from skprob.data.dask import _workers as module
from skprob.mappings import Softmax

distributed = pytest.importorskip("distributed", reason="needs the extra skprob[dask]")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array", reason="needs the extra skprob[dask]")

# Sockets and processes are closed by the interpreter, which says so.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

X = np.random.default_rng(0).standard_normal((40, 3))
y = (X[:, 0] > 0).astype(int)


class Scheduler:
    """A client's view of workers, which the tests change."""

    address = "tcp://scheduler"

    def __init__(self, *workers):
        self.workers, self.events, self.scheduler = set(workers), [], self
        self.status, self.task_counts = "running", {}

    def sync(self, function, **kwargs):
        return function(**kwargs)

    def identity(self, n_workers):
        assert n_workers == -1  # All of them: the default of Dask is five.
        worker = {
            "status": self.status,
            "memory_limit": 500_000_000,
            "metrics": {"memory": 450_000_000, "task_counts": self.task_counts},
        }
        return {"workers": dict.fromkeys(self.workers, worker)}

    def get_events(self, topic):
        assert topic == "worker-restart-memory"
        return tuple((0.0, {"worker": address}) for address in self.events)

    def replace(self, old, new, is_full):
        self.workers = self.workers - {old} | {new}
        self.events += [old] * is_full


@pytest.fixture
def clock(monkeypatch):
    """Seconds, which a test changes."""
    seconds = [1000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: seconds[0])
    return seconds


def losses_until_error(n_workers, is_full, progress_after=()):
    scheduler = Scheduler(*range(n_workers))
    workers = module.Workers(scheduler)
    workers.check()
    for number in range(1000):
        scheduler.replace(number, number + n_workers, is_full)
        if number in progress_after:
            workers.progress()
        try:
            workers.check()
        except RuntimeError as error:
            return number + 1, str(error)


@pytest.mark.parametrize("n_workers", [1, 4])
def test_workers_that_are_lost_again_and_again_end_a_fit(n_workers):
    number, message = losses_until_error(n_workers, is_full=True)
    # Dask itself tries a task three times again.
    assert number == 3 * n_workers + 1
    assert f"lost {number} time(s)" in message
    assert (
        f"{number} were ended because their memory was full (limit 500 MB)" in message
    )
    assert "partitions smaller" in message
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}):
        number, message = losses_until_error(n_workers, is_full=False)
    assert number == n_workers + 1
    assert "often that their memory is too small" in message


def test_progress_forgets_earlier_losses():
    assert losses_until_error(1, True, progress_after=[1, 3, 5])[0] == 9


def test_progress_is_a_task_that_was_never_finished_before():
    scheduler = Scheduler("a")
    workers = module.Workers(scheduler)
    for old, new, finished in ["ab0", "bc0", "cd1", "de0", "ef1", "fg0"]:
        workers.check()
        workers.finished({"0", finished})
        scheduler.replace(old, new, is_full=True)
    with pytest.raises(RuntimeError, match=r"lost 4 time\(s\) since"):
        workers.check()


@pytest.mark.parametrize(("is_full", "seconds"), [(True, 30), (False, 120)])
def test_no_worker_ends_a_fit(clock, is_full, seconds):
    scheduler = Scheduler("a")
    workers = module.Workers(scheduler)
    workers.check()
    scheduler.workers.clear()
    scheduler.events += ["a"] * is_full
    workers.check()
    clock[0] += seconds - 1
    workers.check()
    clock[0] += 2
    with pytest.raises(RuntimeError, match=f"no worker for {seconds} s") as error:
        workers.check()
    assert ("memory was full" in str(error.value)) == is_full
    workers.progress()
    workers.check()
    with dask.config.set({"distributed.scheduler.no-workers-timeout": "5s"}):
        clock[0] += 6
        with pytest.raises(RuntimeError, match="no worker for 5 s"):
            workers.check()


def test_paused_workers_end_a_fit_where_no_task_runs(clock):
    scheduler = Scheduler("a", "b")
    workers = module.Workers(scheduler)
    scheduler.status, scheduler.task_counts = "paused", {"executing": 1, "ready": 3}
    workers.check()
    clock[0] += 100
    workers.check()
    scheduler.task_counts = {"ready": 4}
    workers.check()
    clock[0] += 29
    workers.check()
    scheduler.status = "running"
    workers.check()
    scheduler.status = "paused"
    clock[0] += 29
    workers.check()
    clock[0] += 31
    message = r"2 of 2 .* paused because their memory is full \(450 MB, limit 500 MB\)"
    with pytest.raises(RuntimeError, match=message):
        workers.check()


def test_a_fit_on_paused_workers(monkeypatch):
    monkeypatch.setattr(module, "_FULL_MEMORY_TIMEOUT", 2.0)
    memory = {"distributed.worker.memory.pause": 1e-6}
    with (
        dask.config.set(memory),
        distributed.LocalCluster(
            n_workers=1, processes=False, memory_limit="1GB", dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
    ):
        while cluster.workers[0].status is not distributed.Status.paused:
            time.sleep(0.05)
        with pytest.raises(RuntimeError, match="1 of 1 Dask workers are paused"):
            SoftmaxClassifier().fit(da.from_array(X, chunks=10), y)


def fill_the_memory():
    """Until the worker is ended, which looks at its memory every 0.1 s."""
    large = np.ones(80_000_000)
    time.sleep(10)
    return large


def larger_than_memory(block):
    if len(block):  # Dask tries the function on an example, too.
        fill_the_memory()
    return block


def softmax_with_large_copies(scores):
    if len(scores) > 100:  # The caller tries the function on 64 rows.
        fill_the_memory()
    return Softmax()(scores)


@pytest.mark.usefixtures("forked_workers")
def test_a_fit_whose_partitions_exceed_the_memory_of_workers():
    # Else a worker is paused before it is ended, which takes longer.
    memory = dict.fromkeys(["target", "spill", "pause"], False)
    memory = {f"distributed.worker.memory.{name}": memory[name] for name in memory}
    with (
        dask.config.set(memory),
        # A shorter test.
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=True,
            memory_limit="600MB",
            dashboard_address=":0",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        large = da.from_array(X, chunks=(10, 3)).map_blocks(larger_than_memory)
        with pytest.raises(RuntimeError, match=r"lost \d time\(s\).* memory was full"):
            SoftmaxClassifier().fit(large, y)
        # Rows that fit, of which a function of theirs makes too much.
        model = LinearClassifier(softmax_with_large_copies, loss="log")
        # The scheduler or the client may be the first to see that the worker ended.
        lost = r"lost 1 time\(s\) (since.* 1 were ended|while they .* memory was full)"
        with pytest.raises(RuntimeError, match=lost):
            model.fit(da.from_array(np.repeat(X, 10, 0), chunks=200), np.repeat(y, 10))
        assert client.status == "running"
