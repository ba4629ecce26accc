"""Classes learnt from candidates, of which one is true, on five tasks.

    SKPROB_DATA=... python benchmarks/candidate_sets.py --save docs/measurements

Accuracy in per cent, on test rows, of models that are fitted to candidates. A training
row has its true class and false ones as candidates. "random": each other class is one
with a probability of 40 %. "similar": with a probability of 80 %, the class whose mean
is nearest to the row, of all other classes. "labels" is the accuracy of a fit to the
true classes, "shares" that of a fit to equal shares of the candidates, "infimum" that
with target_type="candidates". The last column is the mean difference between the
latter two and its standard error over draws of test rows and candidates.

wine and digits are split into five folds. From the others 1,000 training rows are
drawn, five times. Features are standardised, those of mnist are divided by 255. C is
the one of the best score in three folds of the training rows: the accuracy for labels,
and the proportion of predictions that are candidates for the others.
"""

import argparse
import csv
import os
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from skprob import EntmaxClassifier, SoftmaxClassifier

CS = [0.01, 0.1, 1.0, 10.0, 100.0]
N_ROWS, N_DRAWS = 1000, 5
MODELS = {"softmax": SoftmaxClassifier, "1.5-entmax": EntmaxClassifier}
CANDIDATES = ("random", "similar")


def folds_of(load):
    X, y = load(return_X_y=True)
    folds = StratifiedKFold(N_DRAWS, shuffle=True, random_state=0).split(X, y)
    for train, test in folds:
        yield X[train], y[train], X[test], y[test]


def draws_of(name):
    with np.load(Path(os.environ["SKPROB_DATA"]) / f"{name}.npz") as file:
        X, y = file["X_train"].astype(float), file["y_train"]
        X_test, y_test = file["X_test"].astype(float), file["y_test"]
    first = y.min()
    for draw in range(N_DRAWS):
        rows = np.random.default_rng(draw).permutation(len(y))[:N_ROWS]
        yield X[rows], y[rows] - first, X_test, y_test - first


TASKS = {
    "wine": lambda: folds_of(load_wine),
    "digits": lambda: folds_of(load_digits),
    "pendigits": lambda: draws_of("pendigits"),
    "letter": lambda: draws_of("letter"),
    "mnist": lambda: draws_of("mnist"),
}


def scaled(name, X, X_test):
    if name == "mnist":
        return X / 255, X_test / 255
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), scaler.transform(X_test)


def candidates_of(X, y, kind, rng):
    """0/1 matrix of the true class and false ones."""
    labels = np.eye(y.max() + 1, dtype=bool)[y]
    if kind == "random":
        return (labels | (rng.random(labels.shape) < 0.4)).astype(int)
    means = np.array([X[y == k].mean(axis=0) for k in range(labels.shape[1])])
    distances = ((X[:, None, :] - means) ** 2).sum(axis=2)
    distances[labels] = np.inf
    nearest = np.eye(labels.shape[1], dtype=bool)[distances.argmin(axis=1)]
    return (labels | (nearest & (rng.random((len(y), 1)) < 0.8))).astype(int)


def is_candidate(model, X, Y):
    """Proportion of the most probable classes that are candidates."""
    return np.take_along_axis(
        Y, model.predict_proba(X).argmax(axis=1)[:, None], 1
    ).mean()


def in_shares(model, X, shares):
    return is_candidate(model, X, shares > 0)


def accuracy(model, X, y, X_test, y_test, scoring):
    """In per cent, of the model with the best C."""
    folds = KFold(3, shuffle=True, random_state=1)
    model.set_params(tol=1e-3)
    search = GridSearchCV(model, {"C": CS}, cv=folds, scoring=scoring).fit(X, y)
    return 100 * np.mean(search.predict(X_test) == y_test)


def row(name, of_model, kind):
    results = []
    for draw, (X, y, X_test, y_test) in enumerate(TASKS[name]()):
        X, X_test = scaled(name, X, X_test)
        Y = candidates_of(X, y, kind, np.random.default_rng(100 + draw))
        shares = Y / Y.sum(axis=1, keepdims=True)
        cls, test = MODELS[of_model], (X_test, y_test)
        results.append(
            [
                Y.sum(axis=1).mean(),
                accuracy(cls(), X, y, *test, "accuracy"),
                accuracy(cls(target_type="distribution"), X, shares, *test, in_shares),
                accuracy(cls(target_type="candidates"), X, Y, *test, is_candidate),
            ]
        )
    results = np.array(results)
    more = results[:, 3] - results[:, 2]
    error = more.std(ddof=1) / np.sqrt(len(more))
    mean = results.mean(axis=0)
    return [
        name,
        kind,
        of_model,
        *(f"{number:.1f}" for number in mean),
        f"{more.mean():+.1f} ± {error:.1f}",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--tasks", nargs="*", default=list(TASKS))
    arguments = parser.parse_args()
    header = ["data", "false candidates", "mapping", "candidates a row", "labels"]
    rows = [[*header, "shares", "infimum", "difference"]]
    for name in arguments.tasks:
        for kind in CANDIDATES:
            for of_model in MODELS:
                rows.append(row(name, of_model, kind))
                print(*rows[-1], sep="  ", flush=True)
    if arguments.save:
        with open(arguments.save / "candidate_sets.csv", "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
