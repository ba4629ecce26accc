"""Probabilities of three species over two features, by softmax and by sparsemax."""

import matplotlib.pyplot as plt
from regions import add_species_legend, draw_regions

from skprob import SoftmaxClassifier, SparsemaxClassifier

fig, axes = plt.subplots(1, 2, figsize=(8, 3.9), sharey=True)
models = {
    "softmax rules nothing out": SoftmaxClassifier(C=10),
    "sparsemax names the possible species": SparsemaxClassifier(C=10),
}
for ax, (title, model) in zip(axes, models.items(), strict=True):
    draw_regions(ax, model)
    add_species_legend(ax)
    ax.set_title(title)
axes[1].set(ylabel="")
