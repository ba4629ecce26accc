"""A context in which BLAS uses one thread."""

import functools
import threading
from contextlib import ContextDecorator

from threadpoolctl import ThreadpoolController


@functools.lru_cache(maxsize=1)
def _libraries():
    """The BLAS libraries in the process, as threadpoolctl describes them.

    The wheels of NumPy and SciPy each contain an OpenBLAS with separate threads. Idle
    threads busy-wait for the next call and take the cores from the other library.
    SciPy's library is in the list after it is loaded.
    """
    import scipy.linalg.lapack  # noqa: F401

    controllers = ThreadpoolController().lib_controllers
    return [library for library in controllers if library.user_api == "blas"]


def _set_num_threads(library, n_threads):
    """Set the number of threads of a library, from any thread of Python.

    With threadpoolctl 3.8 and newer, only the thread that has set the number can change
    it. Calls by other threads have no effect until it has been reset.
    """
    give_back = getattr(library, "clear_controlling_thread", lambda force: None)
    give_back(force=True)
    library.set_num_threads(n_threads)
    give_back(force=True)


class SerialBlas(ContextDecorator):
    """Context in which all BLAS libraries use one thread each.

    So results do not depend on the number of threads of BLAS. The limit holds for the
    whole process. If several threads are inside at once, they share the limit: the
    first thread sets it and the last one resets it. ``__enter__`` returns the number of
    threads that may be used inside: the number of the libraries for the first thread,
    also when it enters again, and one for other threads. The context is also a
    decorator.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._n_threads = 0  # Number of threads inside.
        self._limited = []  # Libraries, and their numbers of threads before.
        self._this_thread = _ThreadState()

    def __enter__(self):
        thread = self._this_thread
        if thread.n_inside == 0:
            with self._lock:
                self._n_threads += 1
                thread.n_free = self._limit() if self._n_threads == 1 else 1
        thread.n_inside += 1
        return thread.n_free

    def __exit__(self, *exception):
        thread = self._this_thread
        thread.n_inside -= 1
        if thread.n_inside > 0:
            return
        with self._lock:
            self._n_threads -= 1
            if self._n_threads == 0:
                for library, n_threads in self._limited:
                    _set_num_threads(library, n_threads)

    def _limit(self):
        """Limit the libraries; returns the largest number of threads before."""
        self._limited, n_free = [], 1
        for library in _libraries():
            n_threads = library.num_threads
            if n_threads > 1:
                self._limited.append((library, n_threads))
                _set_num_threads(library, 1)
                n_free = max(n_free, n_threads)
        return n_free


class _ThreadState(threading.local):
    """How many times a thread is inside, and the number of threads that it got."""

    n_inside, n_free = 0, 1


serial_blas = SerialBlas()
