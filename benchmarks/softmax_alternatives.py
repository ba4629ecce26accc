"""AM-softmax and Taylor softmax against softmax, and margins against none: tables.

    python benchmarks/softmax_alternatives.py --save docs/measurements

Accuracy and Brier score of rows that the model has not seen: five folds of the data
that come with scikit-learn and, from the folder that ``SKPROB_DATA`` names, at most
3,000 training and 4,000 test rows of larger sets. The features are standardised where
they are dense. A difference to the first line counts where it is more than two standard
errors, which are those of the mean of the paired differences of the rows. The columns
"accuracy" and "Brier" have the number of sets with a gain, with no clear difference,
and with a loss.
"""

import argparse
import os
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from skprob import AMSoftmaxClassifier, SoftmaxClassifier, TaylorSoftmaxClassifier

BUNDLED = {
    "iris": load_iris,
    "wine": load_wine,
    "cancer": load_breast_cancer,
    "digits": load_digits,
}
LARGER = {
    "letter": "letter",
    "pendigits": "pendigits",
    "mnist": "mnist",
    "news20": "news20_bydate",
}
MOST_TRAINING_ROWS, MOST_TEST_ROWS = 3000, 4000
MARGINS = [0.0, 0.1, 0.2, 0.35]
TEMPERATURES = [0.02, 0.03, 0.05, 0.1, 0.2]
ORDERS = [2, 4, 6, 8, 12, 16, 30]


class Scores(NamedTuple):
    """Whether each test row is right, and its Brier score."""

    right: np.ndarray
    brier: np.ndarray


def datasets():
    """Splits (X_train, y_train, X_test, y_test) of each set, by its name."""
    data = {}
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for name, load in BUNDLED.items():
        X, y = load(return_X_y=True)
        data[name] = [(X[a], y[a], X[b], y[b]) for a, b in folds.split(X, y)]
    folder = os.environ.get("SKPROB_DATA")
    if folder:
        rng = np.random.default_rng(0)
        for name, file in LARGER.items():
            with np.load(Path(folder) / f"{file}.npz") as arrays:
                parts = [
                    part
                    for selected, most in [
                        ("train", MOST_TRAINING_ROWS),
                        ("test", MOST_TEST_ROWS),
                    ]
                    for part in some_rows(arrays, selected, most, rng)
                ]
            data[name] = [tuple(parts)]
    return data


def some_rows(arrays, selected, most, rng):
    """A random part of the rows of a file's training or test part."""
    y = arrays[f"y_{selected}"]
    if f"X_{selected}" in arrays:
        X = arrays[f"X_{selected}"].astype(float)
    else:
        pieces = (
            arrays[f"X_{selected}_{piece}"] for piece in ("data", "indices", "indptr")
        )
        X = sparse.csr_array(tuple(pieces), shape=arrays[f"X_{selected}_shape"])
        X = X.astype(float)
    chosen = rng.permutation(len(y))[:most]
    return X[chosen], y[chosen]


def scores(model, splits):
    """Scores of the test rows of all splits."""
    right, brier = [], []
    for X, y, X_test, y_test in splits:
        fitted = clone(model)
        if not sparse.issparse(X):
            fitted = make_pipeline(StandardScaler(), fitted)
        fitted.fit(X, y)
        p = fitted.predict_proba(X_test)
        indicator = fitted.classes_ == y_test[:, None]
        right.append(fitted.predict(X_test) == y_test)
        brier.append(((p - indicator) ** 2).sum(axis=1))
    return Scores(np.concatenate(right).astype(float), np.concatenate(brier))


def errors_apart(gains):
    """The mean of paired gains, in its standard errors."""
    error = gains.std(ddof=1) / np.sqrt(len(gains))
    return gains.mean() / error if error else 0.0


def table(models, data):
    """Lines of a table, of models by their title. The first is the reference."""
    yield f"{'':32}{'accuracy':>10}{'Brier':>8}" + "".join(f"{n:>17}" for n in data)
    reference = {}
    for title, model in models.items():
        apart, cells = [], []
        for name, splits in data.items():
            new = scores(model, splits)
            old = reference.setdefault(name, new)
            pair = np.array(
                [
                    errors_apart(new.right - old.right),
                    errors_apart(old.brier - new.brier),
                ]
            )
            apart.append(pair)
            cell = f"{new.right.mean():.3f}{mark(pair[0])}"
            cells.append(f"{cell}{new.brier.mean():8.3f}{mark(pair[1])}")
        counts = [
            f"{(column > 2).sum()}/{(np.abs(column) <= 2).sum()}/{(column < -2).sum()}"
            for column in np.transpose(apart)
        ]
        is_first = model is next(iter(models.values()))
        first, second = ("", "") if is_first else counts
        yield f"{title:32}{first:>10}{second:>8}" + "".join(f"{c:>17}" for c in cells)


def mark(apart):
    """A sign for a difference of more than two standard errors."""
    return "+" if apart > 2 else "-" if apart < -2 else " "


def am_softmax():
    """Softmax, and AM-softmax with each margin and temperature."""
    return {"softmax": SoftmaxClassifier()} | {
        f"margin {margin}, temperature {temperature}": AMSoftmaxClassifier(
            margin, temperature
        )
        for margin in MARGINS
        for temperature in TEMPERATURES
    }


def margins():
    """AM-softmax without a margin, and with each."""
    return {f"margin {margin}": AMSoftmaxClassifier(margin) for margin in MARGINS}


def taylor_softmax():
    """Softmax, and Taylor softmax of each order."""
    return {"softmax": SoftmaxClassifier()} | {
        f"order {order}": TaylorSoftmaxClassifier(order) for order in ORDERS
    }


TABLES = {
    "am_softmax_defaults": am_softmax,
    "am_softmax_margins": margins,
    "taylor_softmax_defaults": taylor_softmax,
}


def main():
    """Measure, print and perhaps save."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--save", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    data = datasets()
    for name in options.tables:
        lines = []
        with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
            for line in table(TABLES[name](), data):
                lines.append(line)
                print(line, flush=True)
        if options.save:
            (options.save / f"{name}.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
