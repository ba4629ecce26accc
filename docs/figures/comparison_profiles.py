"""Probability of one class of three against its score, for all mappings."""

import matplotlib.pyplot as plt
from compared import REGISTERED, VARIED

from skprob.inspection import ProfileDisplay

fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
for ax, mappings in zip(axes, [REGISTERED, VARIED], strict=True):
    ProfileDisplay.from_mappings(mappings, fixed_scores=[0.0, -1.0], ax=ax)
    ax.legend(fontsize="x-small")
axes[1].set(ylabel="")
