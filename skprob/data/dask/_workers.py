"""Checks that the workers of a Dask cluster can finish a fit.

If a worker is lost, it is started again, or other workers do its work. Dask waits
without a limit if workers are not started again, are lost repeatedly, or are paused
because their memory is full. This module ends such a wait with an error that has the
reason.
"""

import time

# Seconds without any worker after which a fit ends with an error, if Dask's setting has
# no other time.
_NO_WORKERS_TIMEOUT = 120.0
_SETTING = "distributed.scheduler.no-workers-timeout"
# The same if workers were killed because their memory was full, or if they are paused
# for that reason and no task runs. In this time a worker that can continue writes its
# data to files, or is started again.
_FULL_MEMORY_TIMEOUT = 30.0
# Seconds between checks of the workers.
PATIENCE = 0.5

_RESTARTS = "worker-restart-memory"
_OFTEN = "The reason is often that their memory is too small."
_REMEDY = (
    "Make the partitions smaller, or give each worker more memory (memory_limit). It "
    "needs the memory for two or three partitions and for Python (150 to 300 MB)."
)


class Workers:
    """Workers that a fit depends on.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client):
        self._client = client
        self._seen, self._present, self._lost = set(), set(), set()
        self._most_present = 0
        self._limits, self._finished = set(), set()
        self._none_since = self._paused_since = None

    def progress(self):
        """Reset the count of lost workers after progress of the fit."""
        self._lost.clear()
        self._none_since = self._paused_since = None

    def finished(self, keys):
        """Count progress if a task is finished for the first time."""
        if not self._finished.issuperset(keys):
            self._finished.update(keys)
            self.progress()

    def check(self):
        """Raise an error if the workers cannot finish the fit.

        Raises
        ------
        ConnectionError
            If the scheduler is lost.
        RuntimeError
            If there has been no worker for some time, if workers are lost again and
            again, or if they are paused because their memory is full.
        """
        try:
            # The copy in the client lacks some workers.
            identity = self._client.sync(self._client.scheduler.identity, n_workers=-1)
        except OSError as error:
            raise lost_scheduler(self._client) from error
        workers = identity["workers"]
        self._limits.update(worker["memory_limit"] for worker in workers.values())
        self._check_presence(workers)
        self._check_losses(set(workers))
        self._check_pauses(workers.values())

    def killed(self, error):
        """Error for a task that Dask does not repeat because workers were lost."""
        return RuntimeError(
            f"Dask workers were lost {error.allowed_failures + 1} time(s) while they "
            f"computed the same partition. {self._full(self._seen) or _OFTEN} {_REMEDY}"
        )

    def _check_presence(self, workers):
        if workers:
            self._none_since = None
            return
        now, limit = time.monotonic(), _no_workers_timeout()
        self._none_since = self._none_since or now
        full = self._full(self._seen)
        if limit is None:
            limit = _FULL_MEMORY_TIMEOUT if full else _NO_WORKERS_TIMEOUT
        if now - self._none_since > limit:
            advice = f" {full} {_REMEDY}" if full else ""
            raise RuntimeError(
                f"The Dask cluster has had no worker for {limit:g} s, so the fit "
                f"cannot continue. (The setting {_SETTING!r} changes it.){advice}"
            )

    def _check_losses(self, present):
        import dask

        lost, self._present = self._present - present, present
        self._seen |= present
        self._most_present = max(self._most_present, len(present))
        if not lost:
            return
        self._lost |= lost
        n_lost = len(self._lost)
        # Dask repeats a task this many times; each worker may be lost as many times.
        most = dask.config.get("distributed.scheduler.allowed-failures")
        if n_lost > most * self._most_present:
            raise RuntimeError(
                f"Dask workers were lost {n_lost} time(s) since the fit last made "
                f"progress. {self._full(self._lost) or _OFTEN} {_REMEDY}"
            )

    def _check_pauses(self, workers):
        paused = [worker for worker in workers if worker["status"] == "paused"]
        if not paused or any(_is_busy(worker) for worker in workers):
            self._paused_since = None
            return
        now = time.monotonic()
        self._paused_since = self._paused_since or now
        if now - self._paused_since > _FULL_MEMORY_TIMEOUT:
            used = max(worker["metrics"]["memory"] for worker in paused)
            raise RuntimeError(
                f"{len(paused)} of {len(workers)} Dask workers are paused because "
                f"their memory is full ({_megabytes(used)}, {self._limit()}), and "
                f"no task has run for {_FULL_MEMORY_TIMEOUT:g} s. {_REMEDY}"
            )

    def _full(self, addresses):
        """Sentence with the number of workers that were killed by full memory."""
        number = len(self._restarted(addresses))
        if not number:
            return ""
        return f"{number} were ended because their memory was full ({self._limit()})."

    def _restarted(self, addresses):
        """Addresses of workers that the cluster has killed because of full memory."""
        try:
            events = self._client.get_events(_RESTARTS)
        except OSError as error:
            raise lost_scheduler(self._client) from error
        return addresses & {event["worker"] for _, event in events}

    def _limit(self):
        limits = sorted(limit for limit in self._limits if limit)
        return f"limit {_megabytes(limits[0])}" if limits else "no limit"


def _is_busy(worker):
    """Whether a worker runs a task, or receives data for one."""
    counts = worker["metrics"].get("task_counts", {})
    return any(counts.get(state) for state in ("executing", "long-running", "flight"))


def _megabytes(number):
    return f"{number / 1e6:.0f} MB"


def wait_for(client, futures, workers=None):
    """Wait until all futures are done, or the cluster cannot finish them.

    Parameters
    ----------
    client : distributed.Client
    futures : list of Future
    workers : Workers, default=None
        Record of the workers from earlier waits.

    Raises
    ------
    ConnectionError
        If the scheduler is lost.
    RuntimeError
        If the workers cannot finish (see ``Workers.check``), or were lost while they
        computed a task.
    Exception
        The error that a task has raised.
    """
    from distributed import KilledWorker, TimeoutError, wait

    workers = workers or Workers(client)
    # Record the workers before the first one is lost.
    workers.check()
    while True:
        try:
            wait(futures, timeout=PATIENCE)
        except TimeoutError:
            is_done = False
        else:
            is_done = True
        if client.status not in ("running", "connecting"):
            raise lost_scheduler(client)
        for future in futures:
            if future.status == "cancelled":  # If "lost", it is computed again.
                raise lost_scheduler(client)
            if future.status == "error":
                error = future.exception()
                if isinstance(error, KilledWorker):
                    raise workers.killed(error) from error
                raise error
        workers.finished({f.key for f in futures if f.status == "finished"})
        if is_done:
            return
        workers.check()


def _no_workers_timeout():
    """Seconds in Dask's setting, or None."""
    import dask
    from dask.utils import parse_timedelta

    return parse_timedelta(dask.config.get(_SETTING, None))


def lost_scheduler(client):
    """Error for a scheduler that is lost, or has cancelled the tasks of the fit."""
    address = getattr(client.scheduler, "address", "unknown")
    return ConnectionError(
        f"The connection to the Dask scheduler ({address}) is lost, or its futures "
        "have been cancelled, so the fit cannot continue. Connect a new Client and "
        "fit again."
    )
