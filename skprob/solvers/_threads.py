"""Keeping SciPy's BLAS from fighting NumPy's over the cores."""

import functools
import threading

from threadpoolctl import ThreadpoolController


@functools.lru_cache(maxsize=1)
def _scipy_blas():
    # The wheels of NumPy and SciPy each bring an OpenBLAS with a pool of threads of
    # its own. Where they share one library there is nothing to limit: the products
    # with X need its threads.
    controller = ThreadpoolController()
    own = [
        library
        for library in controller.lib_controllers
        if library.user_api == "blas" and "scipy.libs" in library.filepath
    ]
    others = [
        library
        for library in controller.lib_controllers
        if library.user_api == "blas" and library not in own
    ]
    return own if others else []


class _SerialScipyBlas:
    """Context in which SciPy's own BLAS uses one thread; NumPy's is left alone.

    The limit is the process's, so contexts entered by several threads at once share
    it: the first sets it and the last takes it back.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._inside = 0
        self._saved = []

    def __enter__(self):
        with self._lock:
            if self._inside == 0:
                self._saved = [(lib, lib.num_threads) for lib in _scipy_blas()]
                for library, _ in self._saved:
                    library.set_num_threads(1)
            self._inside += 1

    def __exit__(self, *exception):
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                for library, n_threads in self._saved:
                    library.set_num_threads(n_threads)


serial_scipy_blas = _SerialScipyBlas()
