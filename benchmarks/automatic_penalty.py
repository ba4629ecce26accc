"""C=1 and C="auto" for softmax and sparse mappings.

The measures are micro-F1 with the default threshold for label sets (more is better),
and the Brier score for labels and distributions (less is better). The splits are the
official ones, or three folds; at most 3,000 rows are for training. Features are
standardised where nothing else is said. Data that scikit-learn has are always used,
others if SKPROB_DATA names their folder.

    python benchmarks/automatic_penalty.py --save-table auto.csv
"""

import argparse
import csv
import os
import warnings
from pathlib import Path

import numpy as np
from _multilabel_data import splits
from _problems import problems as text_problems
from _report import as_markdown, environment
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from threadpoolctl import threadpool_limits

import skprob
from skprob import EntmaxClassifier
from skprob.metrics import brier_loss

MOST_ROWS = 3000
MODELS = {
    "softmax, C=1": {"alpha": 1, "C": 1.0},
    "softmax, auto": {"alpha": 1},
    "1.5-entmax, C=1": {"alpha": 1.5, "C": 1.0},
    "1.5-entmax, auto": {"alpha": 1.5},
    "sparsemax, C=1": {"alpha": 2, "C": 1.0},
    "sparsemax, auto": {"alpha": 2},
}
BUNDLED = {"iris": load_iris, "wine": load_wine, "digits": load_digits}
LABELS = ["pendigits", "letter"]
SETS = ["emotions", "scene", "yeast", "birds", "cal500"]
DISTRIBUTIONS = ["ldl_sjaffe", "ldl_movie", "ldl_emotion6"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--save-table", type=Path, metavar="CSV")
    options = parser.parse_args()
    print(environment(skprob))
    header = ["data", "target", "classes", "variance", *MODELS]
    rows = []
    with threadpool_limits(1):
        for name, kind, folds, measure in problems():
            X, y, *_ = folds[0]
            n_classes = len(np.unique(y)) if kind == "labels" else y.shape[1]
            variance = f"{sum_of_variances(X):.2g}"
            values = [
                np.mean([scored(params, measure, *fold) for fold in folds])
                for params in MODELS.values()
            ]
            figures = (f"{value:.4f}" for value in values)
            rows.append([name, kind, n_classes, variance, *figures])
            print(*rows[-1], sep=", ", flush=True)
    print("\n" + as_markdown(header, rows))
    if options.save_table:
        with options.save_table.open("w", newline="") as file:
            csv.writer(file).writerows([header, *rows])


def scored(params, measure, X, y, X_test, y_test):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return measure(EntmaxClassifier(**params).fit(X, y), X_test, y_test)


def problems():
    """Names, kinds of target, lists of splits and measures."""
    for name, load in BUNDLED.items():
        yield name, "labels", folds_of(*load(return_X_y=True)), brier
    X, y = load_iris(return_X_y=True)
    yield "iris, cm", "labels", folds_of(X, y, scales=False), brier
    folder = os.environ.get("SKPROB_DATA")
    if not folder:
        return
    for name in LABELS:
        with np.load(Path(folder) / f"{name}.npz") as file:
            X, y = some(file["X_train"].astype(float), file["y_train"])
        yield name, "labels", folds_of(X, y), brier
        folds = folds_of(MinMaxScaler().fit_transform(X), y, scales=False)
        yield f"{name}, 0 to 1", "labels", folds, brier
    newsgroups = text_problems()["news20"]()
    X, y = some(newsgroups.X, newsgroups.y)
    for n_classes in (2, 4, 20):
        chosen = y < n_classes
        folds = folds_of(X[chosen], y[chosen], scales=False)
        yield f"news, {n_classes} groups", "labels", folds, brier
    for name in SETS:
        folds = [(d.X_train, d.Y_train, d.X_test, d.Y_test) for d in splits(name)]
        yield name, "sets", folds, micro_f1
    for name in DISTRIBUTIONS:
        with np.load(Path(folder) / f"{name}.npz") as file:
            arrays = dict(file)
        X, D = some(features(arrays), arrays["D"])
        yield name, "distributions", folds_of(X, D), brier
        if sum_of_variances(X) < 20:
            folds = folds_of(X, D, scales=False)
            yield f"{name}, as given", "distributions", folds, brier


def features(arrays):
    if "X" in arrays:
        return arrays["X"].astype(float)
    pieces = (arrays[f"X_{piece}"] for piece in ("data", "indices", "indptr"))
    X = sparse.csr_array(tuple(pieces), shape=tuple(arrays["X_shape"]))
    return X.astype(float).toarray()


def some(X, y):
    rows = np.random.default_rng(0).permutation(X.shape[0])[:MOST_ROWS]
    return X[rows], y[rows]


def folds_of(X, y, scales=True):
    """Three folds, standardised if they are to be scaled."""
    split = StratifiedKFold if y.ndim == 1 else KFold
    folds = split(3, shuffle=True, random_state=0).split(np.zeros(len(y)), y)
    results = []
    for train, test in folds:
        parts = X[train], X[test]
        if scales:
            scaler = StandardScaler().fit(X[train])
            parts = [scaler.transform(part) for part in parts]
        results.append((parts[0], y[train], parts[1], y[test]))
    return results


def sum_of_variances(X):
    return StandardScaler(with_mean=not sparse.issparse(X)).fit(X).var_.sum()


def micro_f1(model, X, Y):
    return f1_score(Y, model.predict(X), average="micro")


def brier(model, X, y):
    return brier_loss(y, model.predict_proba(X))


if __name__ == "__main__":
    main()
