"""
Learn from shares: the digits in a blend
========================================

Learn from soft labels, here the shares of the two digits in a blended image.
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
    """Draw blends of two images, and the shares of the ten digits in them."""
    first, second = rng.integers(len(X), size=(2, n_images))
    part = rng.integers(11, size=(n_images, 1)) / 10
    digit = np.eye(10)[y]
    shares = part * digit[first] + (1 - part) * digit[second]
    return part * X[first] + (1 - part) * X[second], shares


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
# Three new blends. A mark is the true share of a digit, a bar a predicted one. Digits
# without a red bar are ruled out by entmax.
figure, axes = plt.subplots(2, 3, figsize=(9, 5), layout="constrained")
shown = np.flatnonzero(new_shares.max(axis=1) <= 0.7)[:3]
for (image, bars), i in zip(axes.T, shown, strict=True):
    image.imshow(new_images[i].reshape(8, 8), cmap="gray_r")
    image.axis("off")
    for k, (name, colour) in enumerate(zip(p, ["0.75", "0.4", "#d1495b"], strict=True)):
        label = f"{name} ({brier[name]:.3f})"
        places = np.arange(10) + 0.3 * (k - 1)
        bars.bar(places, p[name][i], 0.3, color=colour, label=label)
    true = np.flatnonzero(new_shares[i])
    bars.plot(true, new_shares[i, true], "k_", markersize=12)
    bars.set(xticks=range(10), ylim=(0, 1), xlabel="digit", ylabel="share")
figure.legend(
    *bars.get_legend_handles_labels(),
    loc="outside lower center",
    ncols=3,
    title="Model and target (Brier score, less is better)",
)
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/demo.png"
