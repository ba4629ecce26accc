"""The number of threads of BLAS, and a context in which it is one."""

import functools
import threading
from contextlib import ContextDecorator

from threadpoolctl import ThreadpoolController


@functools.lru_cache(maxsize=1)
def _libraries():
    """The BLAS libraries in the process, as threadpoolctl describes them.

    The wheels of NumPy and SciPy each bring an OpenBLAS with threads of its own, which
    busy-wait for the next call and keep the other's from the cores. SciPy's is known
    here once it is loaded.
    """
    import scipy.linalg.lapack  # noqa: F401

    controllers = ThreadpoolController().lib_controllers
    return [library for library in controllers if library.user_api == "blas"]


def _set_num_threads(library, n_threads):
    """Set the number of threads of a library, from any thread of Python.

    From threadpoolctl 3.8 on, only the thread that has set the number can change it;
    calls by others have no effect until it has been reset.
    """
    give_back = getattr(library, "clear_controlling_thread", lambda force: None)
    give_back(force=True)
    library.set_num_threads(n_threads)
    give_back(force=True)


class SerialBlas(ContextDecorator):
    """Context in which all BLAS libraries use one thread each.

    So results do not depend on the number of threads of BLAS. The limit holds for the
    whole process, so contexts that several threads have entered at once share it: the
    first sets the limit and the last resets it. Entering returns the number of threads
    that may be used meanwhile: that of the libraries for the thread that was first,
    also when it enters again, and one for the others. Functions can be decorated with
    it.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._n_threads = 0  # Inside.
        self._saved = []
        self._own = _OfThread()

    def __enter__(self):
        own = self._own
        if own.n_inside == 0:
            own.n_free = self._begin()
        own.n_inside += 1
        return own.n_free

    def __exit__(self, *exception):
        self._own.n_inside -= 1
        if self._own.n_inside == 0:
            self._end()

    def _begin(self):
        """Count a thread that enters; returns how many threads it may use."""
        with self._lock:
            self._n_threads += 1
            if self._n_threads > 1:
                return 1
            threads = [(lib, lib.num_threads) for lib in _libraries()]
            self._saved = [(lib, count) for lib, count in threads if count > 1]
            for library, _ in self._saved:
                _set_num_threads(library, 1)
            return max([1, *(count for _, count in self._saved)])

    def _end(self):
        """Count a thread that leaves."""
        with self._lock:
            self._n_threads -= 1
            if self._n_threads == 0:
                for library, n_threads in self._saved:
                    _set_num_threads(library, n_threads)


class _OfThread(threading.local):
    """How often a thread is inside a context, and what it was given."""

    n_inside, n_free = 0, 1


serial_blas = SerialBlas()
