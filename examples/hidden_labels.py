"""
Multi-label data with missing labels
====================================

Fit multi-label data in which nobody has checked every label. A NaN in the 0/1 matrix
says that a label is not known, and ``SigmoidClassifier`` leaves it out of the loss. Do
not take unknown labels as absent. A picture is the maximum of two or three handwritten
digits; the labels are the digits.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import f1_score

from skprob import SigmoidClassifier

X, digit = load_digits(return_X_y=True)
rng = np.random.default_rng(0)


def overlay(rows, n_pictures):
    """Pictures of two or three digits, and a 0/1 matrix of their labels."""
    chosen = rng.choice(rows, size=(n_pictures, 3))
    chosen[: n_pictures // 2, 2] = chosen[: n_pictures // 2, 1]
    labels = np.zeros((n_pictures, 10))
    np.put_along_axis(labels, digit[chosen], 1, axis=1)
    return X[chosen].max(axis=1) / 16, labels


X_train, Y_train = overlay(np.arange(1000), 1500)
X_test, Y_test = overlay(np.arange(1000, 1797), 1500)

# %%
# A growing share of the training labels is hidden at random.
shares = [0.0, 0.2, 0.4, 0.6, 0.8]
scores = {"left out, as NaN": [], "taken as absent": []}
for share in shares:
    hidden = np.random.default_rng(1).random(Y_train.shape) < share
    targets = np.where(hidden, np.nan, Y_train), np.where(hidden, 0, Y_train)
    for name, target in zip(scores, targets, strict=True):
        predicted = SigmoidClassifier().fit(X_train, target).predict(X_test)
        scores[name].append(f1_score(Y_test, predicted, average="micro"))
    print(
        f"{share:.0%} hidden: "
        + ", ".join(f"{k} {v[-1]:.2f}" for k, v in scores.items())
    )

# %%
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for (name, values), colour in zip(scores.items(), ["#d1495b", "#7b8794"], strict=True):
    ax.plot(shares, values, "o-", color=colour, label=name)
ax.set(
    xlabel="share of hidden labels", ylabel="micro-F1 on new pictures", ylim=(0.5, 0.8)
)
ax.set_title("Missing labels are not absent labels")
ax.legend(frameon=False)
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/hidden_labels.png"
