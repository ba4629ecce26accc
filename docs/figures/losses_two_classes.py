"""Losses of a row of two classes against the lead of the true one."""

import matplotlib.pyplot as plt
import numpy as np

from skprob.losses import FenchelYoungLoss, LogLoss
from skprob.mappings import Entmax

lead = np.linspace(-4, 4, 401)
scores = np.stack([lead, np.zeros_like(lead)], axis=1)
target = np.tile([1.0, 0.0], (len(lead), 1))

fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2))
names = {1: " (softmax)", 2: " (sparsemax)"}
for alpha, shade in zip([1, 1.5, 2], [0, 0.45, 0.85], strict=True):
    label = rf"$\alpha = {alpha}$" + names.get(alpha, "")
    mapping, colour = Entmax(alpha), plt.cm.viridis(shade)
    left.plot(
        lead,
        FenchelYoungLoss(mapping).value(scores, target),
        color=colour,
        label=label,
    )
    loss = LogLoss(mapping, epsilon=0 if alpha == 1 else 0.01)
    right.plot(lead, loss.value(scores, target), color=colour)
left.set(title="Fenchel–Young", ylabel="loss")
right.set(title=r"log loss, smoothed with $\epsilon = 0.01$ where $\alpha > 1$")
right.title.set_fontsize("medium")
left.title.set_fontsize("medium")
for ax in (left, right):
    ax.set(xlabel="score of the true class minus that of the other", ylim=(-0.1, 5))
left.legend()
