"""
Learn from shares: the digits in a blend
========================================

Learn from soft labels, here the shares of the digits in a blended image.
``LogisticRegression`` can learn only from the main digit of each image. skprob learns
from all shares, and entmax can predict a share of zero.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from skprob import EntmaxClassifier, SoftmaxClassifier
from skprob.metrics import brier_loss, mean_support_size

X, y = load_digits(return_X_y=True)
X_old, X_new, y_old, y_new = train_test_split(X / 16, y, test_size=0.5, random_state=0)
rng = np.random.default_rng(0)


def blend(X, y, n_images):
    """Draw blends of three images, and the shares of the ten digits in them."""
    rows = rng.integers(len(X), size=(n_images, 3))
    parts = rng.multinomial(10, rng.dirichlet([0.5, 0.5, 0.5], size=n_images)) / 10
    shares = np.einsum("nj,njk->nk", parts, np.eye(10)[y[rows]])
    return np.einsum("nj,njf->nf", parts, X[rows]), shares


images, shares = blend(X_old, y_old, 3000)
new_images, new_shares = blend(X_new, y_new, 1000)
fits = {
    "logistic, main digit": (LogisticRegression(C=10), shares.argmax(axis=1)),
    "softmax, shares": (SoftmaxClassifier(C=10), shares),
    "entmax, shares": (EntmaxClassifier(C=10), shares),
}
p, brier = {}, {}
features = Nystroem(gamma=0.1, n_components=200, random_state=0)
for name, (classifier, target) in fits.items():
    model = make_pipeline(features, classifier).fit(images, target)
    p[name] = model.predict_proba(new_images)
    brier[name] = brier_loss(new_shares, p[name])
    print(f"{name:20} Brier {brier[name]:.3f}, {mean_support_size(p[name]):.1f} digits")
print(f"{'the truth':31} {mean_support_size(new_shares):.1f} digits")

# %%
# Three new blends. A mark is the true share of a digit, a bar a predicted one. On the
# right are the mean scores of all new blends.
figure, axes = plt.subplot_mosaic("abcx;defx", figsize=(11, 5), layout="constrained")
colours = ["#a3a9b1", "#5b6b7b", "#d1495b"]
mixed = np.flatnonzero(new_shares.max(axis=1) <= 0.7)[:3]
for above, below, i in zip("abc", "def", mixed, strict=True):
    axes[above].imshow(new_images[i].reshape(8, 8), cmap="gray_r")
    axes[above].axis("off")
    for k, name in enumerate(p):
        axes[below].bar(np.arange(-0.3, 9) + 0.3 * k, p[name][i], 0.3, color=colours[k])
    true = np.flatnonzero(new_shares[i])
    axes[below].plot(true, new_shares[i, true], "k_", markersize=12)
    axes[below].set(xticks=range(10), ylim=(0, 1), xlabel="digit")
axes["d"].set_ylabel("share")
bars = axes["x"].bar(range(3), brier.values(), color=colours)
axes["x"].bar_label(bars, fmt="%.3f")
axes["x"].set(title="Brier score, less is better", xticks=[])
figure.legend(bars, p, loc="outside lower center", ncols=3)
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/demo.png"
