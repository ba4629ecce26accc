"""Accuracy of models that are fitted to labels of which some are wrong.

    SKPROB_DATA=... python benchmarks/flipped_labels.py --save docs/measurements

Each training row gets, with the stated probability, another class, drawn uniformly. The
test rows keep their labels. Compared are entmax with alpha from 0.5 to 1.5, of which 1
is softmax, and Taylor softmax with its log loss. C is the one of the best Brier score
in three folds of the training rows, whose labels are flipped, too. "accuracy" is in per
cent; "log loss" is of probabilities p of K classes that are smoothed to (p + 1e-6) / (1
+ 1e-6 K). Both are means over five draws of rows and flips. The table of the page has
the means of softmax over the six sets, and differences to them with their standard
errors over the draws of all sets.

iris, wine, breast cancer and digits are split into five folds; of pendigits and letter
1,000 training rows are drawn. Features are standardised.
"""

import argparse
import csv
import os
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import EntmaxClassifier, TaylorSoftmaxClassifier
from skprob.metrics import BrierScorer

FLIPPED = [0.0, 0.1, 0.2, 0.3, 0.4]
CS = [0.01, 0.1, 1.0, 10.0, 100.0]
N_ROWS, N_DRAWS = 1000, 5
#: With the number of digits in the tables.
MEASURES = {"accuracy": 1, "log loss": 3}
MODELS = {
    **{f"α = {alpha:g}": EntmaxClassifier(alpha) for alpha in (0.5, 0.75)},
    "softmax": EntmaxClassifier(1),
    **{f"α = {alpha:g}": EntmaxClassifier(alpha) for alpha in (1.25, 1.5)},
    "Taylor": TaylorSoftmaxClassifier(),
}
OF_SCIKIT_LEARN = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}


def draws_of(name):
    """Training and test rows of each draw."""
    if name in OF_SCIKIT_LEARN:
        X, y = OF_SCIKIT_LEARN[name](return_X_y=True)
        folds = StratifiedKFold(N_DRAWS, shuffle=True, random_state=0).split(X, y)
        for train, test in folds:
            yield X[train], y[train], X[test], y[test]
        return
    with np.load(Path(os.environ["SKPROB_DATA"]) / f"{name}.npz") as file:
        X, y = file["X_train"].astype(float), file["y_train"]
        X_test, y_test = file["X_test"].astype(float), file["y_test"]
    first = y.min()
    for draw in range(N_DRAWS):
        rows = np.random.default_rng(draw).permutation(len(y))[:N_ROWS]
        yield X[rows], y[rows] - first, X_test, y_test - first


def flipped(y, share, rng):
    """Labels of which a share is another class."""
    n_classes = y.max() + 1
    others = (y + rng.integers(1, n_classes, size=len(y))) % n_classes
    return np.where(rng.random(len(y)) < share, others, y)


def accuracy_and_log_loss(model, X, y, X_test, y_test):
    folds = KFold(3, shuffle=True, random_state=1)
    grid = {f"{model.steps[-1][0]}__C": CS}
    search = GridSearchCV(model, grid, cv=folds, scoring=BrierScorer()).fit(X, y)
    p = search.predict_proba(X_test)
    of_truth = p[np.arange(len(y_test)), np.searchsorted(search.classes_, y_test)]
    loss = -np.log((of_truth + 1e-6) / (1 + 1e-6 * p.shape[1])).mean()
    return 100 * np.mean(search.predict(X_test) == y_test), loss


def measured(name, share):
    """Array of shape (n_draws, n_models, 2)."""
    results = []
    for draw, (X, y, X_test, y_test) in enumerate(draws_of(name)):
        noisy = flipped(y, share, np.random.default_rng(100 + draw))
        results.append([])
        for model in MODELS.values():
            pipeline = make_pipeline(StandardScaler(), model.set_params(tol=1e-3))
            results[-1].append(
                accuracy_and_log_loss(pipeline, X, noisy, X_test, y_test)
            )
    return np.array(results)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path)
    names = [*OF_SCIKIT_LEARN, "pendigits", "letter"]
    parser.add_argument("--sets", nargs="*", default=names)
    arguments = parser.parse_args()
    rows, means = [["data", "flipped", "measure", *MODELS]], {}
    for name in arguments.sets:
        for share in FLIPPED:
            results = measured(name, share)
            means.setdefault(share, []).append(results)
            for column, (measure, digits) in enumerate(MEASURES.items()):
                numbers = results[:, :, column].mean(axis=0)
                cells = [f"{number:.{digits}f}" for number in numbers]
                rows.append([name, f"{share:.0%}", measure, *cells])
                print(*rows[-1], sep="  ", flush=True)
    others = [name for name in MODELS if name != "softmax"]
    summary = [["measure", "flipped", "softmax", *others]]
    for column, (measure, digits) in enumerate(MEASURES.items()):
        for share, results in means.items():
            by_model = np.concatenate(results)[:, :, column].T
            numbers = dict(zip(MODELS, by_model, strict=True))
            cells = [f"{numbers['softmax'].mean():.{digits}f}"]
            for name in others:
                more = numbers[name] - numbers["softmax"]
                error = more.std(ddof=1) / np.sqrt(len(more))
                cells.append(f"{more.mean():+.{digits}f} ± {error:.{digits}f}")
            summary.append([measure, f"{share:.0%}", *cells])
            print(*summary[-1], sep="  ", flush=True)
    if arguments.save:
        for file, table in (("flipped_labels", rows), ("flipped_labels_mean", summary)):
            with open(arguments.save / f"{file}.csv", "w", newline="") as stream:
                csv.writer(stream, lineterminator="\n").writerows(table)


if __name__ == "__main__":
    main()
