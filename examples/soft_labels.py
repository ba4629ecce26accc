"""Distributions as targets: how much of each digit is in a blend.

Each image is a blend of up to three handwritten digits, and its target is the recipe: a
row that is not negative and sums to one, with zeros for the digits that are not in it.
Fitted to the recipes, a classifier gives shares back; sparsemax, which can say zero,
comes nearer to them than softmax. Fitted to the main ingredient of each blend alone, as
one would without soft labels, it finds that ingredient nearly as often, but not the
rest.

The picture ``soft_labels.png`` shows what each model says of one blend, with marks at
its recipe.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import train_test_split

from skprob import SoftmaxClassifier, SparsemaxClassifier
from skprob.inspection import PredictionDisplay
from skprob.metrics import brier_loss, mean_support_size


def blend(X, y, n_images, rng):
    """Draw blends of three images, and their recipes over the ten digits."""
    rows = rng.integers(len(X), size=(n_images, 3))
    shares = rng.multinomial(10, rng.dirichlet([0.5, 0.5, 0.5], size=n_images)) / 10
    recipes = np.einsum("nj,njk->nk", shares, np.eye(10)[y[rows]])
    return np.einsum("nj,njf->nf", shares, X[rows]), recipes


X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0)
rng = np.random.default_rng(0)
X_train, Q_train = blend(X_train, y_train, 3000, rng)
X_test, Q_test = blend(X_test, y_test, 2000, rng)
print(f"{mean_support_size(Q_test):.1f} digits in a blend\n")

features = Nystroem(gamma=0.1, n_components=200, random_state=0).fit(X_train)
X_train, X_test = features.transform(X_train), features.transform(X_test)
softmax, sparsemax = SoftmaxClassifier(C=10), SparsemaxClassifier(C=10)
models = {
    "softmax, recipes": softmax.fit(X_train, Q_train),
    "sparsemax, recipes": sparsemax.fit(X_train, Q_train),
    "sparsemax, main ingredient": clone(sparsemax).fit(X_train, Q_train.argmax(axis=1)),
}
print(f"{'on new blends':26}  main one found  distance to recipe  digits named")
figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    p = model.predict_proba(X_test)
    found = np.mean(p.argmax(axis=1) == Q_test.argmax(axis=1))
    print(
        f"{name:26}  {found:14.2f}  {brier_loss(Q_test, p):18.3f}  "
        f"{mean_support_size(p):12.1f}"
    )
    PredictionDisplay.from_predictions(p[3], y_true=Q_test[3], ax=ax)
    ax.set_title(name)
figure.savefig("soft_labels.png", dpi=150)
print("\nSaved soft_labels.png.")
