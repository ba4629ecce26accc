"""
Choose α and the penalty together
=================================

The best mapping depends on the data and on the penalty, so search over both. In this
example the targets are distributions: the forty nearest neighbours of a wine vote for
its grower. ``EntmaxClassifierCV`` fits the whole grid in each fold, and chooses the
pair with the lowest Brier score.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import scale

from skprob import EntmaxClassifierCV

X, grower = load_wine(return_X_y=True)
X = scale(X)
votes = KNeighborsClassifier(n_neighbors=40).fit(X, grower).predict_proba(X)

model = EntmaxClassifierCV(alphas=[1, 1.25, 1.5, 1.75, 2], Cs=[0.01, 0.1, 1, 10, 100])
model.fit(X, votes)
brier = -model.scores_.mean(axis=0)
for alpha, row in zip(model.alphas_, brier, strict=True):
    print(f"alpha = {alpha:<4g}  best Brier score {row.min():.4f}")
print(f"chosen: alpha = {model.alpha_:g}, C = {model.C_:g}")

# %%
# The red frame marks the chosen pair. The first row is softmax.
figure, ax = plt.subplots(figsize=(6.5, 5), layout="constrained")
image = ax.imshow(brier, cmap="viridis_r", norm="log", aspect="auto")
for i, j in np.ndindex(brier.shape):
    light = brier[i, j] > np.sqrt(brier.min() * brier.max())
    ax.text(
        j,
        i,
        f"{brier[i, j]:.4f}",
        ha="center",
        va="center",
        color="w" if light else "k",
    )
i, j = np.unravel_index(brier.argmin(), brier.shape)
ax.add_patch(plt.Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, ec="#d1495b", lw=4))
ax.set(
    xticks=range(brier.shape[1]),
    xticklabels=[f"{C:g}" for C in model.Cs_[0]],
    yticks=range(brier.shape[0]),
    yticklabels=[f"{alpha:g}" for alpha in model.alphas_],
    xlabel="C (to the right, less penalty)",
    ylabel="α",
    title=f"Entmax: {1 - brier.min() / brier[0].min():.0%} below the best of softmax",
)
figure.colorbar(image, label="Brier score, less is better")
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/alpha_and_penalty.png"
