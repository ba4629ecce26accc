"""
Accept certain predictions, check the others
============================================

A post office reads digits. It accepts certain predictions, and a person checks the
others. With softmax every digit has a positive probability in every image, so a
threshold must be chosen. Entmax needs no threshold: a prediction counts as certain if
exactly one digit has a positive probability. This is not a guarantee;
:doc:`/auto_examples/sets_with_a_guarantee` has sets with a chosen probability.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from skprob import EntmaxClassifier, SoftmaxClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0)
entmax = EntmaxClassifier(alpha=1.25, C=10).fit(X_train, y_train)
softmax = SoftmaxClassifier(C=10).fit(X_train, y_train)

p, softmax_p = entmax.predict_proba(X_test), softmax.predict_proba(X_test)
possible = np.count_nonzero(p, axis=1)
right = p.argmax(axis=1) == y_test
certain = possible == 1
print(
    f"accuracy: entmax {right.mean():.3f}, softmax {softmax.score(X_test, y_test):.3f}"
)
print(
    f"one digit possible: {certain.mean():.0%} of images, "
    f"{right[certain].mean():.1%} right"
)
print(
    f"several possible:   {(~certain).mean():.0%}, {right[~certain].mean():.1%} right"
)
print(
    f"true digit among the possible ones: {np.mean(p[range(len(p)), y_test] > 0):.1%}"
)

# %%
# The figure has four test images, from a certain one to a doubtful one. With softmax
# all ten digits have a positive probability. Circles mark the digits that entmax rules
# out.
order = np.argsort(possible, kind="stable")
shown = order[np.linspace(0, len(order) - 1, 4).astype(int)]
figure, axes = plt.subplots(
    3, 4, figsize=(10, 6.3), layout="constrained", height_ratios=[1.2, 1, 1]
)
for column, i in zip(axes.T, shown, strict=True):
    column[0].imshow(X_test[i].reshape(8, 8), cmap="gray_r")
    column[0].set_title(f"a {y_test[i]}")
    column[0].axis("off")
    for ax, row, name in (
        (column[1], softmax_p[i], "softmax"),
        (column[2], p[i], "entmax"),
    ):
        ax.bar(range(10), row, color="#7b8794" if name == "softmax" else "#d1495b")
        zeros = np.flatnonzero(row == 0)
        ax.plot(
            zeros,
            np.full(len(zeros), 0.04),
            "o",
            color="0.6",
            fillstyle="none",
            markersize=4,
        )
        ax.set_title(f"{name}: {np.count_nonzero(row)} possible", fontsize="medium")
        ax.set(ylim=(0, 1), xticks=range(10))
figure.suptitle(
    f"{certain.mean():.0%} of the images have one possible digit, "
    f"and {right[certain].mean():.0%} of these are right"
)
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/possible_classes.png"
