"""Probability of a class whose score falls ever further behind the best."""

import matplotlib.pyplot as plt
import numpy as np
from heavy_entmax import HeavyEntmax

from skprob.mappings import Entmax, Softmax

behind = np.geomspace(0.1, 100, 401)
scores = np.stack([np.zeros_like(behind), -behind], axis=1)
mappings = {
    r"sparsemax, $\alpha = 2$": Entmax(2),
    r"entmax, $\alpha = 1.5$": Entmax(1.5),
    r"softmax, $\alpha = 1$": Softmax(),
    r"heavy-tailed, $\alpha = 0.75$": HeavyEntmax(0.75),
    r"heavy-tailed, $\alpha = 0.5$": HeavyEntmax(0.5),
}

fig, ax = plt.subplots(figsize=(6, 3.4))
shades = np.linspace(0.85, 0, len(mappings))
for (label, mapping), shade in zip(mappings.items(), shades, strict=True):
    p = mapping(scores)[:, 1]
    p = np.where(p > 0, p, np.nan)
    ax.loglog(behind, p, color=plt.cm.viridis(shade), label=label)
ax.set(ylim=(1e-6, 1), xlabel="score behind the best of two classes")
ax.set(ylabel="probability, if any")
ax.legend(fontsize="small", loc="lower left")
