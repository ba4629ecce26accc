"""
Accept certain predictions, check the others
============================================

Use exact zeros to find the rows that need no second look. A post office accepts certain
digits, and a person checks the others. With softmax every digit has a positive
probability, so a threshold must be chosen. With entmax a prediction counts as certain
if exactly one digit is possible. This is not a guarantee;
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

p = entmax.predict_proba(X_test)
possible = np.count_nonzero(p, axis=1)
right, certain = p.argmax(axis=1) == y_test, possible == 1
print(f"accuracy: {right.mean():.3f}, softmax {softmax.score(X_test, y_test):.3f}")
for name, rows in {"one digit": certain, "several digits": ~certain}.items():
    print(
        f"{name} possible: {rows.mean():.0%} of images, {right[rows].mean():.1%} right"
    )
is_possible = p[range(len(p)), y_test] > 0
print(f"true digit among the possible ones: {is_possible.mean():.1%}")

# %%
# The figure has four test images, from a certain one to a doubtful one. Circles mark
# the digits that entmax rules out. With softmax all ten would be possible.
order = np.argsort(possible, kind="stable")
shown = order[np.linspace(0, len(order) - 1, 4).astype(int)]
figure, axes = plt.subplots(2, 4, figsize=(10, 4.5), layout="constrained")
for (image, bars), i in zip(axes.T, shown, strict=True):
    image.imshow(X_test[i].reshape(8, 8), cmap="gray_r")
    image.set_title(f"a {y_test[i]}: {possible[i]} possible", fontsize="medium")
    image.axis("off")
    bars.bar(range(10), p[i], color="#d1495b")
    zeros = np.flatnonzero(p[i] == 0)
    bars.plot(zeros, np.full(len(zeros), 0.04), "o", color="0.6", fillstyle="none")
    bars.set(ylim=(0, 1), xticks=range(10))
figure.suptitle(
    f"{certain.mean():.0%} of the images have one possible digit, "
    f"and {right[certain].mean():.0%} of these are right"
)
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/possible_classes.png"
