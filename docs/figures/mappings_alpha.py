"""The probabilities of one row of scores, from softmax to sparsemax."""

import matplotlib.pyplot as plt
import numpy as np

from skprob.mappings import Entmax

scores = np.array([[2.0, 1.6, 1.2, 0.6, 0.0, -0.5, -1.0]])
alphas = np.linspace(1, 2, 101)
p = np.concatenate([Entmax(alpha)(scores) for alpha in alphas])

fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2))
colours = plt.cm.viridis(np.linspace(0, 0.95, scores.size))
left.stackplot(alphas, p.T, colors=colours)
left.set(xlim=(1, 2), ylim=(0, 1), xlabel=r"$\alpha$", ylabel="probabilities, stacked")
for score, column, colour in zip(scores[0], p.T, colours, strict=True):
    column = np.where(column > 0, column, np.nan)
    right.semilogy(alphas, column, color=colour, label=f"score {score:g}")
right.set(xlim=(1, 2), ylim=(1e-4, 1), xlabel=r"$\alpha$", ylabel="probability, if any")
right.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
