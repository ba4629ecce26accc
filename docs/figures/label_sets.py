"""One prediction of the digits in a picture, and the sizes of all of them."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from skprob import EntmaxClassifier
from skprob.inspection import PredictionDisplay, SupportSizeDisplay

X, digit = load_digits(return_X_y=True)
first, second = np.random.default_rng(0).integers(len(X), size=(2, 2000))
X = np.maximum(X[first], X[second]) / 16
Y = np.eye(10, dtype=int)[digit[first]] | np.eye(10, dtype=int)[digit[second]]
model = EntmaxClassifier().fit(X[:1000], Y[:1000])
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6))
PredictionDisplay.from_estimator(model, X[[1001]], Y[[1001]], ax=left)
SupportSizeDisplay.from_estimator(model, X[1000:], Y[1000:], ax=right)
