"""Entropy against temperature for all mappings, noises at equal variance."""

import matplotlib.pyplot as plt
from compared import REGISTERED, VARIED

from skprob.inspection import EntropyDisplay

fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
for ax, mappings in zip(axes, [REGISTERED, VARIED], strict=True):
    EntropyDisplay.from_mappings(mappings, scores=[2.0, 1.0, 0.0, -1.0], ax=ax)
    ax.legend(fontsize="x-small")
axes[1].set(ylabel="")
