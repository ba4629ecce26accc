"""EntmaxClassifierCV and GridSearchCV(EntmaxClassifier()) over the same grid.

Both search five values of alpha and ten of C by the Brier score on the same five
folds, refit the chosen pair, and use one process and one thread. They are timed in
turn; the table has the median processor seconds and their ratio. The errors of both are
differences from a search with a tolerance of 1e-4 times theirs: the largest error of
the 250 scores, and the difference between the mean score of the chosen pair and the
best one. The last column is the chosen pair, or both pairs if they differ.

    python benchmarks/search.py [--quick] [--tol 1e-4] [--save-table PATH]
"""

import argparse
import time
import warnings

import numpy as np
import sklearn
from _problems import Problem
from _problems import problems as shared_problems
from _report import as_markdown, environment, interleaved, save_text
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import scale
from threadpoolctl import threadpool_limits

import skprob
from skprob import EntmaxClassifier, EntmaxClassifierCV
from skprob.metrics import BrierScorer

ALPHAS = [1, 1.25, 1.5, 1.75, 2]
STRENGTHS = np.logspace(-4, 4, 10)
FOLDS = StratifiedKFold(5)
DATA = ["iris", "wine, raw", "wine, scaled", "breast cancer, raw"]
DATA += ["breast cancer, scaled", "5000 x 50, 5 classes"]
# Factor of the tolerance, for the search that the others are compared with.
TIGHTER = 1e-4
HEADER = ["data", "path (s)", "grid (s)", "ratio"]
HEADER += ["path's error", "grid's error", "path's loss", "grid's loss", "chosen"]


def problems():
    """Functions that load a problem, by name."""

    def small(load, change=lambda X: X):
        X, y = load(return_X_y=True)
        return Problem(np.ascontiguousarray(change(X)), y)

    def easy():
        return Problem(
            *make_classification(
                5000, n_features=50, n_informative=20, n_classes=5, random_state=0
            )
        )

    return shared_problems() | {
        "iris": lambda: small(load_iris),
        "wine, raw": lambda: small(load_wine),
        "wine, scaled": lambda: small(load_wine, scale),
        "breast cancer, scaled": lambda: small(load_breast_cancer, scale),
        "5000 x 50, 5 classes": easy,
    }


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
        exact = clone(path).set_params(tol=TIGHTER * tol, refit=False)
        exact = exact.fit(problem.X, problem.y).scores_
    splits = [grid.cv_results_[f"split{i}_test_score"] for i in range(5)]
    # It goes through the parameters in alphabetical order, and "C" comes first.
    scores = np.reshape(splits, (5, len(STRENGTHS), len(ALPHAS))).transpose(0, 2, 1)
    chosen = [
        (path.alpha_, path.C_),
        (grid.best_params_["alpha"], grid.best_params_["C"]),
    ]
    mean = exact.mean(axis=0)
    losses = [
        mean.max() - mean[ALPHAS.index(alpha), np.argmin(np.abs(STRENGTHS - C))]
        for alpha, C in chosen
    ]
    return [
        name,
        f"{seconds['path']:.2f}",
        f"{seconds['grid']:.2f}",
        f"{seconds['grid'] / seconds['path']:.2f}",
        *(f"{np.abs(results - exact).max():.1e}" for results in (path.scores_, scores)),
        *(f"{loss:.1e}" for loss in losses),
        " and ".join(dict.fromkeys(f"α={alpha:g}, C={C:.3g}" for alpha, C in chosen)),
    ]


if __name__ == "__main__":
    main()
