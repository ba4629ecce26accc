"""One fit, or one for each label: ``python one_vs_rest.py``.

`SigmoidClassifier` and `OneVsRestClassifier` of `LogisticRegression` minimise the same
objective, at C = 1. The time is that of the quickest of several tolerances that reaches
a suboptimality, relative to a tightly solved optimum, of 1e-3 and of 1e-6; medians of
processor time with one thread, both sides in turns. ``SKPROB_DATA`` names the folder
with the data, ``--sets`` some of the sets, ``--save`` a file for the table.
"""

import argparse
import statistics
import warnings
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np
from _multilabel_data import splits
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from threadpoolctl import threadpool_limits

from skprob import SigmoidClassifier

SETS = ["emotions", "scene", "yeast", "reuters21578_modapte90", "bibtex"]
TOLERANCES = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7]
TARGETS = [1e-3, 1e-6]


def one_fit(tol):
    """Ours, without a threshold that takes further fits."""
    return SigmoidClassifier(C=1.0, tol=tol, threshold=0.5, max_iter=10_000)


def one_a_label(tol):
    """Theirs, with the solver that is the quickest of theirs on most of the data."""
    return OneVsRestClassifier(LogisticRegression(tol=tol, max_iter=100_000))


def coefficients(model):
    """Coefficients and intercepts of all labels."""
    if isinstance(model, SigmoidClassifier):
        return model.coef_, model.intercept_
    parts = model.estimators_
    return np.vstack([m.coef_ for m in parts]), np.hstack([m.intercept_ for m in parts])


def objective(X, Y, model):
    """The mean loss of all labels plus the penalty, of either model."""
    coef, intercept = coefficients(model)
    scores = np.asarray(X @ coef.T) + intercept
    loss = np.logaddexp(0, scores) - Y * scores
    return (loss.sum() + np.sum(coef**2) / 2) / X.shape[0]


def seconds(function):
    """Processor time of a call, and its result."""
    start = process_time()
    result = function()
    return process_time() - start, result


def quickest(make, X, Y, best, target):
    """The loosest tolerance that reaches a target; None if none does."""
    for tol in TOLERANCES:
        model = make(tol).fit(X, Y)
        if objective(X, Y, model) <= best * (1 + target):
            return model, tol
    return None, None


def median_in_turns(functions, n_rounds):
    """Median times of functions that take turns."""
    times = [[] for _ in functions]
    for _ in range(n_rounds):
        for of_function, function in zip(times, functions, strict=True):
            of_function.append(seconds(function)[0])
    return [statistics.median(of_function) for of_function in times]


def measure(name, n_rounds):
    """Ratios of theirs to ours for each target, and that of predictions."""
    X, X_test, Y, _ = next(iter(splits(name)))
    best = objective(X, Y, one_fit(1e-9).fit(X, Y))
    row, makers = [], (one_fit, one_a_label)
    for target in TARGETS:
        results = [quickest(make, X, Y, best, target) for make in makers]
        if any(model is None for model, _ in results):
            row.append((float("nan"), float("nan")))
            continue
        fits = [
            partial(make(tol).fit, X, Y)
            for make, (_, tol) in zip(makers, results, strict=True)
        ]
        row.append(median_in_turns(fits, n_rounds))
    models = [make(1e-3).fit(X, Y) for make in makers]
    predictions = [partial(model.predict_proba, X_test) for model in models]
    row.append(median_in_turns(predictions, 5 * n_rounds))
    return X.shape, Y.shape[1], row


def main():
    """Measure, print and perhaps save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--save", type=Path)
    args = parser.parse_args()
    lines = [
        "data                     rows x columns  labels"
        "   fit to 1e-3   fit to 1e-6   predict"
    ]
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        for name in args.sets:
            shape, n_labels, row = measure(name, args.repeats)
            ratios = "  ".join(f"{theirs / ours:12.1f}" for ours, theirs in row)
            size = f"{shape[0]} x {shape[1]}"
            lines.append(f"{name:24s} {size:>14s}  {n_labels:6d}  {ratios}")
            print(lines[-1], flush=True)
    table = "\n".join(lines) + "\n"
    print(f"\nTimes of theirs in units of ours:\n{table}")
    if args.save:
        args.save.write_text(table)


if __name__ == "__main__":
    main()
