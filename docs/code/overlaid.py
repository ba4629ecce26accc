"""Pictures of several handwritten digits laid over each other, for the user guide."""

import numpy as np
from sklearn.datasets import load_digits

X, digit = load_digits(return_X_y=True)


def overlaid(rows, n_pictures, rng):
    """Pictures of one to three of these digits, and which digits are in each."""
    pictures = np.zeros((n_pictures, 64))
    sets = np.zeros((n_pictures, 10), dtype=int)
    for i, size in enumerate(rng.integers(1, 4, size=n_pictures)):
        chosen = rng.choice(rows, size=size)
        pictures[i] = X[chosen].max(axis=0) / 16
        sets[i, digit[chosen]] = 1
    return pictures, sets


def overlaid_digits():
    """Pictures and sets for training, and of other digits for testing."""
    rng = np.random.default_rng(0)
    X_train, Y_train = overlaid(np.arange(1000), 1500, rng)
    X_test, Y_test = overlaid(np.arange(1000, 1797), 1500, rng)
    return X_train, Y_train, X_test, Y_test
