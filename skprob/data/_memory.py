"""Freed memory, which the C library keeps for the arrays that come next."""

import functools

import numpy as np

# glibc keeps up to twice as much: several arrays of a block of rows, of 2 MiB each.
_LARGE = 16 << 20


@functools.cache
def keep_freed_memory():
    """Let freed memory stay with the process, up to 32 MiB, instead of the system.

    A new page of memory costs more than the arithmetic on its numbers. glibc adapts to
    the largest array that a process has freed, so one is freed here, which was never
    written to. Other C libraries have rules of their own, and nothing changes.
    """
    np.empty(_LARGE, dtype=np.int8)
