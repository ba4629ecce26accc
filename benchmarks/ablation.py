"""Time that each heuristic of the fitting code saves.

Each is switched off alone, and the fit is timed in turn with that of the unchanged
code, in one process: seconds of the processor, and passes over X, to a relative
suboptimality f / f* - 1 of 1e-3 and 1e-6. The problems are those of fit.py and those of
search.py, where the time is that of the whole EntmaxClassifierCV. In every round after
the first the rows are in another order: passes depend on it.

Two more problems have what these lack: "100,000 rows" of 20 features and 10 classes,
and "200 labels" of 20,000 rows of 20 features, by sigmoid and C = 1, where the time is
that of a fit with tol=1e-4.

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
import gc
import math
import time
import warnings
from collections import defaultdict
from functools import cached_property, partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
from _contenders import OURS
from _heuristics import HEURISTICS, NOTHING
from _optimum import Reference
from _problems import Problem, many_rows, problems
from _report import as_markdown, environment
from fit import NAMES, known_optimum
from search import ALPHAS, DATA, FOLDS, STRENGTHS
from search import problems as search_problems
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import skprob
from skprob import EntmaxClassifierCV
from skprob.linear_model.base import training_rows
from skprob.linear_model.fit import objectives_of
from skprob.losses import FenchelYoungLoss
from skprob.mappings import Sigmoid
from skprob.metrics import BrierScorer
from skprob.objective import LinearObjective, split_rows
from skprob.objective._mean_loss import MeanLoss
from skprob.solvers import plan, solve
from skprob.targets import DenseTarget

LEVELS = (1e-3, 1e-6)
MORE, LABELS = {"100,000 rows": partial(many_rows, 100_000, 20, 10)}, "200 labels"
GRID = [(1.0, 0.01), (1.0, 1.0), (1.0, 100.0), (1.5, 1.0), (2.0, 1.0)]
# Cases that take too long.
LEFT_OUT = {("mnist", 1.0, 100.0), ("mnist", 1.5, 1.0), ("mnist", 2.0, 1.0)}
LEFT_OUT |= {("500 classes", 1.5, 1.0), ("500 classes", 2.0, 1.0)}
LEFT_OUT |= {("400,000 rows", 1.0, 0.01), ("400,000 rows", 1.0, 100.0)}
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
UNCHANGED = next(h.without for h in HEURISTICS if h.name == NOTHING)
HEADER = ["heuristic", "cases", "time 1e-3", "time 1e-6", "passes 1e-6"]
HEADER += ["search", "its passes", "largest", "smallest", "pays"]


class FitCase:
    """A fit by the default solver."""

    levels = LEVELS

    def __init__(self, name, alpha, C, optima):
        self.name = f"{name}, {NAMES[alpha]}, C={C:g}"
        self.problem = (problems() | MORE)[name]()
        self.alpha, self.C = alpha, C
        self._optimum_of = optima, name, self.problem

    @cached_property
    def least(self):
        """The value at the optimum."""
        reference = Reference(self.problem, self.alpha, self.C)
        return known_optimum(*self._optimum_of, reference, self.C).value

    def is_changed_by(self, heuristic):
        """Whether it may do anything here."""
        description = self.objective(self.problem).description
        return heuristic.acts_on(description, plan(description))

    def objective(self, problem):
        """The objective, made as a fit makes it."""
        X, y, fit_intercept = problem
        model = OURS[self.alpha](C=self.C, fit_intercept=fit_intercept)
        spec = model._fit_spec()
        with training_rows(model, spec, X, y, None, None, None) as rows:
            (objective,) = objectives_of(spec.for_rows(rows), rows)
        return objective

    def run(self, problem, limit, tuning):
        """(seconds, passes) to each level; given up after so many seconds."""
        least, results = self.least, []
        started = time.process_time()

        def note(n_iter, parameters, value, gradient_norm, last):
            spent = time.process_time() - started
            while (
                len(results) < len(LEVELS) and value / least - 1 <= LEVELS[len(results)]
            ):
                results.append((spent, objective.passes))
            return len(results) == len(LEVELS) or spent > limit

        objective = self.objective(problem)
        options = {"tol": 1e-10, "max_iter": 10_000, "callback": note}
        solve(objective, objective.initial(), tuning=tuning, **options)
        end = time.process_time() - started, objective.passes
        return results + [end] * (len(LEVELS) - len(results))


class LabelCase(FitCase):
    """A fit to label sets by sigmoid: a sum over the labels."""

    def __init__(self, name, C=1.0):
        self.name, self.C = f"{name}, sigmoid, C={C:g}", C
        rng = np.random.default_rng(0)
        X = rng.standard_normal((20_000, 20))
        scores = X @ rng.standard_normal((20, 200)) - 2 * rng.random(200)
        Y = (scores + rng.logistic(size=scores.shape) > 0).astype(float)
        self.problem = Problem(X, Y)

    def objective(self, problem):
        """The objective, made as a fit makes it."""
        blocks = split_rows(problem.X, DenseTarget(problem.y), np.ones(len(problem.y)))
        loss, l2 = FenchelYoungLoss(Sigmoid()), 1 / (self.C * len(problem.y))
        return LinearObjective(blocks, loss, l2=l2)

    def run(self, problem, limit, tuning):
        """(seconds, passes) of the whole fit, at both levels.

        Groups of labels are minimised one after another, so that the whole objective is
        near its minimum only at the end.
        """
        started, objective = time.process_time(), self.objective(problem)
        options = {"tol": 1e-4, "max_iter": 1000, "tuning": tuning}
        assert solve(objective, objective.initial(), **options).converged
        return [(time.process_time() - started, objective.passes)] * len(LEVELS)


class SearchCase:
    """A search by EntmaxClassifierCV."""

    levels = ("search",)

    def __init__(self, name):
        self.name = f"search: {name}"
        self.problem = search_problems()[name]()

    def is_changed_by(self, heuristic):
        """Whether it may do anything here."""
        return heuristic.in_search

    def run(self, problem, limit, tuning):
        """(seconds, passes) of all; there is no limit, and the tuning is in force."""
        passes = []
        model = EntmaxClassifierCV(ALPHAS, STRENGTHS, cv=FOLDS, scoring=BrierScorer())
        count = patch.object(MeanLoss, "count", lambda self, n: passes.append(n))
        with warnings.catch_warnings(), count:
            warnings.simplefilter("ignore", ConvergenceWarning)
            started = time.process_time()
            model.fit(problem.X, problem.y)
            return [(time.process_time() - started, sum(passes))]


def main():
    options = parse_arguments()
    print(environment(skprob), flush=True)
    started, logs = time.perf_counter(), {}
    gc.collect()
    gc.freeze()
    with threadpool_limits(1):
        for case in cases(options):
            logs |= measure(case, options)
            rows = table(logs)
            if options.save_table:
                save(options.save_table, rows)
            print(f"{case.name}: {time.perf_counter() - started:.0f} s", flush=True)
    print("\n" + as_markdown(HEADER, rows))


def parse_arguments():
    names = [*problems(), *MORE, LABELS, *(f"search: {name}" for name in DATA)]
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


def cases(options):
    for name in options.problems:
        if name.startswith("search: "):
            yield SearchCase(name.removeprefix("search: "))
            continue
        if name == LABELS:
            yield LabelCase(name)
            continue
        for alpha, C in GRID:
            if (name, alpha, C) not in LEFT_OUT:
                yield FitCase(name, alpha, C, options.optima)


def measure(case, options):
    """Logarithms of ratios (seconds, passes), a pair for each round.

    By heuristic, level and case; those that may change nothing have none.
    """
    acting = [h for h in HEURISTICS if h.name in options.heuristics]
    logs = {(h.name, at, case.name): [] for h in acting for at in case.levels}
    acting = [h for h in acting if case.is_changed_by(h)]
    run(case, case.problem, UNCHANGED)
    for number in range(options.rounds):
        problem = in_order(case.problem, number)
        for i, heuristic in enumerate(acting):
            if i % SHARED == 0:
                usual = run(case, problem, UNCHANGED)
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


def run(case, problem, without, limit=math.inf):
    gc.collect()
    with without.in_force() as tuning:
        costs = [case.run(problem, limit, tuning)]
        n_more = min(SECONDS / costs[0][-1][0], MOST_REPEATS) - 1
        costs += [case.run(problem, limit, tuning) for _ in range(math.ceil(n_more))]
        return np.min(costs, axis=0)


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
    (slow, _), fine, search = (means.get(at, none) for at in (*LEVELS, "search"))
    figures = (f"{ratio:.2f}".replace("nan", "") for ratio in (slow, *fine, *search))
    n_cases = len({case for _, case in mean})
    return [n_cases, *figures, *extremes, "yes" if pays else "no"]


def save(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])


if __name__ == "__main__":
    main()
