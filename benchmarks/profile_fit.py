"""Time of each part of a fit, by problem.

The functions of softmax's default fit are timed, with BLAS on one thread. The table has
medians of several fits, in per cent of the whole fit. The time of a part does not
include the parts inside it.

    python benchmarks/profile_fit.py --save-table docs/measurements/fit_profile.txt
"""

import argparse
from collections import Counter, defaultdict
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from time import perf_counter
from unittest.mock import patch

from _problems import problems
from _report import as_markdown, environment, save_text
from threadpoolctl import threadpool_limits

import skprob
from skprob import SoftmaxClassifier
from skprob.linear_model.fit import _in_turn, _run
from skprob.objective import LinearObjective, LinearPoint
from skprob.objective._linear_point import LinearRay
from skprob.objective.little import LittlePoint, LittleRay
from skprob.solvers import _coordinates, _newton_cholesky
from skprob.solvers.newton import _newton_cg

# Functions that are timed, by part of the fit.
PARTS = {
    "set-up": [(LinearObjective, "__init__")],
    "evaluations": [
        (LinearObjective, "at"),
        (LinearObjective, "value_and_gradient"),
        (LinearRay, "arrive"),
        (LittleRay, "arrive"),
    ],
    "line searches": [
        (LinearPoint, "along"),
        (LittlePoint, "along"),
        (LinearRay, "trial"),
        (LittleRay, "trial"),
    ],
    "Hessian products": [(LinearPoint, "hessian_product")],
    "Gram and Hessian matrices": [
        (LinearPoint, "sandwiches"),
        (LinearPoint, "hessian"),
        (LittlePoint, "hessian"),
        (LinearPoint, "curvature_moments"),
        (_coordinates.Whitening, "__init__"),
        (_newton_cholesky, "dposv"),
    ],
    "preconditioner": [
        (cls, name)
        for cls in (_coordinates.Whitening, _coordinates.Scaling)
        for name in ("to_parameters", "gradient")
    ],
    "conjugate gradients": [(_newton_cg, "conjugate_gradients")],
    "duality gap": [(LinearObjective, "duality_gap")],
    "rest of the solver": [(_run, "solve"), (_in_turn, "solve_in_turn")],
    "checks of the input": [(SoftmaxClassifier, "fit")],
}
N_FITS = 7
# Seconds after which no further fit begins.
SECONDS_ENOUGH = 20


class Stopwatch:
    """Seconds and calls of each part, without those of the parts inside it."""

    def __init__(self):
        self.seconds, self.calls = defaultdict(float), Counter()
        self._inside = [0.0]

    def timed(self, part, function):
        """The function, timed."""

        def wrapper(*args, **kwargs):
            self._inside.append(0.0)
            start = perf_counter()
            result = function(*args, **kwargs)
            elapsed = perf_counter() - start
            self.seconds[part] += elapsed - self._inside.pop()
            self._inside[-1] += elapsed
            self.calls[part] += 1
            return result

        return wrapper


def main():
    options = parse_arguments()
    rows = [profile(name, options.C, options.tol) for name in options.problems]
    header = ["problem", "ms", *(f"{part}, %" for part in PARTS)]
    header += ["evaluations", "products"]
    table = as_markdown(header, rows)
    print(environment(skprob), table, sep="\n\n")
    if options.save_table:
        save_text(options.save_table, table)


def parse_arguments():
    names = list(problems())
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--problems", nargs="+", choices=names, default=names, metavar="NAME"
    )
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--tol", type=float, default=1e-4)
    parser.add_argument("--save-table", type=Path, metavar="TEXT")
    return parser.parse_args()


def profile(name, C, tol):
    """A row of the table."""
    problem = problems()[name]()
    model = SoftmaxClassifier(C=C, tol=tol, fit_intercept=problem.fit_intercept)
    shares, totals = defaultdict(list), []
    with threadpool_limits(1):
        model.fit(problem.X, problem.y)
        started = perf_counter()
        for _ in range(N_FITS):
            if totals and perf_counter() - started > SECONDS_ENOUGH:
                break
            watch = Stopwatch()
            with ExitStack() as stack:
                for part, functions in PARTS.items():
                    for owner, function in functions:
                        timed = watch.timed(part, getattr(owner, function))
                        stack.enter_context(patch.object(owner, function, timed))
                model.fit(problem.X, problem.y)
            total = sum(watch.seconds.values())
            totals.append(total)
            for part in PARTS:
                shares[part].append(100 * watch.seconds[part] / total)
    percents = [f"{median(shares[part]):.0f}" for part in PARTS]
    counts = [watch.calls[part] for part in ("evaluations", "Hessian products")]
    return [name, f"{1e3 * median(totals):.3g}", *percents, *counts]


if __name__ == "__main__":
    main()
