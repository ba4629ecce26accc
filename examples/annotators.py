"""
Soft labels from several annotators
===================================

Choose the target if several annotators label each row, and some of them are wrong.
Three targets can be made of their answers: the majority vote, the share of votes of
each class, and all classes that somebody named as candidates, of which one is true.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from skprob import SoftmaxClassifier
from skprob.metrics import brier_loss

TARGETS = ["true labels", "majority vote", "shares of votes", "candidates"]
X, y = load_digits(return_X_y=True)


def brier_scores(quality, seed):
    """Brier score of each target, with annotators who are right in these shares."""
    X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=seed)
    rng = np.random.default_rng(seed)
    is_right = rng.random((len(y_train), len(quality))) < quality
    guesses = rng.integers(10, size=is_right.shape)
    answers = np.where(is_right, y_train[:, None], guesses)
    shares = np.eye(10)[answers].mean(axis=1)
    named = (shares > 0).astype(int)
    fits = [
        SoftmaxClassifier().fit(X_train, y_train),
        SoftmaxClassifier().fit(X_train, shares.argmax(axis=1)),
        SoftmaxClassifier().fit(X_train, shares),
        SoftmaxClassifier(target_type="candidates").fit(X_train, named),
    ]
    return [brier_loss(y_test, model.predict_proba(X_test)) for model in fits]


crowds = {"four annotators": [0.9, 0.7, 0.5, 0.4], "ten annotators": [0.5] * 10}
results = {}
for crowd, quality in crowds.items():
    results[crowd] = np.mean([brier_scores(quality, seed) for seed in range(5)], axis=0)
    for target, score in zip(TARGETS, results[crowd], strict=True):
        print(f"{crowd}, {target:16} Brier score {score:.3f}")

# %%
# With few annotators candidates are nearly as good as the true labels. With ten, most
# digits are candidates of each image, and the majority vote is as good. Shares predict
# what the annotators say, with their errors.
figure, axes = plt.subplots(1, 2, figsize=(9, 3), sharey=True, layout="constrained")
colours = ["#d9a441", "#7b8794", "#a3a9b1", "#d1495b"]
for ax, (crowd, scores) in zip(axes, results.items(), strict=True):
    bars = ax.barh(TARGETS, scores, color=colours)
    ax.bar_label(bars, fmt="%.2f", padding=3)
    ax.set(title=crowd, xlabel="Brier score, less is better", xlim=(0, 0.5))
axes[0].invert_yaxis()
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/annotators.png"
