"""Time to fit, to the same optimum of the same objective, compared with other programs.

Softmax against each solver of scikit-learn's LogisticRegression that has the same
objective, sparsemax and 1.5-entmax against L-BFGS of a plain NumPy objective by SciPy
and of the entmax package's losses by torch. The optimum f* comes from Newton's method
in plain NumPy. It begins where a tight fit of ours ends, to save time, and ends when a
step cannot gain a part of 1e-12. Every coefficient that a side returns is
judged by that same NumPy objective: the time that counts is the time of the whole `fit`
to a relative suboptimality f / f* - 1 of 1e-3, 1e-6 and 1e-9, at the fastest of the
side's own tolerances. All sides run in turn in one process, with BLAS on one thread,
where the time is that of the processor, and on its default number. A program that does
not reach a level within the time limit is shown with this time and with the
suboptimality that it reached. If no rival reaches it, our time is compared with the
longest time of a rival.

Data that scikit-learn has or makes are always fitted; mnist, letter, pendigits and
news20 if SKPROB_DATA names their folder.

    python benchmarks/fit.py --save-table fit.csv --save-plot fit.png

With --little the data are iris, wine, breast cancer and 200 rows of 5 features, with
C = 1: fits of a millisecond or two, most of which is not arithmetic.
"""

import argparse
import csv
import itertools
import math
from pathlib import Path
from time import perf_counter

import numpy as np
import sklearn
import torch
from _contenders import DEFAULT_SOLVER, contenders, run
from _memory import peak_memory
from _optimum import Optimum, Reference
from _problems import LITTLE, problems
from _race import LEVELS, THREADS, Time, race
from _report import as_markdown, environment, save_ratios, save_text
from threadpoolctl import threadpool_info

import skprob

ALPHAS = [1.0, 1.5, 2.0]
STRENGTHS = [0.01, 1.0, 100.0]
NAMES = {1.0: "softmax", 1.5: "entmax 1.5", 2.0: "sparsemax"}
QUICK = ["digits, scaled", "breast cancer, raw", "badly scaled columns"]


def main():
    options = parse_arguments()
    started = perf_counter()
    print(environment(sklearn, torch, skprob))
    for library in threadpool_info():
        print(library["prefix"], library["version"], library["num_threads"], "threads")
    times = load_times(options.save_table)
    for name in options.problems:
        problem = (problems() | LITTLE)[name]()
        for alpha in options.alphas:
            strengths = options.strengths if alpha == 1 else options.sparse_strengths
            for C in strengths:
                if (name, alpha, C) in by_case(times):
                    continue
                objective = Reference(problem, alpha, C)
                optimum = known_optimum(options.optima, name, problem, objective, C)
                case = race(
                    name, problem, alpha, C, optimum, options.cap, options.threads
                )
                times += case
                save_times(options.save_table, times)
                print_case(case, optimum, perf_counter() - started)
    print(f"\nAll fits took {perf_counter() - started:.0f} seconds.")
    parts = [
        summary([time for time in times if time.threads == threads], threads)
        for threads in options.threads
    ]
    if "mnist" in options.problems:
        parts.append(peak_memory("mnist"))
    print("", *parts, sep="\n\n")
    if options.save_summary:
        save_text(options.save_summary, "\n\n".join(parts))
    if options.save_plot:
        plot(options.save_plot, times)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small problems, C = 1")
    parser.add_argument("--little", action="store_true", help="little data, C = 1")
    parser.add_argument(
        "--problems", nargs="+", choices=problems() | LITTLE, metavar="NAME"
    )
    parser.add_argument("--alphas", nargs="+", type=float, choices=ALPHAS)
    parser.add_argument("--strengths", nargs="+", type=float, metavar="C")
    parser.add_argument(
        "--cap", type=float, default=20, help="seconds for one fit (default: 20)"
    )
    parser.add_argument(
        "--optima", type=Path, metavar="FOLDER", help="keep the optima there"
    )
    parser.add_argument("--threads", nargs="+", choices=THREADS, default=list(THREADS))
    parser.add_argument(
        "--save-table",
        type=Path,
        metavar="CSV",
        help="written case by case; cases that it has already are not raced again",
    )
    parser.add_argument("--save-summary", type=Path, metavar="TEXT")
    parser.add_argument("--save-plot", type=Path, metavar="IMAGE")
    options = parser.parse_args()
    if not options.problems:
        names = list(LITTLE) if options.little else list(problems())
        options.problems = QUICK if options.quick else names
    options.alphas = options.alphas or ALPHAS
    # The penalty makes the same difference to all mappings: once is enough.
    once = options.strengths or [1.0]
    is_short = options.quick or options.little
    options.strengths = once if is_short else options.strengths or STRENGTHS
    options.sparse_strengths = once
    return options


def known_optimum(folder, name, problem, objective, C):
    """The optimum, read from the folder if it is there."""
    path = folder and folder / f"{name}, {objective.alpha}, {C:g}.npz"
    if path and path.exists():
        with np.load(path) as file:
            return Optimum(file["theta"], float(file["value"]), float(file["rest"]))
    ours = contenders(problem, objective.alpha)[0]
    optimum = objective.minimise(run(ours, problem, C, tol=1e-7, max_iter=1000))
    if path:
        folder.mkdir(parents=True, exist_ok=True)
        theta, value, decrement = optimum
        np.savez(path, theta=theta, value=value, rest=decrement)
    return optimum


def fastest(times):
    """The fastest that got there, or whoever came closest."""
    return min(times, key=lambda t: (not t.reached, t.seconds if t.reached else t.gap))


def ours(times):
    """Our default solver."""
    return fastest([time for time in times if time.is_default])


def rival(times):
    """The best of all other sides."""
    return fastest([time for time in times if time.side != "skprob"])


def ratio(times):
    """How many times as long as our default solver the fastest rival takes.

    Zero where ours does not get there, NaN where nobody does.
    """
    if not ours(times).reached:
        return 0.0 if rival(times).reached else math.nan
    if rival(times).reached:
        return rival(times).seconds / ours(times).seconds
    tried = max(time.seconds for time in times if time.side != "skprob")
    return max(tried / ours(times).seconds, 1.0)


def by_case(times):
    """Times by (problem, alpha, C), in the order of the run."""
    cases = {}
    for time in times:
        cases.setdefault((time.problem, time.alpha, time.C), []).append(time)
    return cases


def at_level(times, level):
    return [time for time in times if time.level == level]


def text(time):
    """A time, or what was reached in it."""
    if time.reached:
        about = "" if time.repeated else "~"
        return f"{time.solver} {about}{time.seconds:.3g}"
    return f"{time.solver} >{time.seconds:.3g} ({time.gap:.0e})"


def print_case(case, optimum, elapsed):
    """All solvers at all levels, with the last number of threads."""
    first = case[0]
    print(
        f"\n{first.problem}, {NAMES[first.alpha]}, C={first.C:g}: f* = "
        f"{optimum.value:.12g}, Newton's last step could gain {optimum.decrement:.0e}; "
        f"lowest f / f* - 1 of all: {min(time.gap for time in case):.0e}; "
        f"{elapsed:.0f} s so far; ~ is one fit on one thread",
        flush=True,
    )
    rows = {}
    for time in case:
        if time.threads == case[-1].threads:
            row = rows.setdefault((time.side, time.solver), [])
            row.append(text(time).removeprefix(time.solver))
    header = ["side", "solver", *(f"s to {level:g}" for level in LEVELS)]
    print(as_markdown(header, [[*names, *cells] for names, cells in rows.items()]))


def summary(times, threads):
    """Times of the fastest rival and of our default solver, and geometric means."""
    header = ["problem", "mapping", "C"]
    header += [f"{x:g}: {what}" for x in LEVELS for what in ("rival", "ours", "ratio")]
    rows = []
    for (name, alpha, C), case in by_case(times).items():
        row = [name, NAMES[alpha], f"{C:g}"]
        for level in LEVELS:
            results = at_level(case, level)
            row += [text(rival(results)), text(ours(results)), f"{ratio(results):.2f}"]
        rows.append(row)
    clock = "seconds of the processor" if threads == "1" else "seconds"
    lines = [f"BLAS threads: {threads}; ours: solver={DEFAULT_SOLVER!r}; {clock}"]
    lines += ["", as_markdown(header, rows), ""]
    for alpha, level in itertools.product(ALPHAS, LEVELS):
        of_mapping = [time for time in times if time.alpha == alpha]
        cases = by_case(at_level(of_mapping, level)).values()
        ratios = np.array([ratio(case) for case in cases])
        known = ratios[ratios > 0]
        if len(known):
            alone = sum(not rival(case).reached for case in cases)
            lines.append(
                f"{NAMES[alpha]}, to {level:g}: geometric mean "
                f"{geometric_mean(known):.2f}, lowest {known.min():.2f}, below 1 on "
                f"{sum(known < 1)} of {len(ratios)}; ours did not get there on "
                f"{len(ratios) - len(known)}, no rival on {alone}"
            )
    return "\n".join([*lines, *beside_softmax(times)])


def beside_softmax(times):
    """Lines of text: our sparse mappings over our softmax, to 1e-6 on the same data."""
    seconds = {}
    for (name, alpha, C), case in by_case(at_level(times, 1e-6)).items():
        if ours(case).reached:
            seconds[name, C, alpha] = ours(case).seconds
    for alpha in ALPHAS[1:]:
        ratios = [
            value / seconds[name, C, 1.0]
            for (name, C, a), value in seconds.items()
            if a == alpha and (name, C, 1.0) in seconds
        ]
        if ratios:
            yield (
                f"{NAMES[alpha]} takes {geometric_mean(ratios):.2f} times as "
                f"long as softmax to 1e-6, at most {max(ratios):.2f} times"
            )


def geometric_mean(ratios):
    return math.exp(np.mean(np.log(ratios)))


def load_times(path):
    """The times that a run before has saved; it need not be done again."""
    if not (path and path.exists()):
        return []
    kinds = Time.__annotations__
    with path.open(newline="") as file:
        return [
            Time(**{key: _parsed(kinds[key], value) for key, value in row.items()})
            for row in csv.DictReader(file)
        ]


def _parsed(kind, value):
    return value == "True" if kind is bool else kind(value)


def save_times(path, times):
    if not path:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(Time._fields)
        writer.writerows(times)


def plot(path, times):
    """The ratios to 1e-6, by problem."""
    ratios = {}
    for (name, alpha, _), case in by_case(at_level(times, 1e-6)).items():
        for threads in {time.threads for time in case}:
            results = [time for time in case if time.threads == threads]
            if not math.isnan(ratio(results)):
                label = f"{name}, {NAMES[alpha]}"
                ratios.setdefault(label, []).append(ratio(results))
    save_ratios(
        path,
        "Seconds of the fastest rival over skprob's, to 1e-6",
        ratios,
        label="right of the line: skprob is faster",
    )


if __name__ == "__main__":
    main()
