"""
The effect of α on probabilities
================================

Three classes have the scores 0, 1 and a third score that increases from -3 to 5. With
softmax, α = 1, no probability is exactly 0 or 1. For a larger α the interval of scores
in which the third class is possible but not certain is shorter.
"""

import matplotlib.pyplot as plt
import numpy as np

from skprob.mappings import Entmax

ALPHAS = [1, 1.25, 1.5, 2]
rising = np.linspace(-3, 5, 801)
scores = np.stack([rising, np.ones_like(rising), np.zeros_like(rising)], axis=1)

figure, axes = plt.subplots(
    1, len(ALPHAS), figsize=(11, 3.7), sharey=True, layout="constrained"
)
for ax, alpha in zip(axes, ALPHAS, strict=True):
    p = Entmax(alpha)(scores)
    between = rising[(p[:, 0] > 0) & (p[:, 0] < 1)]
    print(
        f"alpha = {alpha:<5g} 0 < p < 1 for scores from "
        f"{between[0]:5.2f} to {between[-1]:4.2f}, {(p == 0).mean():4.0%} zeros in all"
    )
    lines = ax.plot(rising, p)
    lines[0].set_linewidth(3)
    if alpha > 1:
        ax.axvspan(between[0], between[-1], color="0.93", zorder=0)
    ax.set(title=f"α = {alpha:g}", xlabel="score of the first class")
axes[0].set_ylabel("probability")
figure.suptitle(
    "With a larger α a class is ruled out, or certain, at a smaller distance"
)
figure.legend(
    lines,
    ["class with the rising score", "class with score 1", "class with score 0"],
    loc="outside lower center",
    ncols=3,
    frameon=False,
)
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/alpha.png"

# %%
# In the grey interval the first class is possible but not certain. Below it this class
# has probability zero, and above it all others. :doc:`/user_guide/mappings` explains
# these intervals.
