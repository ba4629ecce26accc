"""
Learn from shares: the digits in a blend
========================================

Each image is a blend of up to three handwritten digits. The target is the *recipe*: the
share of each digit. ``LogisticRegression`` can learn only from the main digit of each
image. skprob learns from the whole recipe, and entmax can predict a share of zero. A
validation set chooses the penalties and α.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from skprob import EntmaxClassifier, SoftmaxClassifier
from skprob.metrics import brier_loss, mean_support_size

CS, ALPHAS = [3, 10, 30], [1.5, 1.75, 2]
COLOURS = ["#a3a9b1", "#5b6b7b", "#d1495b"]
MODELS = {
    "logistic, main digit": [LogisticRegression(C=C, max_iter=1000) for C in CS],
    "softmax, shares": [SoftmaxClassifier(C=C) for C in CS],
    "entmax, shares": [EntmaxClassifier(alpha=a, C=C) for a in ALPHAS for C in CS],
}


def blend(X, y, n_images, rng):
    """Draw blends of three images, and their recipes over the ten digits."""
    rows = rng.integers(len(X), size=(n_images, 3))
    shares = rng.multinomial(10, rng.dirichlet([0.5, 0.5, 0.5], size=n_images)) / 10
    recipes = np.einsum("nj,njk->nk", shares, np.eye(10)[y[rows]])
    return np.einsum("nj,njf->nf", shares, X[rows]), recipes


# Three repetitions. No digit image is in both the new images and those of the fit.
X, y = load_digits(return_X_y=True)
brier = dict.fromkeys(MODELS, 0)
for seed in range(3):
    halves = train_test_split(X / 16, y, test_size=0.5, random_state=seed)
    rng = np.random.default_rng(seed)
    images, recipes = blend(*halves[::2], 2500, rng)
    new_images, truth = blend(*halves[1::2], 1000, rng)
    features = Nystroem(gamma=0.1, n_components=200, random_state=0).fit(images)
    Z, Z_valid = np.split(features.transform(images), [2000])
    p = {}
    for name, candidates in MODELS.items():
        target = recipes.argmax(axis=1) if "main" in name else recipes
        fits = [model.fit(Z, target[:2000]) for model in candidates]
        errors = [brier_loss(recipes[2000:], f.predict_proba(Z_valid)) for f in fits]
        p[name] = fits[np.argmin(errors)].predict_proba(features.transform(new_images))
        brier[name] += brier_loss(truth, p[name]) / 3

for name, row in p.items():
    print(f"{name:20} Brier {brier[name]:.3f}, {mean_support_size(row):4.1f} digits")
gain = 1 - brier["entmax, shares"] / brier["logistic, main digit"]
print(headline := f"Learning from shares comes {gain:.0%} nearer to the recipe")

# %%
# The figure shows three new blends without a share above 70%. They are at the quartiles
# of the Brier score of entmax, the squared distance to the recipe. On the right are the
# mean scores of all new blends.
figure, axes = plt.subplot_mosaic("abcx;defx", figsize=(11, 5), layout="constrained")
figure.suptitle(headline, fontsize="x-large")
order = np.argsort(np.sum((p["entmax, shares"] - truth) ** 2, axis=1))
mixed = order[truth[order].max(axis=1) <= 0.7]
quartiles = [rows[0] for rows in np.array_split(mixed, 4)[1:]]
for above, below, i in zip("abc", "def", quartiles, strict=True):
    axes[above].imshow(new_images[i].reshape(8, 8), cmap="gray_r")
    axes[above].axis("off")
    for k, name in enumerate(p):
        axes[below].bar(np.arange(-0.3, 9) + 0.3 * k, p[name][i], 0.3, color=COLOURS[k])
    axes[below].plot(np.where(truth[i] > 0, truth[i], np.nan), "k_", markersize=12)
    axes[below].set(xticks=range(10), ylim=(0, 1), title="marks: the recipe")
bars = axes["x"].bar(range(3), brier.values(), color=COLOURS)
axes["x"].bar_label(bars, fmt="%.3f")
axes["x"].set(title="Brier score, less is better", xticks=[])
figure.legend(bars, p, loc="outside lower center", ncols=3)
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/demo.png"
