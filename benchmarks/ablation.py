"""Time that each heuristic of the fitting code saves.

Each is switched off alone, and the fit is timed in turn with that of the unchanged
code, in one process: seconds of the processor, and passes over X, to a relative
suboptimality f / f* - 1 of 1e-3 and 1e-6. The problems are those of fit.py and those of
search.py, where the time is that of the whole EntmaxClassifierCV. In every round after
the first the rows are in another order: passes depend on it.

More problems have what these lack: "100,000 rows" of 20 features and 10 classes; and
fits from beginning to end, of label sets (200 of 20,000 rows, enron, bibtex), of losses
with kinks, and with an l1 penalty.

The table has geometric means, over all cases, of the ratio of what it takes without a
heuristic to what it takes with it; where it cannot act the ratio is one. A fit that
takes four times as long is stopped. "nothing" is the unchanged code compared with
itself: its ratios show what chance alone explains. A heuristic pays if a geometric mean
over the fits or over the searches is above 1.03, or if the ratio of a case is at least
1.25 and larger than all ratios of "nothing".

    python benchmarks/ablation.py [--quick] [--save-table ablation.csv]
"""

import argparse
import csv
import ctypes
import gc
import math
import platform
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from _ablation_cases import LEVELS, groups
from _heuristics import HEURISTICS, NOTHING
from _report import as_markdown, environment
from threadpoolctl import threadpool_limits

import skprob
from skprob.solvers import Tuning

QUICK = ["digits, raw", "digits, scaled", "breast cancer, raw"]
QUICK += ["badly scaled columns", "search: iris", "search: wine, scaled", "pendigits"]
# A fit is given up after so many times the seconds of the unchanged code, which is run
# once for so many heuristics.
GIVEN_UP, SHARED = 4.0, 3
# A short fit is repeated for so many seconds, but at most so often; the fastest counts.
SECONDS, MOST_REPEATS = 0.06, 7
# Ratios from which a heuristic pays: the geometric mean over fits or over searches, or
# that of a case, which must also be larger than all ratios of "nothing".
WORTH, WORTH_IN_CASE = 1.03, 1.25
HEADER = ["heuristic", "cases", "time 1e-3", "time 1e-6", "passes 1e-6"]
HEADER += ["whole fit", "its passes", "search", "its passes"]
HEADER += ["largest", "smallest", "pays"]


def main():
    options = parse_arguments()
    found = groups(options.optima)
    print(environment(skprob), flush=True)
    started, logs = time.perf_counter(), {}
    gc.collect()
    gc.freeze()
    with threadpool_limits(1):
        for case in (c for name in options.problems for c in found[name]()):
            logs |= measure(case, options)
            rows = table(logs)
            if options.save_table:
                save(options.save_table, rows)
            print(f"{case.name}: {time.perf_counter() - started:.0f} s", flush=True)
    print("\n" + as_markdown(HEADER, rows))


def parse_arguments():
    names = list(groups())
    known = [heuristic.name for heuristic in HEURISTICS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small problems only")
    parser.add_argument("--problems", nargs="+", choices=names, metavar="NAME")
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
    at_hand = [name for name in QUICK if name in names] if options.quick else names
    options.problems = options.problems or at_hand
    # The verdict compares the others with it.
    options.heuristics = [NOTHING, *(n for n in options.heuristics if n != NOTHING)]
    return options


def measure(case, options):
    """Logarithms of ratios (seconds, passes), a pair for each round.

    By heuristic, level and case; those that may change nothing have none.
    """
    acting = [h for h in HEURISTICS if h.name in options.heuristics]
    logs = {(h.name, at, case.name): [] for h in acting for at in case.levels}
    acting = [h for h in acting if case.is_changed_by(h)]
    run(case, case.problem, Tuning())
    for number in range(options.rounds):
        problem = in_order(case.problem, number)
        for i, heuristic in enumerate(acting):
            if i % SHARED == 0:
                usual = run(case, problem, Tuning())
            limit = GIVEN_UP * usual[-1, 0]
            without = run(case, problem, heuristic.without, limit)
            for at, pair in zip(
                case.levels, np.log(without) - np.log(usual), strict=True
            ):
                logs[heuristic.name, at, case.name].append(pair)
    return logs


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
    n_more = min(SECONDS / costs[0][-1][0], MOST_REPEATS) - 1
    costs += [case.run(problem, limit, tuning) for _ in range(math.ceil(n_more))]
    return np.min(costs, axis=0)


def keep_freed_memory(n_bytes):
    """Make glibc what it is after the largest array that was freed had so many bytes.

    It adapts to arrays that are larger, and not back.
    """
    if platform.libc_ver()[0] == "glibc":
        trim_threshold, map_threshold = -1, -3
        library = ctypes.CDLL(None)
        library.mallopt(map_threshold, n_bytes)
        library.mallopt(trim_threshold, 2 * n_bytes)


def table(logs):
    """A row for each heuristic that was measured."""
    by_heuristic = defaultdict(dict)
    for (heuristic, at, case), rounds in logs.items():
        by_heuristic[heuristic][at, case] = np.array(rounds)
    by_chance = max(means_of_cases(by_heuristic[NOTHING]).values())
    rows = [[name, *cells(by_heuristic[name], by_chance)] for name in by_heuristic]
    return [row for row in rows if row[1] > 0]


def means_of_cases(ratios):
    """Geometric means of the rounds, by level and case in which there are any."""
    acted = {position: rounds for position, rounds in ratios.items() if len(rounds)}
    return {
        position: math.exp(rounds[:, 0].mean()) for position, rounds in acted.items()
    }


def cells(ratios, by_chance):
    """Cells of the row of a heuristic, from its ratios by level and case.

    The largest ratio of "nothing" is `by_chance`.
    """
    mean = means_of_cases(ratios)
    if not mean:
        return [0]
    means = defaultdict(list)
    for (at, _), rounds in ratios.items():
        means[at].append(rounds.mean(axis=0) if len(rounds) else np.zeros(2))
    means = {at: np.exp(np.mean(its, axis=0)) for at, its in means.items()}
    largest = max(mean.values())
    pays = largest >= WORTH_IN_CASE and largest > by_chance
    pays = pays or any(seconds > WORTH for seconds, _ in means.values())
    extremes = (
        f"{mean[position]:.2f} ({', '.join(map(str, reversed(position)))})"
        for position in (max(mean, key=mean.get), min(mean, key=mean.get))
    )
    none = math.nan, math.nan
    (slow, _), *others = (means.get(at, none) for at in (*LEVELS, "fit", "search"))
    figures = (slow, *(ratio for pair in others for ratio in pair))
    figures = (f"{ratio:.2f}".replace("nan", "") for ratio in figures)
    n_cases = len({case for _, case in mean})
    return [n_cases, *figures, *extremes, "yes" if pays else "no"]


def save(path, rows):
    """Write the table without its empty columns."""
    columns = [column for column in zip(HEADER, *rows, strict=True) if any(column[1:])]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(zip(*columns, strict=True))


if __name__ == "__main__":
    main()
