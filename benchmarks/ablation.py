"""Time that each heuristic of the fitting code saves.

One heuristic at a time is switched off. Fits with and without it take turns, in one
process with one thread, and their processor seconds and passes over X are compared. In
every round after the first the rows are in another order, because passes depend on it.

Cases are in groups, and each heuristic is measured in the groups that its row in
_heuristics.py names. If a second implementation computes the minimum, fits end at a
relative suboptimality of 1e-6; other fits and searches end at their own tolerance. A
fit that takes four times as long is stopped.

The table has geometric means, over all cases of the group, of the ratio of the time (or
passes) without a heuristic to that with it. Where a heuristic has no effect the ratio
is one. "nothing" is the unchanged code compared with itself: its ratios show the
variation by chance. A heuristic pays if its mean is above 1.03 and above that of
"nothing", or if the ratio of a case is at least 1.25 and larger than all ratios of
"nothing".

    python benchmarks/ablation.py fits searches --save-table ablation.csv

Rows of the table that are not measured remain.
"""

import argparse
import csv
import ctypes
import gc
import math
import platform
import time
from collections import defaultdict
from datetime import date
from pathlib import Path

import numpy as np
from _ablation_cases import GROUPS
from _heuristics import HEURISTICS, NOTHING
from _report import as_markdown, environment
from threadpoolctl import threadpool_limits

import skprob
from skprob.solvers import Tuning

# A fit is stopped after the first number times the seconds of the unchanged code, which
# runs once for the second number of heuristics.
GIVEN_UP, SHARED = 4.0, 3
# Seconds for which a short fit is repeated, and most repetitions; the fastest counts.
SECONDS, MOST_REPEATS = 0.06, 7
# Ratios from which a heuristic pays: the mean over a group, and that of a case.
WORTH, WORTH_IN_CASE = 1.03, 1.25
HEADER = ["heuristic", "group", "cases", "time", "passes"]
HEADER += ["largest", "smallest", "pays", "measured"]


def main():
    options = parse_arguments()
    print(environment(skprob), flush=True)
    started = time.perf_counter()
    gc.collect()
    gc.freeze()
    path = options.save_table
    rows = load(path) if path and path.exists() else []
    with threadpool_limits(1):
        for group in options.groups:
            measured = {(name, group) for name in options.heuristics}
            others = [row for row in rows if (row[0], row[1]) not in measured]
            logs = defaultdict(dict)
            for case in GROUPS[group](options.optima):
                measure(case, group, options, logs)
                rows = others + table(group, logs)
                if path:
                    save(path, rows)
                print(f"{case.name}: {time.perf_counter() - started:.0f} s", flush=True)
    print("\n" + as_markdown(HEADER, rows))


def parse_arguments():
    known = [heuristic.name for heuristic in HEURISTICS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "groups", nargs="+", choices=GROUPS, metavar="GROUP", help=", ".join(GROUPS)
    )
    parser.add_argument(
        "--heuristics", nargs="+", choices=known, default=known, metavar="NAME"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--optima", type=Path, metavar="FOLDER", help="keep the optima there"
    )
    parser.add_argument(
        "--save-table", type=Path, metavar="CSV", help="rewritten after each case"
    )
    options = parser.parse_args()
    # The verdict compares the others with it.
    options.heuristics = [NOTHING, *(n for n in options.heuristics if n != NOTHING)]
    return options


def measure(case, group, options, logs):
    """Add the logarithms of ratios (seconds, passes) of a case, a pair for each round.

    They are in `logs` by heuristic and case. A heuristic that may change nothing has
    none.
    """
    chosen = [h for h in HEURISTICS if h.name in options.heuristics]
    chosen = [h for h in chosen if group in h.groups]
    for heuristic in chosen:
        logs[heuristic.name][case.name] = []
    acting = [h for h in chosen if case.is_changed_by(h)]
    if not any(h.name != NOTHING for h in acting):
        return
    run(case, case.problem, Tuning())
    for number in range(options.rounds):
        problem = in_order(case.problem, number)
        for i, heuristic in enumerate(acting):
            if i % SHARED == 0:
                usual = run(case, problem, Tuning())
            without = run(case, problem, heuristic.without, GIVEN_UP * usual[0])
            logs[heuristic.name][case.name].append(np.log(without) - np.log(usual))


def in_order(problem, number):
    """The rows of a problem in the order of a round."""
    if number == 0:
        return problem
    rows = np.random.default_rng(number).permutation(len(problem.y))
    return problem._replace(X=problem.X[rows], y=problem.y[rows])


def run(case, problem, tuning, limit=math.inf):
    gc.collect()
    keep_freed_memory(tuning.kept_memory)
    costs = [case.run(problem, limit, tuning)]
    n_more = min(SECONDS / costs[0][0], MOST_REPEATS) - 1
    costs += [case.run(problem, limit, tuning) for _ in range(math.ceil(n_more))]
    return np.min(costs, axis=0)


def keep_freed_memory(n_bytes):
    """Set glibc's thresholds to their values after an array of `n_bytes` was freed.

    glibc raises its thresholds when larger arrays are freed, and never lowers them.
    """
    if platform.libc_ver()[0] == "glibc":
        trim_threshold, map_threshold = -1, -3
        library = ctypes.CDLL(None)
        library.mallopt(map_threshold, n_bytes)
        library.mallopt(trim_threshold, 2 * n_bytes)


def table(group, logs):
    """A row for each heuristic that acts in a case of the group."""
    means = {name: means_of_cases(logs[name]) for name in logs}
    chance = means[NOTHING]
    return [
        [name, group, *cells(logs[name], means[name], chance), str(date.today())]
        for name in logs
        if means[name]
    ]


def means_of_cases(logs):
    """Geometric means of the rounds' ratios (time, passes), by case that has any."""
    return {
        case: np.exp(np.mean(rounds, axis=0)) for case, rounds in logs.items() if rounds
    }


def cells(logs, mean_of_case, chance):
    """Cells of the row of a heuristic; `chance` is the `mean_of_case` of "nothing"."""
    seconds, passes = np.exp(
        sum(np.log(ratios) for ratios in mean_of_case.values()) / len(logs)
    )
    ratios = {case: ratio for case, (ratio, _) in mean_of_case.items()}
    slowest, fastest = max(ratios, key=ratios.get), min(ratios, key=ratios.get)
    by_chance = [ratio for ratio, _ in chance.values()]
    pays = ratios[slowest] >= max(WORTH_IN_CASE, *by_chance)
    pays |= seconds > max(WORTH, math.exp(np.log(by_chance).sum() / len(logs)))
    figures = f"{seconds:.2f}", f"{passes:.2f}"
    extremes = (f"{ratios[case]:.2f} ({case})" for case in (slowest, fastest))
    return [str(len(ratios)), *figures, *extremes, "yes" if pays else "no"]


def load(path):
    """Rows of a table."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


def save(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])


if __name__ == "__main__":
    main()
