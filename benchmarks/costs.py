"""Costs in prediction and in training, on eight tasks where errors differ in cost.

    SKPROB_DATA=... python benchmarks/costs.py --save docs/measurements

The first three sets are scikit-learn's, in ten folds; the others are split by their
sources (movie at random), and of each at most 2,000 training rows are used. For each
method, C and the scale of the margins are chosen by the cost over three folds of the
training rows; there SoftmaxClassifier, which has the same minimum, replaces
LogisticRegression. The first column is the mean cost of the test rows by
LogisticRegression and the rule of least expected cost. The others are differences to
it, with standard errors over the rows.
"""

import argparse
import csv
import os
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from skprob import EntmaxClassifier, SoftmaxClassifier, SparsemaxClassifier
from skprob.decision import LeastCost

MOST_ROWS = 2000
CS = [0.01, 0.1, 1.0, 10.0, 100.0]
#: Scales of the margins, in units of the mean cost of an error.
SCALES = [0.5, 2.0]
BASELINE = "LogisticRegression, least cost"
#: The classifier, and whether costs are used in training and in prediction.
METHODS = {
    BASELINE: (SoftmaxClassifier, False, True),
    "LogisticRegression": (SoftmaxClassifier, False, False),
    "1.5-entmax, least cost": (EntmaxClassifier, False, True),
    "softmax with margins": (SoftmaxClassifier, True, False),
    "1.5-entmax with margins": (EntmaxClassifier, True, False),
    "sparsemax with margins": (SparsemaxClassifier, True, False),
    "softmax with margins, least cost": (SoftmaxClassifier, True, True),
}


def distances(n_classes, power=1):
    """Costs that grow with the distance of two classes that are in order."""
    position = np.arange(n_classes)
    return abs(position[:, None] - position).astype(float) ** power


def cancer():
    """A missed malignant tumour, class 0, costs as much as ten false alarms."""
    X, y = load_breast_cancer(return_X_y=True)
    return in_folds(X, y, np.array([[0.0, 10.0], [1.0, 0.0]]))


def diabetes():
    """Progress in five groups; a group too low costs twice as much as one too high."""
    X, progress = load_diabetes(return_X_y=True)
    y = np.searchsorted(np.quantile(progress, [0.2, 0.4, 0.6, 0.8]), progress)
    costs = distances(5)
    return in_folds(X, y, costs + np.tril(costs))


def digits():
    """The cost of an error is the difference of the digits."""
    return in_folds(*load_digits(return_X_y=True), distances(10))


def pendigits():
    """As digits."""
    return [(*split("pendigits"), distances(10))]


def mnist():
    """As digits."""
    X, y, X_test, y_test = split("mnist")
    return [(X / 255, y, X_test / 255, y_test, distances(10))]


def letter():
    """A vowel for a consonant, or the reverse, costs five other errors."""
    vowel = np.isin(np.arange(26), [0, 4, 8, 14, 20])
    costs = np.where(vowel[:, None] == vowel, 1.0, 5.0)
    np.fill_diagonal(costs, 0)
    X, y, X_test, y_test = split("letter")
    return [(X, y - y.min(), X_test, y_test - y.min(), costs)]


def news():
    """A group on another subject costs five times one on the same."""
    names = arrays("news20_bydate")["label_names"]
    subject = np.array([str(name).split(".")[0] for name in names])
    costs = np.where(subject[:, None] == subject, 1.0, 5.0)
    np.fill_diagonal(costs, 0)
    return [(*split("news20_bydate"), costs)]


def movie():
    """The most frequent rating of a film, of five; squared errors."""
    file = arrays("ldl_movie")
    pieces = (file[f"X_{piece}"] for piece in ("data", "indices", "indptr"))
    X = sparse.csr_array(tuple(pieces), file["X_shape"]).astype(float)
    y = file["D"].argmax(axis=1)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:MOST_ROWS], order[MOST_ROWS:]
    return [(X[train], y[train], X[test], y[test], distances(5, 2))]


TASKS = (cancer, diabetes, digits, pendigits, mnist, letter, news, movie)


def arrays(name):
    with np.load(Path(os.environ["SKPROB_DATA"]) / f"{name}.npz") as file:
        return dict(file)


def split(name):
    """At most `MOST_ROWS` training rows and the test rows, split by the source."""
    file, results = arrays(name), []
    for part in ("train", "test"):
        if f"X_{part}" in file:
            X = file[f"X_{part}"].astype(float)
        else:
            pieces = (file[f"X_{part}_{p}"] for p in ("data", "indices", "indptr"))
            X = sparse.csr_array(tuple(pieces), file[f"X_{part}_shape"]).astype(float)
        results += [X, file[f"y_{part}"]]
    some = np.random.default_rng(0).permutation(len(results[1]))[:MOST_ROWS]
    return [results[0][some], results[1][some], *results[2:]]


def in_folds(X, y, costs):
    folds = StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)
    return [(X[a], y[a], X[b], y[b], costs) for a, b in folds]


def cost_of(model, X, y, costs, uses_rule):
    """The cost of each row, by the rule or by the largest probability."""
    classes = model.classes_
    if uses_rule:
        predicted = LeastCost(costs).predict(model.predict_proba(X), classes)
    else:
        predicted = model.predict(X)
    return costs[y, predicted]


def best_parameters(cls, costs, with_margins, uses_rule, X, y):
    """C and margins of the least cost over folds of the training rows."""
    folds = list(StratifiedKFold(3, shuffle=True, random_state=1).split(X, y))
    unit = costs / costs[costs > 0].mean()
    grid = list(product(CS, [s * unit for s in SCALES] if with_margins else [0.0]))
    results = [
        sum(
            cost_of(
                cls(C=C, margin=margin, tol=1e-3).fit(X[a], y[a]),
                X[b],
                y[b],
                costs,
                uses_rule,
            ).sum()
            for a, b in folds
        )
        for C, margin in grid
    ]
    return grid[int(np.argmin(results))]


def test_costs(method, X, y, X_test, y_test, costs):
    """The cost of each test row."""
    cls, with_margins, uses_rule = METHODS[method]
    C, margin = best_parameters(cls, costs, with_margins, uses_rule, X, y)
    if method.startswith("LogisticRegression"):
        model = LogisticRegression(C=C, max_iter=3000)
    else:
        model = cls(C=C, margin=margin)
    return cost_of(model.fit(X, y), X_test, y_test, costs, uses_rule)


def scaled(X, y, X_test, y_test, costs):
    if not sparse.issparse(X):
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    return X, y, X_test, y_test, costs


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--tasks", nargs="*", default=[task.__name__ for task in TASKS])
    arguments = parser.parse_args()
    rows = [["task", *METHODS]]
    for task in TASKS:
        if task.__name__ not in arguments.tasks:
            continue
        parts = [scaled(*part) for part in task()]
        rows.append([task.__name__])
        for method in METHODS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                cost = np.concatenate([test_costs(method, *part) for part in parts])
            if method == BASELINE:
                of_baseline = cost
                rows[-1].append(f"{cost.mean():.3f}")
            else:
                more = cost - of_baseline
                error = more.std() / np.sqrt(len(more))
                rows[-1].append(f"{more.mean():+.3f} ± {error:.3f}")
            print(task.__name__, method, rows[-1][-1], sep="  ", flush=True)
    if arguments.save:
        with open(arguments.save / "costs.csv", "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
