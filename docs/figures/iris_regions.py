"""Probabilities of three species over two features, softmax beside sparsemax."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from skprob import SoftmaxClassifier, SparsemaxClassifier

iris = load_iris()
X, y = iris.data[:, [2, 3]], iris.target
length, width = np.meshgrid(np.linspace(0.5, 7.5, 400), np.linspace(-0.2, 2.8, 400))
grid = np.stack([length.ravel(), width.ravel()], axis=1)

fig, axes = plt.subplots(1, 2, figsize=(8, 3.6), sharey=True)
for ax, model in zip(axes, [SoftmaxClassifier(), SparsemaxClassifier()], strict=True):
    p = model.fit(X, y).predict_proba(grid)
    # The three probabilities are the amounts of three colours.
    colours = np.array([[0.27, 0.45, 0.77], [0.95, 0.76, 0.30], [0.76, 0.29, 0.36]])
    image = (p @ colours).reshape(*length.shape, 3)
    ax.imshow(image, origin="lower", extent=(0.5, 7.5, -0.2, 2.8), aspect="auto")
    size = np.count_nonzero(p, axis=1).reshape(length.shape)
    if size.min() < size.max():
        ax.contour(length, width, size, [1.5, 2.5], colors="white", linewidths=1)
    ax.scatter(*X.T, c=colours[y], edgecolors="black", linewidths=0.5, s=14)
    ax.set(title=type(model).__name__, xlabel=iris.feature_names[2])
axes[0].set(ylabel=iris.feature_names[3])
