"""
Soft labels from several annotators
===================================

Four annotators label images of digits. They are right in 90, 70, 50 and 40 % of the
images. Three targets can be made of their answers: the majority vote, the share of
votes of each digit, and all digits that somebody named as candidates, of which one is
true.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from skprob import SoftmaxClassifier
from skprob.metrics import brier_loss

QUALITY = [0.9, 0.7, 0.5, 0.4]
X, y = load_digits(return_X_y=True)
accuracy, brier = {}, {}
for seed in range(5):
    X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=seed)
    rng = np.random.default_rng(seed)
    is_right = rng.random((len(y_train), 4)) < QUALITY
    guesses = rng.integers(10, size=is_right.shape)
    answers = np.where(is_right, y_train[:, None], guesses)
    shares = np.eye(10)[answers].mean(axis=1)
    named = (shares > 0).astype(int)
    fits = {
        "majority vote": SoftmaxClassifier().fit(X_train, shares.argmax(axis=1)),
        "shares of votes": SoftmaxClassifier().fit(X_train, shares),
        "candidates": SoftmaxClassifier(target_type="candidates").fit(X_train, named),
        "true labels": SoftmaxClassifier().fit(X_train, y_train),
    }
    for name, model in fits.items():
        p = model.predict_proba(X_test)
        accuracy.setdefault(name, []).append(np.mean(p.argmax(axis=1) == y_test))
        brier.setdefault(name, []).append(brier_loss(y_test, p))

for name, values in accuracy.items():
    score = np.mean(brier[name])
    print(f"{name:16} accuracy {np.mean(values):.3f}, Brier score {score:.3f}")

# %%
# The shares predict what the annotators say, with their errors. The candidates predict
# the true digit nearly as well as the true labels do, and need no estimate of the
# quality of the annotators. ``predict`` of both returns a digit.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
colours = ["#7b8794", "#a3a9b1", "#d1495b", "#d9a441"]
for ax, measure, title in (
    (left, accuracy, "accuracy, more is better"),
    (right, brier, "Brier score, less is better"),
):
    ax.boxplot(
        list(measure.values()), tick_labels=list(measure), orientation="horizontal"
    )
    ax.set(title=title)
    ax.invert_yaxis()
right.set_yticks([])
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/annotators.png"
