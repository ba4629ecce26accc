"""Time to fit few coefficients, compared with other programs.

All minimise the same objective. With l1_ratio = 0.9, many classes are compared with
scikit-learn's saga, and whole features with adelie. Two classes have l1_ratio = 1 and
no intercept, which liblinear would penalise; they are compared with saga, liblinear,
adelie and skglm. C is 3, 30 and 300 times the smallest one at which a coefficient
enters.

Each program fits in a process of its own, on one thread, at ever tighter settings of
its own. `_sparse_objective.py`, plain NumPy, evaluates the coefficients. The time is
the process time of the first call that ends within a relative 1e-6 of the lowest value.
For saga, which is stopped after 1, 2, 4, ... passes, it is the time between two of
these, in proportion to the logarithm of the suboptimality. The lowest value is that of
our fit with tol=1e-8, or of a program that ends lower. We fit before and after the
others, and the mean counts. A program that does not reach it within the limit is shown
with this time.

Programs that are not installed are left out. ``--python`` names an interpreter that has
them: adelie needs an older NumPy than skprob. Digits and breast cancer are
scikit-learn's; mnist, letter, pendigits and news20 are fitted if SKPROB_DATA names
their folder.

    python benchmarks/sparse_coefficients.py --python peers/bin/python \
        --save sparse.csv --save-table docs/measurements/few_coefficients.csv
"""

import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import sklearn
from _problems import problems
from _report import environment
from _sparse_objective import Penalised, save
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.preprocessing import scale

import skprob

FACTORS = [3, 30, 300]
GOAL = 1e-6
#: The programs that have each problem.
TASKS = {
    "coefficients": ["saga"],
    "whole features": ["adelie", "adelie by a path"],
    "two classes": ["saga", "liblinear", "adelie", "adelie by a path", "skglm"],
}
PACKAGES = {"saga": "sklearn", "liblinear": "sklearn", "adelie by a path": "adelie"}
FIELDS = ["task", "data", "rows", "features", "factor", "C", "program", "seconds"]
FIELDS += ["reached", "suboptimality", "setting", "n_coefficients", "subgradient"]
THREADS = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "NUMBA")}


def main():
    options = parse_arguments()
    started = time.perf_counter()
    print(
        environment(sklearn, skprob), "one thread for BLAS, OpenMP and numba", sep="; "
    )
    programs, missing = programs_of(options.python)
    print("Not installed, and left out:", ", ".join(missing) or "none")
    rows = load_rows(options.save)
    known = {(row["task"], row["data"], row["factor"]) for row in rows}
    for data in options.data:
        for task in options.tasks:
            X, y = DATA[data](2 if task == "two classes" else None)
            if task != "two classes" and y.max() == 1:
                continue
            for factor in options.factors:
                if (task, data, str(factor)) not in known:
                    names = [name for name in TASKS[task] if name in programs]
                    problem = problem_of(task, X, y, factor)
                    case = run_case(problem, names, programs, options.limit)
                    about = {"task": task, "data": data, "factor": str(factor)}
                    about |= {"rows": X.shape[0], "features": X.shape[1]}
                    case = [about | {"C": problem.C} | row for row in case]
                    rows += case
                    save_rows(options.save, rows)
                    print_case(case)
    print(f"\nAll fits took {time.perf_counter() - started:.0f} seconds.\n")
    print(summary(rows))
    if options.save_table:
        save_table(options.save_table, rows)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS)
    at_hand = [name for name in DATA if name not in FROM_FOLDER or FOLDER]
    parser.add_argument("--data", nargs="+", default=at_hand, choices=at_hand)
    parser.add_argument("--factors", nargs="+", type=int, default=FACTORS)
    parser.add_argument("--limit", type=float, default=30, help="seconds a program")
    parser.add_argument("--python", default=sys.executable, help="of the others")
    parser.add_argument("--save", help="csv; a case that it has is not run again")
    parser.add_argument("--save-table", help="csv with a row for each case")
    return parser.parse_args()


# Data.

FOLDER = os.environ.get("SKPROB_DATA")
FROM_FOLDER = ["letter", "pendigits", "20 newsgroups", "mnist"]


def made(n_rows, n_features, n_classes):
    def make(most):
        X, y = make_classification(
            n_rows,
            n_features,
            n_informative=20,
            n_classes=most or n_classes,
            random_state=0,
        )
        return scale(X), y

    return make


def scaled(name):
    return lambda most: halves(scale(problems()[name]().X), problems()[name]().y, most)


def as_it_is(name):
    return lambda most: halves(*problems()[name]()[:2], most)


def cancer(most):
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


def halves(X, y, most):
    """All classes, or the first half of them against the others."""
    return X, (y > y.max() // 2).astype(int) if most == 2 else y


#: Functions of the largest number of classes: None, or 2.
DATA = {
    "breast cancer": cancer,
    "digits": as_it_is("digits, scaled"),
    "pendigits": scaled("pendigits"),
    "letter": scaled("letter"),
    "made, correlated": made(10_000, 100, 5),
    "made, wide": made(500, 5000, 4),
    "20 newsgroups": as_it_is("news20"),
    "mnist": as_it_is("mnist"),
}


def problem_of(task, X, y, factor):
    by_feature, is_pair = task == "whole features", task == "two classes"
    l1_ratio = 1.0 if is_pair else 0.9
    problem = Penalised(X, y, 1.0, l1_ratio, by_feature, fit_intercept=not is_pair)
    return problem._replace(C=factor * problem.smallest_C())


# Programs.


def programs_of(python):
    """The programs that are installed, by name, and the names of the others."""
    programs, missing = {"skprob": Program("skprob", sys.executable)}, []
    for name in dict.fromkeys(name for names in TASKS.values() for name in names):
        command = [python, "-c", f"import {PACKAGES.get(name, name)}"]
        if subprocess.run(command, capture_output=True).returncode:
            missing.append(name)
        else:
            programs[name] = Program(name, python)
    return programs, missing


def run_case(problem, names, programs, limit):
    """A row for skprob and for each program that has the problem."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.npz"
        save(path, problem)
        model = skprob.SoftmaxClassifier(
            C=problem.C,
            l1_ratio=problem.l1_ratio,
            select="features" if problem.by_feature else "coefficients",
            fit_intercept=problem.fit_intercept,
            tol=1e-8,
            max_iter=1000,
        )
        lowest = tight_value(model, problem)
        goal = lowest * (1 + GOAL)
        order = ["skprob", *names, "skprob"]
        fits = [programs[name].fits(path, goal, limit) for name in order]
    lowest = min([lowest, *(fit["value"] for each in fits for fit in each)])
    rows = [verdict(name, each, lowest) for name, each in zip(order, fits, strict=True)]
    *rows, again = rows
    rows[0]["seconds"] = (rows[0]["seconds"] + again["seconds"]) / 2
    return rows


def tight_value(model, problem):
    """The objective at the minimum, up to what a tight fit of ours leaves."""
    with warnings.catch_warnings():
        # It may end at the precision of the machine.
        warnings.simplefilter("ignore")
        model.fit(problem.X, problem.y)
    return problem.value(model.coef_, model.intercept_)


class Program:
    """A program in its process, which is started again where it was ended."""

    def __init__(self, name, python):
        self.name, self._python, self._process = name, python, None

    def fits(self, path, goal, limit):
        """The fits of a problem: see `_sparse_programs.py`."""
        if self._process is None or self._process.poll() is not None:
            self._process = self._started()
        # Much later than it should end.
        timer = threading.Timer(4 * limit + 60, self._process.kill)
        timer.start()
        lines = []
        try:
            self._process.stdin.write(json.dumps([str(path), goal, limit]) + "\n")
            self._process.stdin.flush()
            while (line := self._process.stdout.readline()).strip():
                lines.append(json.loads(line))
        except BrokenPipeError:
            print(f"{self.name} has ended.")
        finally:
            timer.cancel()
        return lines

    def _started(self):
        program = Path(__file__).parent / "_sparse_programs.py"
        environ = os.environ | THREADS
        if self.name == "skprob":
            environ |= {"PYTHONPATH": str(Path(__file__).parents[1])}
        return subprocess.Popen(
            [self._python, program, self.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environ,
        )


def verdict(name, fits, lowest):
    """The value that a program reached, and the time."""
    row = {"program": name, "seconds": math.inf, "reached": False}
    row |= {"suboptimality": math.inf}
    if not fits:
        return row
    best = min(fits, key=lambda fit: fit["value"])
    gap = best["value"] / lowest - 1
    reached = gap <= 1.01 * GOAL
    seconds = best["seconds"] if reached else sum(fit["seconds"] for fit in fits)
    if name == "saga" and reached and len(fits) > 1:
        before = fits[-2]
        fraction = math.log(GOAL * lowest / (before["value"] - lowest))
        fraction /= math.log(max(gap, 1e-16) * lowest / (before["value"] - lowest))
        seconds = before["seconds"] + fraction * (seconds - before["seconds"])
    row |= {"seconds": seconds, "reached": reached, "suboptimality": gap}
    return row | {name: best[name] for name in FIELDS[-3:]}


# Results.


def load_rows(path):
    if not path or not Path(path).exists():
        return []
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["seconds"] = float(row["seconds"])
        row["suboptimality"] = float(row["suboptimality"])
        row["reached"] = row["reached"] == "True"
    return rows


def save_rows(path, rows):
    if path:
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(rows)


def print_case(case):
    first = case[0]
    print(f"\n{first['task']}: {first['data']}, {first['factor']} x the smallest C")
    for row in case:
        print(
            f"  {row['program']:18}{row['seconds']:10.4f} s  "
            f"{row['suboptimality']:8.1e}  {'' if row['reached'] else 'not reached'}  "
            f"{row.get('setting', '')}  {row.get('n_coefficients', '')}  "
            f"{float(row.get('subgradient') or math.nan):.1e}",
            flush=True,
        )


def cases(rows):
    """The rows of each case: a dict by program, with one row for adelie."""
    result = {}
    for row in rows:
        case = result.setdefault((row["task"], row["data"], row["factor"]), {})
        name = row["program"].removesuffix(" by a path")
        if name not in case or order(row) < order(case[name]):
            case[name] = row
    return result


def order(row):
    """By which the better of two rows is found."""
    return not row["reached"], row["seconds"] if row["reached"] else row[
        "suboptimality"
    ]


def ratio(row, ours):
    """How much longer a program took: at least, where it did not get there.

    NaN where it failed, or was stopped before our time.
    """
    times = row["seconds"] / ours["seconds"]
    is_bound = not row["reached"] and (times < 1 or math.isinf(times))
    return math.nan if is_bound else times


def summary(rows):
    """Geometric means of the ratios, and the smallest one, for each task and rival."""
    lines = []
    for task, names in TASKS.items():
        of_task = {key: case for key, case in cases(rows).items() if key[0] == task}
        names = list(dict.fromkeys(name.removesuffix(" by a path") for name in names))
        for name in [*names, "the fastest of all"]:
            ratios = {}
            for key, case in of_task.items():
                others = [case[other] for other in names if other in case]
                if name in case:
                    others = [case[name]]
                elif name in names:
                    continue
                if others:
                    times = ratio(min(others, key=order), case["skprob"])
                    ratios |= {} if math.isnan(times) else {key: times}
            if ratios:
                mean = math.exp(np.mean(np.log(list(ratios.values()))))
                least = min(ratios, key=ratios.get)
                lines.append(
                    f"{task}, {name}: {mean:.1f} times our time on geometric mean of "
                    f"{len(ratios)} cases, from {ratios[least]:.2f} "
                    f"({least[1]}, {least[2]} x)"
                )
    return "\n".join(lines)


def save_table(path, rows):
    """A row for each case, with the seconds of each program."""
    names = ["skprob", "saga", "liblinear", "adelie", "skglm"]
    head = ["task", "data", "C / smallest C", "coefficients that are not zero"]
    head += [f"{name} (seconds)" for name in names]
    head += ["seconds of the fastest other / those of skprob"]
    lines = []
    for (task, data, factor), case in cases(rows).items():
        ours = case["skprob"]
        others = [row for name, row in case.items() if name != "skprob"]
        line = [task, data, factor, ours["n_coefficients"]]
        line += [cell(case.get(name)) for name in names]
        best = min(others, key=order)
        sign = "" if best["reached"] else "> "
        sign = sign if ours["reached"] else "< " if best["reached"] else "unknown "
        times = ratio(best, ours)
        if math.isnan(times):
            sign = "unknown "
        number = "" if sign == "unknown " else f"{times:.2g}"
        lines.append([*line, (sign + number).strip()])
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *lines])


def cell(row):
    """Seconds, or those after which a program was not there."""
    if row is None:
        return "–"
    if math.isinf(row["seconds"]):
        return "failed"
    sign = "" if row["reached"] else "> "
    digits = ".2g" if row["seconds"] < 10 else ".0f"
    return f"{sign}{row['seconds']:{digits}}"


if __name__ == "__main__":
    main()
