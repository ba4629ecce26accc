"""A setting of the C library: keep freed memory for the next arrays."""

import functools

import numpy as np


@functools.cache
def keep_freed_memory(n_bytes):
    """Make the process keep freed memory, up to twice this number of bytes.

    A new page of memory takes longer than the arithmetic on its numbers. glibc sets its
    limit by the largest array that a process has freed, so an unused array is freed
    here. Other C libraries have other rules, and are not affected.
    """
    np.empty(n_bytes, dtype=np.int8)
