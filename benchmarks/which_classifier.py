"""Classifiers side by side on the data sets of scikit-learn.

    python benchmarks/which_classifier.py --save docs/measurements

Ten-fold cross-validation, stratified. In each training part the penalty of each linear
classifier is chosen by five folds, by the Brier score; the features are standardised.
Gradient boosting has its defaults. "possible" is the mean number of classes with a
positive probability, "truth possible" the share of rows whose true class is among them.
The figures of shares are those of `examples/demo.py`.
"""

import argparse
import csv
from pathlib import Path

import numpy as np
from readme import run
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
)
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import EntmaxClassifier, SparsemaxClassifier
from skprob.metrics import BrierScorer, brier_loss, mean_support_size

DATA = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}
CLASSIFIERS = {
    "LogisticRegression": LogisticRegression(max_iter=10_000),
    "entmax, α = 1.25": EntmaxClassifier(alpha=1.25),
    "entmax, α = 1.5": EntmaxClassifier(alpha=1.5),
    "sparsemax": SparsemaxClassifier(),
    "gradient boosting": HistGradientBoostingClassifier(random_state=0),
}
CS = [0.01, 0.1, 1, 10, 100]
HEAD = [
    "data",
    "classifier",
    "accuracy",
    "Brier score",
    "log loss",
    "possible",
    "truth possible",
]


def held_out(classifier, X, y, n_splits):
    """Probabilities of rows unseen by the model and by the choice of its penalty."""
    p = np.empty((len(y), len(np.unique(y))))
    folds = StratifiedKFold(n_splits, shuffle=True, random_state=0)
    name = type(classifier).__name__.lower()
    grid = {f"{name}__C": CS} if hasattr(classifier, "C") else {}
    for train, test in folds.split(X, y):
        search = GridSearchCV(
            make_pipeline(StandardScaler(), classifier),
            grid,
            scoring=BrierScorer(),
        ).fit(X[train], y[train])
        p[test] = search.predict_proba(X[test])
    return p


def row(data, name, y, p):
    """Cells of a line of the table."""
    possible = np.mean(p[np.arange(len(y)), y] > 0)
    loss = log_loss(y, p) if possible == 1 else np.inf
    return [
        data,
        name,
        f"{np.mean(p.argmax(axis=1) == y):.3f}",
        f"{brier_loss(y, p):.4f}",
        "infinite" if np.isinf(loss) else f"{loss:.3f}",
        f"{mean_support_size(p):.2f} of {p.shape[1]}",
        f"{possible:.1%}",
    ]


def shares():
    """Lines of the table of models that learn from shares, or from the main one."""
    results = run("demo")
    size = results["mean_support_size"]
    rows = [
        [name, f"{score:.4f}", f"{size(results['p'][name]):.2f} of 10"]
        for name, score in results["brier"].items()
    ]
    return [["learns from", "Brier score", "possible"], *rows]


def save(rows, path):
    """Write a table as comma-separated values."""
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="iris and wine, 3 folds")
    parser.add_argument("--save", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    names = ["iris", "wine"] if options.quick else list(DATA)
    rows = []
    for data in names:
        X, y = DATA[data](return_X_y=True)
        for name, classifier in CLASSIFIERS.items():
            p = held_out(classifier, X, y, 3 if options.quick else 10)
            rows.append(row(data, name, y, p))
            print("  ".join(f"{cell:>18}" for cell in rows[-1]), flush=True)
    if options.save:
        save([HEAD, *rows], options.save / "which_classifier.csv")
        save(shares(), options.save / "which_classifier_shares.csv")


if __name__ == "__main__":
    main()
