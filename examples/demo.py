"""
Learn from shares: what is in a blend?
======================================

Each image is a blend of up to three handwritten digits, and what is wanted is the
*recipe*: the share of each digit. ``LogisticRegression`` can learn only from the main
digit of each image. skprob learns from the whole recipe, and entmax can say that a
digit is not in the blend at all. Every model has the penalty, and entmax the α, that is
best on a validation set.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from skprob import EntmaxClassifier, SoftmaxClassifier
from skprob.metrics import brier_loss, mean_support_size

CS, ALPHAS = [3, 10, 30], [1.5, 1.75, 2]
MODELS = {
    "logistic, main digit": [LogisticRegression(C=C, max_iter=1000) for C in CS],
    "softmax, shares": [SoftmaxClassifier(C=C) for C in CS],
    "entmax, shares": [EntmaxClassifier(alpha=a, C=C) for a in ALPHAS for C in CS],
}
COLOURS = dict(zip(MODELS, ["#a3a9b1", "#7b8794", "#d1495b"], strict=True))


def blend(X, y, n_images, rng):
    """Draw blends of three images, and their recipes over the ten digits."""
    rows = rng.integers(len(X), size=(n_images, 3))
    shares = rng.multinomial(10, rng.dirichlet([0.5, 0.5, 0.5], size=n_images)) / 10
    recipes = np.einsum("nj,njk->nk", shares, np.eye(10)[y[rows]])
    return np.einsum("nj,njf->nf", shares, X[rows]), recipes


# %%
# Three repetitions, each with another split of the digits: no model has seen any part
# of an image that it is tested on.
distances, X, y = {name: [] for name in MODELS}, *load_digits(return_X_y=True)
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
        distances[name].append(brier_loss(truth, p[name]))

for name, found in distances.items():
    named = mean_support_size(p[name])
    print(f"{name:20}  distance {np.mean(found):.3f}, {named:4.1f} digits named")
print(f"{'the truth':36}{mean_support_size(truth):4.1f}")
before, _, after = (np.mean(found) for found in distances.values())
headline = f"Learning from shares comes {1 - after / before:.0%} nearer to the recipe"
print(headline)

# %%
# On the left, four new blends, with marks at the recipe. On the right, the distances;
# dots are the repetitions.
figure = plt.figure(figsize=(11, 5.5), layout="constrained")
figure.suptitle(headline, fontsize="x-large")
left, right = figure.subfigures(1, 2, width_ratios=[2, 1])
mixed = np.flatnonzero(truth.max(axis=1) <= 0.7)[:4]
for column, i in zip(left.subplots(3, 4, sharey="row").T, mixed, strict=True):
    column[0].imshow(new_images[i].reshape(8, 8), cmap="gray_r")
    column[0].axis("off")
    for ax, name in zip(column[1:], [*MODELS][::2], strict=True):
        ax.bar(range(10), p[name][i], color=COLOURS[name])
        ax.plot(range(10), np.where(truth[i] > 0, truth[i], np.nan), "k_")
        ax.set(xticks=range(10), ylim=(0, 1), title=name.split(",")[0])
ax = right.subplots()
for name, found in distances.items():
    ax.barh(name.replace(", ", "\n"), np.mean(found), color=COLOURS[name])
    ax.plot(found, [name.replace(", ", "\n")] * len(found), "k.")
ax.set(xlabel="squared distance to the recipe", xticks=[0, 0.05, 0.1])
ax.invert_yaxis()
for path in sys.argv[1:]:
    figure.savefig(path, dpi=150)
plt.show()
