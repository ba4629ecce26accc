"""Time to a given suboptimality, for each contender at the best of its tolerances."""

import math
from contextlib import nullcontext
from statistics import median
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np
from _contenders import DEFAULT_SOLVER, contenders, run
from _optimum import Reference
from threadpoolctl import threadpool_limits

LEVELS = [1e-3, 1e-6, 1e-9]
THREADS = {"1": 1, "default": None}
TIGHTEST = -11
MAX_ITER = 10_000
# A solver is stopped after this many times the shortest time in which a solver of its
# side reached the last level.
SLOWER = 2
# Number of tolerances with the same result after which a solver is not run with tighter
# ones. One step of Newton's method may be enough for seven tolerances.
SAME = 8
# Fits are repeated three times if a round takes at most the first number of seconds,
# and up to 15 times while all rounds take at most the second.
SECONDS_ENOUGH = 10
SECONDS_FOR_MORE = 1
# A fit that takes less than this number of seconds is run once, not timed, before each
# timed run. Otherwise a fit to iris after another program's takes 1.3 to 1.5 times as
# long, because its code is not in the cache.
LITTLE = 0.02


class Fit(NamedTuple):
    """One fit of the search over tolerances."""

    tol: float
    max_iter: int
    seconds: float
    gap: float


class Time(NamedTuple):
    """A contender's time to a level of relative suboptimality.

    On one thread it is processor time, which other programs of the machine do not
    lengthen. If the contender did not reach the level, `seconds` is its longest time
    and `gap` its smallest suboptimality. `repeated` is False if others were clearly
    faster: the time is then that of a single fit on one thread.
    """

    problem: str
    alpha: float
    C: float
    threads: str
    level: float
    side: str
    solver: str
    is_default: bool
    reached: bool
    repeated: bool
    seconds: float
    gap: float
    tol: float


def race(name, problem, alpha, C, optimum, cap, threads):
    """Times of all contenders at all levels and these (names of) numbers of threads."""
    searches = {}
    for contender in contenders(problem, alpha):
        rivals = [
            fits[-1].seconds
            for other, fits in searches.items()
            if other.side == contender.side and fits[-1].gap <= LEVELS[-1]
        ]
        limit = min([cap, *(max(1.0, SLOWER * seconds) for seconds in rivals)])
        # On one thread: the iterations are the same, and times vary less.
        with threadpool_limits(1):
            searches[contender] = search(contender, problem, alpha, C, optimum, limit)
    chosen = {}
    for level in LEVELS:
        for contender, fits in searches.items():
            enough = [fit for fit in fits if fit.gap <= level]
            if enough:
                chosen[contender, level] = min(enough, key=lambda fit: fit.seconds)
    again = to_time_again(chosen)
    times = []
    for number in threads:
        limit = THREADS[number]
        with threadpool_limits(limit) if limit else nullcontext():
            clock = process_time if limit == 1 else perf_counter
            results = timed(again, problem, alpha, C, optimum, clock)
        for contender, fits in searches.items():
            for level in LEVELS:
                fit, repeated = chosen.get((contender, level)), False
                if fit is None:
                    fit = longest(fits)
                elif (contender, fit) in results:
                    fit, repeated = fastest(results, contender, level), True
                ours = contender.side == "skprob"
                times.append(
                    Time(
                        problem=name,
                        alpha=alpha,
                        C=C,
                        threads=number,
                        level=level,
                        side=contender.side,
                        solver=contender.solver,
                        is_default=ours and contender.solver == DEFAULT_SOLVER,
                        reached=fit.gap <= 2 * level,
                        repeated=repeated,
                        seconds=fit.seconds,
                        gap=fit.gap,
                        tol=fit.tol,
                    )
                )
    return times


def fastest(results, contender, level):
    """The fastest of a contender's repeated fits that reached a level, or came near."""
    fits = [fit for (other, _), fit in results.items() if other == contender]
    # Rounding errors depend on the number of threads.
    least = max(2 * level, min(fit.gap for fit in fits))
    return min((fit for fit in fits if fit.gap <= least), key=lambda fit: fit.seconds)


def longest(fits):
    """Longest time and smallest gap of a solver that did not reach a level."""
    slowest = max(fits, key=lambda fit: fit.seconds)
    return slowest._replace(gap=min(fit.gap for fit in fits))


def search(contender, problem, alpha, C, optimum, cap):
    """Fits at tighter and tighter tolerances, to the last level or the time limit."""
    first, third = (seconds_of(contender, problem, C, number) for number in (1, 3))
    # The time before and after the iterations does not count.
    step = max((third - first) / 2, first / 20)
    max_iter = min(max(int(cap / step), 1), MAX_ITER)
    objective = Reference(problem, alpha, C)
    value, gradient = objective.value_and_gradient(objective.zeros())
    first_gap = value / optimum.value - 1
    loosest = math.ceil(math.log10(np.abs(gradient).max()))
    fits = []
    for exponent in range(loosest, TIGHTEST - 1, -1):
        fit = fitted(
            contender, problem, C, 10.0**exponent, max_iter, objective, optimum
        )
        fits.append(fit)
        if fit.gap <= LEVELS[-1] or fit.seconds > cap:
            break
        # A fit that takes more than half of the limit is tried only twice.
        is_long = fit.seconds > cap / 2
        n_same = 2 if is_long else SAME
        stuck = len(fits) >= n_same and len({f.gap for f in fits[-n_same:]}) == 1
        if stuck and fit.gap < first_gap:
            # It reached max_iter, or makes no more progress.
            if max_iter == MAX_ITER or is_long:
                break
            max_iter = min(int(max_iter * cap / fit.seconds) + 1, MAX_ITER)
    return fits


def seconds_of(contender, problem, C, max_iter):
    """The time of the first iterations of a tight fit, with its set-up."""
    start = process_time()
    run(contender, problem, C, tol=1e-12, max_iter=max_iter)
    return process_time() - start


def fitted(
    contender, problem, C, tol, max_iter, objective, optimum, clock=process_time
):
    """A fit, timed and judged."""
    start = clock()
    theta = run(contender, problem, C, tol, max_iter)
    seconds = clock() - start
    with np.errstate(over="ignore", invalid="ignore"):
        gap = objective.value(theta) / optimum.value - 1
    return Fit(tol, max_iter, seconds, gap if np.isfinite(gap) else np.inf)


def to_time_again(chosen):
    """For each side and level: our default solver, the best, and those close to it."""
    again = {}
    for level in LEVELS:
        at_level = {c: fit for (c, reached), fit in chosen.items() if reached == level}
        for contender, fit in at_level.items():
            side = [f for c, f in at_level.items() if c.side == contender.side]
            is_default = (contender.side, contender.solver) == (
                "skprob",
                DEFAULT_SOLVER,
            )
            if is_default or fit.seconds <= 2 * min(f.seconds for f in side):
                again[contender, fit] = None
    return list(again)


def timed(pairs, problem, alpha, C, optimum, clock):
    """The fits again, all of them in turn: median seconds and last gap."""
    objective = Reference(problem, alpha, C)
    repeats = {pair: [] for pair in pairs}
    start = perf_counter()
    for n_rounds in range(1, 16):
        for contender, fit in pairs:
            if fit.seconds < LITTLE:
                run(contender, problem, C, fit.tol, fit.max_iter)
            again = fitted(
                contender,
                problem,
                C,
                fit.tol,
                fit.max_iter,
                objective,
                optimum,
                clock=clock,
            )
            repeats[contender, fit].append(again)
        limit = SECONDS_ENOUGH if n_rounds < 3 else SECONDS_FOR_MORE
        if perf_counter() - start > limit:
            break
    return {
        pair: fits[-1]._replace(seconds=median(fit.seconds for fit in fits))
        for pair, fits in repeats.items()
    }
