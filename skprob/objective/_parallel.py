"""Sums over blocks, computed by as many threads as BLAS may use.

While the threads are at work BLAS has one thread each, so that there are never more
than the user has allowed it: one in a worker of joblib, or under threadpoolctl's
limit of one. So what NumPy does between two products runs in parallel as well.
"""

import functools
import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np

from .._blas import serial_numpy_blas

# Partial sums are kept until their turn comes: so many at most, and of so many
# numbers altogether.
_MOST_PARTS = 64
_MOST_NUMBERS = 1 << 22


def sum_over(items, function, size):
    """Sum, in float64, of the tuples of arrays that a function makes of each item.

    The order of the additions, and so the result, does not depend on the number of
    threads.

    Parameters
    ----------
    items : sequence
    function : callable
        From an item to a tuple of arrays and numbers, new ones that may be written to;
        called by several threads.
    size : int
        How many numbers a tuple holds, about.

    Returns
    -------
    totals : list of ndarray
    """
    if len(items) == 1:
        return [np.asarray(term, dtype=np.float64) for term in function(items[0])]
    n_parts = min(len(items), _MOST_PARTS, max(_MOST_NUMBERS // max(size, 1), 1))
    cuts = [len(items) * i // n_parts for i in range(n_parts + 1)]

    def partial_sum(part):
        return _sum(function(items[i]) for i in range(cuts[part], cuts[part + 1]))

    if n_parts == 1:
        return partial_sum(0)
    with serial_numpy_blas as n_threads:
        parts = [None] * n_parts
        left = deque(range(n_parts))

        def work(error_handling):
            with np.errstate(**error_handling):
                while left:
                    try:
                        part = left.popleft()
                    except IndexError:  # Another thread was faster.
                        return
                    parts[part] = partial_sum(part)

        others = [
            _pool(n_threads - 1).submit(work, np.geterr())
            for _ in range(min(n_threads, n_parts) - 1)
        ]
        try:
            work({})
        finally:
            left.clear()
            wait(others)
        for other in others:
            other.result()
    return _sum(parts)


def _sum(tuples):
    tuples = iter(tuples)
    totals = [np.asarray(term, dtype=np.float64) for term in next(tuples)]
    for terms in tuples:
        for total, term in zip(totals, terms, strict=True):
            total += term
    return totals


@functools.lru_cache(maxsize=1)
def _pool(n_threads):
    return ThreadPoolExecutor(n_threads, thread_name_prefix="skprob")


# The threads do not live on in a forked process.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)
