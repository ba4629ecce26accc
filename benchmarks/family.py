"""Every classifier of the family, tuned, on digits and on letters.

The classifiers are all those of the package. C and the parameters in `GRIDS` are chosen
by the Brier score on a validation split of the training rows. The chosen model is
fitted to all training rows and measured on the test rows. An exclamation mark at a
chosen value means that it is at the end of its grid, so there may be better ones beyond
it. Only the fit is timed, on one thread. An asterisk at its number of steps means that
the solver did not converge.

Digits come with scikit-learn. Letters are read from ``letter.npz`` in the folder that
SKPROB_DATA names, and left out if it names none.

    python benchmarks/family.py --save-table family.csv --save-plot family.png
"""

import argparse
import csv
import os
import platform
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

import numpy as np
import scipy
import sklearn
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, ShuffleSplit, train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import skprob
from skprob import LinearClassifier
from skprob.mappings import MAPPINGS
from skprob.metrics import BrierScorer, SupportSizeScorer

STRENGTHS = [0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4, np.inf]
#: Grids of other parameters that are searched together with C. (A temperature has about
#: the effect of C, and is not searched.)
GRIDS = {
    "AMSoftmaxClassifier": [
        {
            "margin": [0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75],
            "temperature": [0.003, 0.01, 0.03, 0.1, 0.3],
        }
    ],
    "EntmaxClassifier": [{"alpha": [1, 1.1, 1.25, 1.5, 1.75, 2, 2.5]}],
    "PerturbMaxClassifier": [{"noise": ["normal", "laplace", "uniform"]}],
    "SparseSoftmaxClassifier": [
        {"k": [1, 2, 5, 10, 20, 30]},
        {"p": [0.5, 0.8, 0.9, 0.99, 1]},
    ],
    "TaylorSoftmaxClassifier": [{"order": [2, 4, 8, 16, 30]}],
}
#: Ends of the grids that are also ends of the range: no penalty, softmax, all classes.
LAST = {
    "C": [np.inf],
    "alpha": [1],
    "k": [1, 30],
    "margin": [0],
    "order": [2, 30],
    "p": [1],
}
# More rows would change the time of the search and not its choice.
MAX_TUNING_ROWS = 3000
# Seconds for which a fit is repeated.
SECONDS = 10


class Effort(NamedTuple):
    """How much is done."""

    max_rows: int | None = None
    max_iter: int = 300
    max_fits: int = 3


QUICK = Effort(max_rows=200, max_iter=30, max_fits=1)


class Row(NamedTuple):
    """A line of the table."""

    data: str
    classifier: str
    accuracy: float
    brier: float
    support: float
    fit_seconds: float
    slowest_fit: float
    n_fits: int
    steps: int
    converged: bool
    chosen: str


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few rows, steps and fits")
    parser.add_argument("--jobs", type=int, default=2, help="processes that search")
    parser.add_argument("--save-table", type=Path, metavar="CSV")
    parser.add_argument("--save-plot", type=Path, metavar="IMAGE")
    options = parser.parse_args()
    effort = QUICK if options.quick else Effort()

    started = perf_counter()
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}, numpy {np.__version__}, scipy "
        f"{scipy.__version__}, scikit-learn {sklearn.__version__}, skprob "
        f"{skprob.__version__}; fits on one thread, median of up to {effort.max_fits}"
    )
    rows = []
    for data, load in data_sets().items():
        split = standardised(*load(), effort.max_rows)
        print(f"\n{data}: {len(split[0])} rows to fit, {len(split[1])} to test\n")
        print_line(HEADINGS)
        for name, classifier in classifiers().items():
            classifier.set_params(max_iter=effort.max_iter)
            row = measured(data, name, classifier, split, effort.max_fits, options.jobs)
            rows.append(row)
            print_line(cells(row))
    print(f"\nAll of it took {perf_counter() - started:.0f} seconds.")
    if options.save_table:
        save_table(rows, options.save_table)
    if options.save_plot:
        save_plot(rows, options.save_plot)


def data_sets() -> dict[str, Callable]:
    """Functions that load X_train, X_test, y_train, y_test, by name."""
    results = {"digits": digits}
    if os.environ.get("SKPROB_DATA"):
        results["letter"] = letter
    return results


def digits():
    X, y = load_digits(return_X_y=True)
    return train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)


def letter():
    with np.load(Path(os.environ["SKPROB_DATA"]) / "letter.npz") as file:
        return [file[key] for key in ("X_train", "X_test", "y_train", "y_test")]


def standardised(X_train, X_test, y_train, y_test, max_rows):
    """Features of mean 0 and variance 1, with at most `max_rows` rows to fit."""
    X_train, y_train = X_train[:max_rows], y_train[:max_rows]
    scaler = StandardScaler().fit(X_train.astype(float))
    X_test = scaler.transform(X_test.astype(float))
    return scaler.transform(X_train.astype(float)), X_test, y_train, y_test


def classifiers():
    """All that the package has: its classifiers, and mappings that have none."""
    results = {"LogisticRegression": LogisticRegression()}
    for name in skprob.__all__:
        member = getattr(skprob, name)
        is_classifier = isinstance(member, type) and issubclass(member, ClassifierMixin)
        if is_classifier and "CV" not in name and member is not LinearClassifier:
            results[name] = member()
    for name, mapping in MAPPINGS.items():
        if f"{mapping.__name__}Classifier" not in results:
            results[f"LinearClassifier({name!r})"] = LinearClassifier(name)
    return results


def measured(data, name, classifier, split, max_fits, n_jobs):
    """Tune, fit, test."""
    X_train, X_test, y_train, y_test = split
    grids = [dict(grid) for grid in GRIDS.get(name, [{}])]
    if "C" in classifier.get_params():
        grids = [grid | {"C": STRENGTHS} for grid in grids]
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore", ConvergenceWarning)
        best = best_parameters(classifier, grids, X_train, y_train, n_jobs)
        chosen = classifier.set_params(**best)
        warnings.simplefilter("always", ConvergenceWarning)
        seconds = []
        while len(seconds) < max_fits and sum(seconds) < SECONDS:
            start = perf_counter()
            chosen.fit(X_train, y_train)
            seconds.append(perf_counter() - start)
    return Row(
        data=data,
        classifier=name,
        accuracy=accuracy_score(y_test, chosen.predict(X_test)),
        brier=-BrierScorer()(chosen, X_test, y_test),
        support=abs(SupportSizeScorer()(chosen, X_test, y_test)),
        fit_seconds=median(seconds),
        slowest_fit=max(seconds),
        n_fits=len(seconds),
        steps=int(np.max(chosen.n_iter_)),
        converged=not caught,
        chosen=", ".join(
            f"{key}={value}{'!' * is_at_an_end(key, value, grids)}"
            for key, value in best.items()
        ),
    )


def best_parameters(classifier, grids, X, y, n_jobs):
    """The parameters with the best Brier score on a part held out."""
    n_rows = min(len(X), MAX_TUNING_ROWS)
    split = ShuffleSplit(
        1, train_size=n_rows * 3 // 4, test_size=n_rows // 4, random_state=0
    )
    search = GridSearchCV(
        classifier, grids, scoring=BrierScorer(), cv=split, n_jobs=n_jobs, refit=False
    )
    return search.fit(X, y).best_params_


def is_at_an_end(name, value, grids):
    """Whether a chosen number is the least or largest that was tried, for no reason."""
    tried = [number for grid in grids for number in grid.get(name, [])]
    if isinstance(value, str) or value in LAST.get(name, []):
        return False
    return value in (min(tried), max(tried))


HEADINGS = ["classifier", "accuracy", "Brier", "support", "fit (s)", "steps", "chosen"]
WIDTHS = [45, 8, 7, 7, 14, 5, 0]


def cells(row):
    """The cells of a row that are printed."""
    seconds = f"{row.fit_seconds:.2f} (≤{row.slowest_fit:.2f})"
    return [
        row.classifier,
        f"{row.accuracy:.4f}",
        f"{row.brier:.4f}",
        f"{row.support:.2f}",
        seconds,
        f"{row.steps}{'' if row.converged else '*'}",
        row.chosen,
    ]


def print_line(texts):
    name, *numbers, chosen = texts
    aligned = zip(numbers, WIDTHS[1:], strict=False)
    numbers = "  ".join(f"{text:>{width}}" for text, width in aligned)
    print(f"{name:{WIDTHS[0]}}{numbers}  {chosen}", flush=True)


def save_table(rows, path):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(Row._fields)
        writer.writerows(rows)


def save_plot(rows, path):
    """Brier score against mean support, a panel for each data set."""
    from matplotlib import pyplot as plt

    names = list(dict.fromkeys(row.data for row in rows))
    _, axes = plt.subplots(
        1,
        len(names),
        squeeze=False,
        figsize=(6 * len(names), 4.5),
        layout="constrained",
    )
    for ax, name in zip(axes.flat, names, strict=True):
        for i, row in enumerate(row for row in rows if row.data == name):
            marker = "osD^v"[i // 10 % 5]
            ax.plot(row.support, row.brier, marker, label=row.classifier)
        ax.set(title=name, xlabel="mean support", ylabel="Brier score", xscale="log")
    ax.legend(fontsize="x-small")
    plt.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
