"""How alpha shapes probabilities: one score rises past two others.

Three classes have the scores 0, 1 and a third that grows from -3 to 5. For each alpha
the script prints between which scores the third class is possible but not certain, and
saves the curves of all three as ``plot_alpha.png``. For softmax, alpha = 1, there is no
such interval: no probability is ever exactly 0 or 1.
"""

import matplotlib.pyplot as plt
import numpy as np

from skprob.mappings import Entmax

ALPHAS = [1, 1.25, 1.5, 2]
rising = np.linspace(-3, 5, 801)
scores = np.stack([np.zeros_like(rising), np.ones_like(rising), rising], axis=1)

figure, axes = plt.subplots(
    1, len(ALPHAS), figsize=(12, 3), sharey=True, layout="constrained"
)
for ax, alpha in zip(axes, ALPHAS, strict=True):
    p = Entmax(alpha)(scores)
    between = rising[(p[:, 2] > 0) & (p[:, 2] < 1)]
    print(
        f"alpha = {alpha:<5g} 0 < p < 1 for scores from "
        f"{between[0]:5.2f} to {between[-1]:4.2f}, {(p == 0).mean():4.0%} zeros in all"
    )
    for k, label in enumerate(["score 0", "score 1", "rising score"]):
        ax.plot(rising, p[:, k], label=label, linewidth=3 if k == 2 else 1.5)
    ax.set(title=f"α = {alpha:g}", xlabel="rising score")
axes[0].set_ylabel("probability")
axes[0].legend(frameon=False)
figure.savefig("plot_alpha.png", dpi=150)
print("Saved plot_alpha.png.")
