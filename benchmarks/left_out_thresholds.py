"""Thresholds by leave-one-out and by three folds: ``python left_out_thresholds.py``.

A default `SigmoidClassifier` chooses the threshold "micro" by approximate leave-one-out
predictions where columns are few. ``set_threshold("micro", X, Y, cv=3)`` chooses it by
fits to three folds. Each repetition draws as many rows as the training file of the set
has, and both rules are compared by the micro-F1 of the other rows, in per cent. The
standard error is over the repetitions, whose rows overlap. ``SKPROB_DATA`` names the
folder with the data, ``--save`` a file for the table.
"""

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np
from _multilabel_data import splits
from sklearn.metrics import f1_score

from skprob import SigmoidClassifier

SETS = ["emotions", "scene", "yeast", "birds", "cal500"]
HEADER = ["data", "columns", "leave-one-out", "three folds", "difference"]


def measure(name, n_repeats):
    """A line of the table."""
    X_train, X_test, Y_train, Y_test = next(iter(splits(name)))
    X, Y = np.vstack([X_train, X_test]), np.vstack([Y_train, Y_test])
    scores = []
    for seed in range(n_repeats):
        order = np.random.default_rng(seed).permutation(len(X))
        train, test = np.split(order, [len(X_train)])
        labels = Y[train].any(axis=0)
        y, y_test = Y[train][:, labels], Y[test][:, labels]
        model = SigmoidClassifier().fit(X[train], y)
        pair = [f1_score(y_test, model.predict(X[test]), average="micro")]
        model.set_threshold("micro", X[train], y, cv=3)
        pair.append(f1_score(y_test, model.predict(X[test]), average="micro"))
        scores.append(pair)
    scores = 100 * np.array(scores)
    gain = scores[:, 0] - scores[:, 1]
    error = gain.std(ddof=1) / np.sqrt(n_repeats)
    means = [f"{mean:.1f}" for mean in scores.mean(axis=0)]
    return [name, X.shape[1], *means, f"{gain.mean():+.1f} ± {error:.1f}"]


def main():
    """Measure, print and perhaps save."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--save", type=Path)
    args = parser.parse_args()
    lines = [HEADER]
    with warnings.catch_warnings(action="ignore"):
        for name in args.sets:
            lines.append(measure(name, args.repeats))
            print(*lines[-1], sep=", ", flush=True)
    if args.save:
        with args.save.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    main()
