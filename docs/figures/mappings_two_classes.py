"""Probability of the first of two classes against the difference of their scores."""

import matplotlib.pyplot as plt
import numpy as np

from skprob.mappings import Entmax

difference = np.linspace(-5, 5, 501)
scores = np.stack([difference, np.zeros_like(difference)], axis=1)
names = {1: " (softmax)", 2: " (sparsemax)"}

fig, ax = plt.subplots(figsize=(6, 3.2))
for alpha, shade in zip([1, 1.25, 1.5, 2, 4], np.linspace(0, 0.85, 5), strict=True):
    p = Entmax(alpha)(scores)[:, 0]
    label = rf"$\alpha = {alpha}$" + names.get(alpha, "")
    ax.plot(difference, p, color=plt.cm.viridis(shade), label=label)
ax.set(xlabel="score of class 1 minus score of class 2", ylabel="probability of 1")
ax.legend()
