"""Searches that choose by the default score, and searches that choose by the accuracy.

    SKPROB_DATA=folder python benchmarks/search_scores.py --save docs/measurements

Each repetition draws some hundred rows to fit, standardises the features, and scores
up to 3,000 other rows. `EntmaxClassifierCV` has its defaults: the Brier score chooses
for labels and shares, micro-F1 for label sets. "By accuracy" is the same search by the
accuracy, the expected accuracy of shares, or the part of the sets that are whole. "No
search" is `EntmaxClassifier` with its defaults, "constant" predicts the mean of the
training targets. A difference is that of both searches, with its standard error over
the repetitions. The measure of label sets is micro-F1, where more is better, and
"accuracy" the part of the sets that are whole. Data that scikit-learn has are always
used, others if SKPROB_DATA names the folder that holds them.
"""

import argparse
import csv
import os
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, f1_score
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from skprob import EntmaxClassifier, EntmaxClassifierCV
from skprob.metrics import brier_loss
from skprob.targets import encode_target

N_ROWS, N_TEST = 200, 3000
BUNDLED = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}
#: Files of the folder that SKPROB_DATA names, and their arrays of the target.
FILES = {
    "letter": "y_train",
    "pendigits": "y_train",
    "ldl_sjaffe": "D",
    "ldl_emotion6": "D",
    "ldl_movie": "D",
    "emotions": "Y_train",
    "scene": "Y_train",
    "yeast": "Y_train",
}
HEAD = [
    *("data", "rows", "measure", "constant", "no search"),
    *("by accuracy", "default", "difference", "of accuracies"),
    *("accuracy: no search", "accuracy: by accuracy", "accuracy: default"),
]
#: Columns of the saved table: all but the number of rows and the last three.
SAVED = [HEAD[0], *HEAD[2:9]]


def accuracy(model, X, y):
    """Accuracy, expected accuracy of shares, or the part of the sets that are whole."""
    predicted = model.predict(X)
    if model.target_type_ == "distribution":
        return float(np.mean(y[np.arange(len(y)), predicted]))
    return accuracy_score(y, predicted)


MODELS = {
    "no search": EntmaxClassifier(),
    "by accuracy": EntmaxClassifierCV(scoring=accuracy),
    "default": EntmaxClassifierCV(),
}


def load(name):
    """Features and target."""
    if name in BUNDLED:
        return BUNDLED[name](return_X_y=True)
    with np.load(Path(os.environ["SKPROB_DATA"]) / f"{name}.npz") as file:
        part = "_train" if FILES[name].endswith("train") else ""
        if f"X{part}" in file:
            X = file[f"X{part}"].astype(float)
        else:
            names = ("data", "indices", "indptr")
            parts = tuple(file[f"X{part}_{name}"] for name in names)
            X = sparse.csr_array(parts, file[f"X{part}_shape"]).astype(float)
        return X, file[FILES[name]]


def halves(X, y, seed):
    """Rows to fit and others, with standardised features."""
    order = np.random.default_rng(seed).permutation(X.shape[0])
    n_rows = min(N_ROWS, 7 * X.shape[0] // 10)
    train, test = order[:n_rows], order[n_rows : n_rows + N_TEST]
    if y.ndim == 1:  # A class that is not learnt cannot be predicted.
        test = test[np.isin(y[test], y[train])]
    scaler = MaxAbsScaler() if sparse.issparse(X) else StandardScaler()
    scaler.fit(X[train])
    return scaler.transform(X[train]), scaler.transform(X[test]), y[train], y[test]


def measures(X, X_test, y, y_test):
    """Two measures of the constant prediction and of each model."""
    kind = encode_target(y).target_type
    results = {}
    if kind != "label_set":
        target = (y[:, None] == np.unique(y)) if kind == "class" else y
        p = np.broadcast_to(target.mean(axis=0), (len(y_test), target.shape[1]))
        given = {"classes": np.unique(y)} if kind == "class" else {}
        results["constant"] = brier_loss(y_test, p, **given), np.nan
    for name, model in MODELS.items():
        model.fit(X, y)
        if kind == "label_set":
            micro = f1_score(y_test, model.predict(X_test), average="micro")
            results[name] = micro, accuracy(model, X_test, y_test)
        else:
            loss = brier_loss(y_test, model.predict_proba(X_test), **given)
            results[name] = loss, accuracy(model, X_test, y_test)
    return kind, results


def row(name, n_repeats):
    """A line of the table."""
    X, y = load(name)
    repeats = [halves(X, y, seed) for seed in range(n_repeats)]
    kinds, results = zip(*(measures(*repeat) for repeat in repeats), strict=True)
    values = {key: np.array([each[key] for each in results]) for key in results[0]}
    mean = {key: value.mean(axis=0) for key, value in values.items()}
    difference = values["default"] - values["by accuracy"]
    error = difference.std(axis=0, ddof=1) / np.sqrt(n_repeats)
    pairs = [
        f"{gain:+.4f} ± {e:.4f}"
        for gain, e in zip(difference.mean(axis=0), error, strict=True)
    ]
    constant = f"{mean['constant'][0]:.4f}" if "constant" in mean else ""
    return [
        *(name, str(repeats[0][0].shape[0])),
        "micro-F1" if kinds[0] == "label_set" else "Brier score",
        *(constant, *(f"{mean[key][0]:.4f}" for key in MODELS), *pairs),
        *(f"{mean[key][1]:.4f}" for key in MODELS),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    names = [*BUNDLED, *(FILES if os.environ.get("SKPROB_DATA") else [])]
    parser.add_argument("--data", nargs="+", choices=names, default=names)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--save", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", UserWarning)
    rows = []
    for name in options.data:
        rows.append(row(name, options.repeats))
        print(dict(zip(HEAD, rows[-1], strict=True)), flush=True)
    if options.save:
        with (options.save / "search_scores.csv").open("w", newline="") as file:
            table = csv.DictWriter(
                file, SAVED, extrasaction="ignore", lineterminator="\n"
            )
            table.writeheader()
            table.writerows(dict(zip(HEAD, cells, strict=True)) for cells in rows)


if __name__ == "__main__":
    main()
