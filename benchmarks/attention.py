"""Attention to the training rows, nearest neighbours, and linear attention.

``python benchmarks/attention.py`` prints two tables. In the first, every method is
tuned by five-fold cross-validation on one half of the data for the Brier score, and
judged on the other half, over five splits. The data are scikit-learn's own, and
pendigits and letter (4000 rows of each) where the environment variable SKPROB_DATA
names their folder. In the second, seconds of CPU time of ``taylor_attention``, and of
``attention`` with the same weights in quadratic time.
"""

import os
import time
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob.attention import AttentionClassifier, attention, taylor_attention
from skprob.metrics import BrierScorer, brier_loss

TEMPERATURES = np.geomspace(0.3, 100, 12)


class KStarNeighbors(ClassifierMixin, BaseEstimator):
    """k*-nearest neighbours (Anava and Levy, NeurIPS 2016), algorithm 1.

    The weights of the neighbours are in proportion to [lambda - ratio * distance]+,
    which minimise a bound of the error: the square of the weights and the distances.
    """

    def __init__(self, ratio=1.0, n_neighbors=100):
        self.ratio = ratio
        self.n_neighbors = n_neighbors

    def fit(self, X, y):
        """Keep the rows."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._targets = np.eye(len(self.classes_))[codes]
        self._search = NearestNeighbors().fit(X)
        self._k = min(self.n_neighbors, len(X))
        return self

    def predict_proba(self, X):
        """Weighted means of one-hot targets."""
        distance, rows = self._search.kneighbors(X, self._k)
        return np.stack(
            [
                self._weights(self.ratio * d) @ self._targets[i]
                for d, i in zip(distance, rows, strict=True)
            ]
        )

    def predict(self, X):
        """The most probable class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _weights(self, beta):
        k = np.arange(1, len(beta) + 1)
        total, square = np.cumsum(beta), np.cumsum(beta**2)
        root = np.sqrt(np.maximum(k + total**2 - k * square, 0))
        level = (total + root) / k
        # The first k whose level is not above the next distance.
        last = np.append(level[:-1] <= beta[1:], True).argmax()
        weights = np.maximum(level[last] - beta, 0)
        return weights / weights.sum()


METHODS = {
    "k nearest": (
        KNeighborsClassifier(),
        {
            "n_neighbors": [1, 2, 3, 5, 7, 10, 15, 22, 32, 45],
            "weights": ["uniform", "distance"],
        },
    ),
    "k* nearest": (KStarNeighbors(), {"ratio": np.geomspace(0.03, 10, 12)}),
    "softmax": (AttentionClassifier("softmax"), {"temperature": TEMPERATURES}),
    "sparsemax": (AttentionClassifier("sparsemax"), {"temperature": TEMPERATURES}),
    "entmax": (AttentionClassifier("entmax"), {"temperature": TEMPERATURES}),
}


def data_sets():
    yield "wine", load_wine(return_X_y=True)
    yield "breast_cancer", load_breast_cancer(return_X_y=True)
    yield "digits", load_digits(return_X_y=True)
    if "SKPROB_DATA" in os.environ:
        for name in ("pendigits", "letter"):
            with np.load(Path(os.environ["SKPROB_DATA"]) / f"{name}.npz") as file:
                X, y = read(file)
            rows = np.random.default_rng(0).permutation(len(y))[:4000]
            yield name, (X[rows].astype(float), y[rows])


def read(file):
    """All rows of a file, whatever parts it comes in."""
    parts = [name[1:] for name in file.files if name.startswith("X")]
    X = np.concatenate([file[f"X{part}"] for part in parts])
    return X, np.concatenate([file[f"y{part}"] for part in parts])


def compare():
    print(f"{'':14}", *(f"{name:>22}" for name in METHODS))
    for name, (X, y) in data_sets():
        cells = []
        for model, grid in METHODS.values():
            results = [judged(model, grid, X, y, seed) for seed in range(5)]
            brier, error = np.mean(results, axis=0)
            cells.append(f"{brier:.4f} ({100 * error:.2f} %)")
        print(f"{name:14}", *(f"{cell:>22}" for cell in cells), flush=True)


def judged(model, grid, X, y, seed):
    """Brier loss and error rate of a tuned model on the half that it has not seen."""
    split = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
    X_train, X_test, y_train, y_test = split
    pipeline = make_pipeline(StandardScaler(), model)
    name = type(model).__name__.lower()
    grid = {f"{name}__{key}": values for key, values in grid.items()}
    search = GridSearchCV(pipeline, grid, scoring=BrierScorer(), cv=5)
    search.fit(X_train, y_train)
    brier = brier_loss(y_test, search.predict_proba(X_test), classes=search.classes_)
    return brier, 1 - np.mean(search.predict(X_test) == y_test)


def time_linear_attention(d=16):
    print(f"\n{'n':>8} {'linear':>10} {'causal':>10} {'quadratic':>10}   (seconds)")
    for n in (1000, 3000, 10_000, 30_000, 100_000):
        arrays = np.random.default_rng(0).standard_normal((3, n, d))
        seconds = [
            clocked(partial(taylor_attention, *arrays)),
            clocked(partial(taylor_attention, *arrays, causal=True)),
        ]
        if n <= 10_000:
            quadratic = partial(attention, *arrays, mapping="taylor_softmax")
            seconds.append(clocked(quadratic))
        print(f"{n:8}", *(f"{s:10.3f}" for s in seconds), flush=True)


def clocked(function):
    start = time.process_time()
    function()
    return time.process_time() - start


if __name__ == "__main__":
    compare()
    time_linear_attention()
