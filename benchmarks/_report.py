"""Timing in turn, and tables and plots of the results, for all benchmarks."""

import platform
import statistics
import time
from pathlib import Path

import numpy as np
import scipy


def interleaved(
    contenders,
    repeats,
    seconds=np.inf,
    summary=statistics.median,
    clock=time.perf_counter,
):
    """Median seconds of each call, all of them timed in turn, round after round.

    Parameters
    ----------
    contenders : dict of str to callable
    repeats : int
        Rounds at most.
    seconds : float, default=inf
        No further round begins after so long.
    summary : callable, default=statistics.median
        What is made of the times of a call.
    clock : callable, default=time.perf_counter
        Returns seconds.

    Returns
    -------
    seconds : dict of str to float
    """
    times = {name: [] for name in contenders}
    for call in contenders.values():
        call()
    started = time.perf_counter()
    for done in range(repeats):
        if done and time.perf_counter() - started > seconds:
            break
        for name, call in contenders.items():
            start = clock()
            call()
            times[name].append(clock() - start)
    return {name: summary(values) for name, values in times.items()}


def environment(*modules):
    """One line that says on what a benchmark ran."""
    versions = [f"{m.__name__} {m.__version__}" for m in (np, scipy, *modules)]
    return f"{platform.machine()}, Python {platform.python_version()}, " + ", ".join(
        versions
    )


def as_markdown(header, rows):
    """A Markdown table with its columns aligned."""
    cells = [list(map(str, header)), *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)


def save_text(path, text):
    """Write text to a file, making its folder."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")


def save_ratios(path, title, ratios, label="right of the line: met"):
    """Draw the ratios of each group as dots on a logarithmic axis.

    Parameters
    ----------
    path : path-like
    title : str
    ratios : dict of str to list of float
    label : str
        What the side of the line means.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise SystemExit("A plot needs matplotlib: pip install matplotlib.") from None
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(8, 1.2 + 0.4 * len(ratios)), layout="constrained")
    axes = figure.subplots()
    for position, values in enumerate(ratios.values()):
        axes.plot(values, [position] * len(values), "o", color="tab:blue", alpha=0.5)
    axes.axvline(1, color="tab:red")
    axes.set_yticks(range(len(ratios)), ratios)
    axes.invert_yaxis()
    axes.set(xscale="log", title=title, xlabel=label)
    figure.savefig(path, dpi=150)
