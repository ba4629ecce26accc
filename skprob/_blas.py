"""The threads that BLAS uses, and doing with one of them for a while."""

import functools
import threading

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


class SerialBlas:
    """Context in which some BLAS libraries use one thread each.

    The limit is the process's, so contexts entered by several threads at once share
    it: the first sets it and the last takes it back. Entering gives the number of
    threads that are free meanwhile: those of the libraries for the first, one for
    the others.

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

    def __enter__(self):
        with self._lock:
            n_threads = 1
            if self._inside == 0:
                self._saved = [(lib, lib.num_threads) for lib in self._libraries()]
                for library, count in self._saved:
                    library.set_num_threads(1)
                    n_threads = max(n_threads, count)
            self._inside += 1
            return n_threads

    def __exit__(self, *exception):
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                for library, n_threads in self._saved:
                    library.set_num_threads(n_threads)
