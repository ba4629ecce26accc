"""
Choose α and the penalty together
=================================

Learn to search over the mapping and the penalty in one call. ``EntmaxClassifierCV``
fits the whole grid in each fold, and chooses the pair with the lowest Brier score. In
this example the targets are soft labels: the forty nearest neighbours of a wine vote
for its grower.
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
brier = -model.scores_.mean(axis=0)  # A row for each alpha, a column for each C.
for alpha, row in zip(model.alphas_, brier, strict=True):
    print(f"alpha = {alpha:<4g}  best Brier score {row.min():.4f}")
print(f"chosen: alpha = {model.alpha_:g}, C = {model.C_:g}")

# %%
# The red frame marks the chosen pair. The first row is softmax.
figure, ax = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
image = ax.imshow(brier, cmap="viridis_r", norm="log", aspect="auto")
middle = np.sqrt(brier.min() * brier.max())
for (i, j), score in np.ndenumerate(brier):
    style = {"ha": "center", "va": "center", "color": "w" if score > middle else "k"}
    ax.text(j, i, f"{score:.4f}", **style)
i, j = np.unravel_index(brier.argmin(), brier.shape)
ax.add_patch(plt.Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, ec="#d1495b", lw=4))
ax.set_xticks(range(brier.shape[1]), [f"{C:g}" for C in model.Cs_[0]])
ax.set_yticks(range(brier.shape[0]), [f"{alpha:g}" for alpha in model.alphas_])
ax.set(xlabel="C (to the right, less penalty)", ylabel="α")
ax.set_title(
    f"Entmax: {1 - brier.min() / brier[0].min():.0%} below the best of softmax"
)
figure.colorbar(image, label="Brier score, less is better")
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/alpha_and_penalty.png"
