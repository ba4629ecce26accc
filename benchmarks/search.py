"""EntmaxClassifierCV beside GridSearchCV(EntmaxClassifier()) over the same grid.

Both search five values of alpha and ten of C by the Brier score on the same five
folds, refit the chosen pair, and use one process and one thread. They are timed in
turn; the table has the median seconds of the processor, the ratio, the largest
difference between two scores, which is a matter of the tolerance, and the pairs that
were chosen.

    python benchmarks/search.py [--quick] [--tol 1e-4] [--save-table PATH]
"""

import argparse
import time
import warnings

import numpy as np
import sklearn
from _problems import problems
from _report import as_markdown, environment, interleaved, save_text
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from threadpoolctl import threadpool_limits

import skprob
from skprob import EntmaxClassifier, EntmaxClassifierCV
from skprob.metrics import BrierScorer

ALPHAS = [1, 1.25, 1.5, 1.75, 2]
STRENGTHS = np.logspace(-4, 4, 10)
FOLDS = StratifiedKFold(5)
DATA = ["digits, scaled", "breast cancer, raw", "pendigits"]
HEADER = ["data", "path (s)", "grid (s)", "ratio", "scores differ by", "chosen"]


def main():
    options = parse_arguments()
    print(environment(sklearn, skprob))
    rows = []
    for name in options.problems:
        rows.append(compare(name, options.tol, options.repeats))
        print(", ".join(rows[-1]), flush=True)
    table = as_markdown(HEADER, rows)
    print("\n" + table)
    if options.save_table:
        save_text(options.save_table, table)


def parse_arguments():
    at_hand = list(problems())
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="breast cancer, once")
    parser.add_argument("--problems", nargs="+", choices=at_hand, metavar="NAME")
    parser.add_argument("--tol", type=float, default=1e-4)
    parser.add_argument("--repeats", type=int, default=1, help="rounds (default: 1)")
    parser.add_argument("--save-table", metavar="PATH", help="Markdown file")
    options = parser.parse_args()
    if options.quick:
        options.problems, options.repeats = ["breast cancer, raw"], 1
    options.problems = options.problems or [name for name in DATA if name in at_hand]
    return options


def compare(name, tol, repeats):
    """Cells of a row of the table."""
    problem = problems()[name]()
    path = EntmaxClassifierCV(
        ALPHAS, STRENGTHS, cv=FOLDS, scoring=BrierScorer(), tol=tol
    )
    grid = GridSearchCV(
        EntmaxClassifier(tol=tol),
        {"alpha": ALPHAS, "C": STRENGTHS},
        cv=FOLDS,
        scoring=BrierScorer(),
    )
    searches = {"path": path, "grid": grid}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        seconds = interleaved(
            {
                key: lambda search=search: search.fit(problem.X, problem.y)
                for key, search in searches.items()
            },
            repeats,
            clock=time.process_time,
        )
    splits = [grid.cv_results_[f"split{i}_test_score"] for i in range(5)]
    # It goes through the parameters in alphabetical order, and "C" comes first.
    scores = np.reshape(splits, (5, len(STRENGTHS), len(ALPHAS))).transpose(0, 2, 1)
    chosen = [
        (path.alpha_, path.C_),
        (grid.best_params_["alpha"], grid.best_params_["C"]),
    ]
    return [
        name,
        f"{seconds['path']:.2f}",
        f"{seconds['grid']:.2f}",
        f"{seconds['grid'] / seconds['path']:.2f}",
        f"{np.abs(scores - path.scores_).max():.1e}",
        " and ".join(dict.fromkeys(f"α={alpha:g}, C={C:.3g}" for alpha, C in chosen)),
    ]


if __name__ == "__main__":
    main()
