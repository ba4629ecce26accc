"""C="loo" compared with C="auto", a search over 10 folds and true leave-one-out.

    SKPROB_DATA=folder python benchmarks/leave_one_out.py --save docs/measurements

The data, the splits and the scaling are those of `automatic_penalty.py`: official
splits where there are any, else three folds, of which means are shown; at most 3,000
rows for training. Scores of labels and distributions are Brier scores (less is better),
those of label sets micro-F1 with the default threshold (more is better). The search is
`EntmaxClassifierCV` over the same ten values of C, by the Brier score; it is left out
for label sets, and true leave-one-out for all but three small data sets. Columns of C
have the number in the grid, 0 to 9 from the strongest penalty to the weakest, in the
first split; "auto" is between 4 and 5. Times are CPU seconds of a fit in the first
split, the median of up to five, in turn.
"""

import argparse
import csv
import time
import warnings
from pathlib import Path

import numpy as np
from _report import as_markdown, environment, interleaved
from automatic_penalty import brier, folds_of, micro_f1, problems
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import skprob
from skprob import EntmaxClassifier, EntmaxClassifierCV
from skprob.metrics import BrierScorer

ALPHAS = 1.0, 1.5, 2.0
#: Data for which every row is left out, one after the other.
SMALL = {"iris", "wine", "breast cancer"}
HEAD = [
    *("data", "alpha", "C, loo", "C, 10 folds", "C, true"),
    *("score, auto", "score, loo", "score, 10 folds"),
    *("time, auto", "time, loo", "time, 10 folds"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--save", type=Path, metavar="FOLDER")
    parser.add_argument("--data", nargs="*", help="only these")
    options = parser.parse_args()
    print(environment(skprob))
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", UserWarning)
    rows = []
    with threadpool_limits(1):
        for name, kind, folds in data():
            if options.data and name not in options.data:
                continue
            for alpha in ALPHAS:
                rows.append(compared(name, kind, folds, alpha))
                print(*rows[-1], sep=", ", flush=True)
    print("\n" + as_markdown(HEAD, rows))
    if options.save:
        with (options.save / "leave_one_out.csv").open("w", newline="") as file:
            csv.writer(file).writerows([HEAD, *rows])


def data():
    """Names, kinds of target and lists of splits."""
    X, y = load_breast_cancer(return_X_y=True)
    bundled = [("breast cancer", "labels", folds_of(X, y))]
    others = [
        (name, kind, folds)
        for name, kind, folds, _ in problems()
        if "," not in name  # Neither texts nor the same data in other units.
    ]
    return sorted(bundled + others, key=lambda case: case[1] == "sets")


def compared(name, kind, folds, alpha):
    """A row of the table."""
    search = EntmaxClassifierCV([alpha], cv=10, scoring=BrierScorer())
    models = {
        "auto": EntmaxClassifier(alpha),
        "loo": EntmaxClassifier(alpha, C="loo"),
        "10 folds": search,
    }
    if kind == "sets":
        del models["10 folds"]
    measure = micro_f1 if kind == "sets" else brier
    scores, numbers = {}, {}
    for label, model in models.items():
        results = []
        for X, y, X_test, y_test in folds:
            if label == "10 folds":
                model.set_params(Cs=models["loo"].Cs_)
            model.fit(X, y)
            results.append(measure(model, X_test, y_test))
            if label != "auto" and label not in numbers:
                numbers[label] = int(np.argmin(abs(np.ravel(model.Cs_) - model.C_)))
        scores[label] = f"{np.mean(results):.4f}"
    X, y = folds[0][:2]
    calls = {
        label: lambda model=model: model.fit(X, y) for label, model in models.items()
    }
    seconds = interleaved(calls, 5, seconds=30, clock=time.process_time)
    true = "–"
    if name in SMALL:
        true = true_choice(X, y, alpha, models["loo"].fit(X, y).Cs_)
    shown = [f"{value:.2g}" for value in seconds.values()]
    return [
        *(name, f"{alpha:g}", numbers["loo"], numbers.get("10 folds", "–"), true),
        *(scores["auto"], scores["loo"], scores.get("10 folds", "–")),
        *(*shown, *["–"] * (3 - len(shown))),
    ]


def true_choice(X, y, alpha, Cs):
    """Number of the C with the best score of models that are fitted without a row."""
    target, totals = np.eye(y.max() + 1)[y], []
    for C in Cs:
        model = EntmaxClassifier(alpha, C=C, tol=1e-6, max_iter=10**4)
        p = np.empty(target.shape)
        for i in range(len(X)):
            remaining = np.arange(len(X)) != i
            p[i] = model.fit(X[remaining], y[remaining]).predict_proba(X[[i]])[0]
        with np.errstate(divide="ignore"):
            is_log = alpha == 1
            loss = -np.log(p[target > 0]) if is_log else np.square(p - target).sum(1)
        totals.append(loss.mean())
    return int(np.argmin(totals))


if __name__ == "__main__":
    main()
