"""A fit of rows that stay in a file: the memory it takes is a fraction of theirs."""

import tempfile
from pathlib import Path

import numpy as np

from skprob import SparsemaxClassifier


def main():
    n_samples, n_features = 60_000, 60
    rng = np.random.default_rng(0)
    coef = rng.standard_normal((n_features, 4)) / 4
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        # Written a thousand rows at a time, as they might come from elsewhere.
        X = np.lib.format.open_memmap(path, "w+", np.float64, (n_samples, n_features))
        y = np.empty(n_samples, dtype=int)
        for start in range(0, n_samples, 1000):
            rows = rng.standard_normal((1000, n_features))
            X[start : start + 1000] = rows
            scores = rows @ coef + rng.gumbel(size=(1000, 4))
            y[start : start + 1000] = scores.argmax(axis=1)
        X.flush()

        X = np.load(path, mmap_mode="r")
        model = SparsemaxClassifier().fit(X, y)
        probabilities = model.predict_proba(X[:5])
        print(f"{X.nbytes / 2**20:.0f} MiB in a file, {model.n_iter_} iterations")
        print(f"accuracy {model.score(X, y):.3f}")
        print("Probabilities of the first rows:")
        print(probabilities.round(2))
        del X  # The file can be removed now on all systems.


if __name__ == "__main__":
    main()
