"""
Predict the label sets with the lowest cost
===========================================

An archive tags its pictures by a model, and an editor corrects the tags. The editor
needs one second to remove a wrong tag and four seconds to add a missing one. The
default threshold has a high F1 score. The threshold with the least work is different,
and it can be set without another fit.

A picture is the mean of two handwritten digits; the tags are the digits.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from skprob import EntmaxClassifier


def overlay(X, y, n_images, rng):
    """Draw images of one or two digits, and a 0/1 matrix of their labels."""
    first, second = rng.integers(len(X), size=(2, n_images))
    sets = np.zeros((n_images, 10), dtype=int)
    sets[np.arange(n_images), y[first]] = sets[np.arange(n_images), y[second]] = 1
    return (X[first] + X[second]) / 2, sets


def seconds(truth, tags):
    """Work on a picture: a second for a wrong tag, four for a missing one."""
    return (np.sum(tags > truth) + 4 * np.sum(tags < truth)) / len(truth)


X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
X_old, X_new, y_old, y_new = train_test_split(X / 16, y, test_size=0.5, random_state=0)
X_train, Y_train = overlay(X_old, y_old, 1500, rng)
X_valid, Y_valid = overlay(X_old, y_old, 500, rng)
X_test, Y_test = overlay(X_new, y_new, 1500, rng)

# %%
# A 0/1 matrix as `y` means label sets. The threshold with the least work is chosen with
# pictures that are not training data.
model = EntmaxClassifier().fit(X_train, Y_train)
default = seconds(Y_test, model.predict(X_test))
cuts = np.arange(0, 0.4, 0.01)
p = model.predict_proba(X_valid)
cut = min(cuts, key=lambda c: seconds(Y_valid, p > c))
model.set_threshold(cut)
chosen = seconds(Y_test, model.predict(X_test))
print(f"no tags: {seconds(Y_test, 0 * Y_test):.2f} seconds a picture")
print(f"default threshold: {default:.2f}, threshold {cut:.2f}: {chosen:.2f}")

# %%
# The figure has the work on the test pictures for all thresholds.
p = model.predict_proba(X_test)
figure, ax = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
ax.plot(cuts, [seconds(Y_test, p > c) for c in cuts], color="#7b8794")
ax.axhline(default, color="#a3a9b1", linestyle="--", label="the default rule, for F1")
ax.plot(cut, chosen, "o", color="#d1495b", label="chosen for the least work")
ax.set(xlabel="threshold", ylabel="seconds of work on a picture", ylim=(0, None))
ax.set_title(f"The right threshold saves {1 - chosen / default:.0%} of the work")
ax.legend(frameon=False)
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/threshold_by_cost.png"
