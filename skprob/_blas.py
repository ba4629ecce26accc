"""The threads that BLAS uses, and doing with one of them for a while."""

import functools
import threading
from contextlib import ContextDecorator

from threadpoolctl import ThreadpoolController

# The wheels of NumPy and SciPy each bring an OpenBLAS with a pool of threads of its
# own. Where they share one library it counts as NumPy's.


@functools.lru_cache(maxsize=1)
def numpy_blas():
    """The BLAS libraries that NumPy may call, as threadpoolctl describes them."""
    own, others = _libraries()
    return others or own


@functools.lru_cache(maxsize=1)
def scipy_blas():
    """The BLAS libraries that only SciPy calls; to be asked for once it is loaded."""
    own, others = _libraries()
    return own if others else []


def _libraries():
    libraries = [
        library
        for library in ThreadpoolController().lib_controllers
        if library.user_api == "blas"
    ]
    own = [library for library in libraries if "scipy.libs" in library.filepath]
    return own, [library for library in libraries if library not in own]


class SerialBlas(ContextDecorator):
    """Context in which some BLAS libraries use one thread each.

    The limit is the process's, so contexts entered by several threads at once share
    it: the first sets it and the last takes it back. Entering gives the number of
    threads that are free meanwhile: those of the libraries for the thread that was
    first, also where it enters again, and one for the others. Functions that are
    decorated with it run inside.

    Parameters
    ----------
    libraries : callable
        Returns the libraries, as threadpoolctl describes them.
    """

    def __init__(self, libraries):
        self._libraries = libraries
        self._lock = threading.Lock()
        self._inside = 0
        self._saved = []
        self._own = _OfThread()

    def __enter__(self):
        with self._lock:
            if self._own.n_inside == 0:
                self._own.n_free = 1
            if self._inside == 0:
                self._saved = [(lib, lib.num_threads) for lib in self._libraries()]
                for library, count in self._saved:
                    library.set_num_threads(1)
                    self._own.n_free = max(self._own.n_free, count)
            self._inside += 1
            self._own.n_inside += 1
            return self._own.n_free

    def __exit__(self, *exception):
        with self._lock:
            self._own.n_inside -= 1
            self._inside -= 1
            if self._inside == 0:
                for library, n_threads in self._saved:
                    library.set_num_threads(n_threads)


class _OfThread(threading.local):
    """How often a thread is inside a context, and what it was given."""

    n_inside, n_free = 0, 1


serial_numpy_blas = SerialBlas(numpy_blas)
serial_scipy_blas = SerialBlas(scipy_blas)
