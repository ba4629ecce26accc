"""Peak memory of a fit, in a process of its own."""

import gc
import multiprocessing
from pathlib import Path

from _contenders import contenders, run
from _problems import problems

MIB = 2**20
# A few iterations allocate all the memory that a fit needs.
MAX_ITER = 10
# Writing "5" to this file resets the peak memory that Linux records.
FORGET = Path("/proc/self/clear_refs")


def peak_memory(name):
    """A line with the peak memory of each fit in addition to the data."""
    if not FORGET.exists():
        return f"{name}: the peak memory of a fit can only be measured on Linux"
    problem = problems()[name]()
    spawn = multiprocessing.get_context("spawn")
    parts = []
    for i, contender in enumerate(contenders(problem, alpha=1)):
        with spawn.Pool(1) as pool:
            rise, size = pool.apply(_rise, (name, i))
        parts.append(f"{contender.side} {contender.solver} {rise:.0f}")
    return f"{name}: X takes {size:.0f} MiB; peak above it in MiB: " + ", ".join(parts)


def _rise(name, i):
    problem = problems()[name]()
    contender = contenders(problem, alpha=1)[i]
    # A fit to a few rows first: imports and buffers of the threads do not count.
    few = problem._replace(X=problem.X[:1000], y=problem.y[:1000])
    run(contender, few, C=1.0, tol=0, max_iter=1)
    gc.collect()
    # Start the record anew: it has the peak of reading the data.
    FORGET.write_text("5")
    before = _memory("VmRSS")
    run(contender, problem, C=1.0, tol=1e-12, max_iter=MAX_ITER)
    return (_memory("VmHWM") - before) / MIB, problem.X.nbytes / MIB


def _memory(name):
    """A memory field of this process in /proc, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(name))
    return int(line.split()[1]) * 1024
