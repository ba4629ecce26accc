"""The prediction for one picture of several digits, and the sizes of all of them."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from skprob import EntmaxClassifier
from skprob.inspection import PredictionDisplay, SupportSizeDisplay

X, digit = load_digits(return_X_y=True)
rng = np.random.default_rng(0)


def overlaid(rows, n_pictures):
    """Pictures of one to three digits, and their sets: those of the text."""
    pictures = np.zeros((n_pictures, 64))
    sets = np.zeros((n_pictures, 10), dtype=int)
    for i, size in enumerate(rng.integers(1, 4, size=n_pictures)):
        chosen = rng.choice(rows, size=size)
        pictures[i] = X[chosen].max(axis=0) / 16
        sets[i, digit[chosen]] = 1
    return pictures, sets


X_train, Y_train = overlaid(np.arange(1000), 1500)
X_test, Y_test = overlaid(np.arange(1000, 1797), 1500)
model = EntmaxClassifier().fit(X_train, Y_train)
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6))
PredictionDisplay.from_estimator(model, X_test[[1]], Y_test[[1]], ax=left)
SupportSizeDisplay.from_estimator(model, X_test, Y_test, ax=right)
