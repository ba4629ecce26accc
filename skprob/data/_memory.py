"""Freed memory, which the C library keeps for the arrays that come next."""

import functools

import numpy as np


@functools.cache
def keep_freed_memory(n_bytes):
    """Let freed memory stay with the process, up to twice as many bytes.

    A new page of memory costs more than the arithmetic on its numbers. glibc adapts to
    the largest array that a process has freed, so one is freed here, which was never
    written to. Other C libraries have rules of their own, and nothing changes.
    """
    np.empty(n_bytes, dtype=np.int8)
