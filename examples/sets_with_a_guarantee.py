"""
Prediction sets with a guarantee
================================

Predict sets that contain the true class with a probability that you choose, by
conformal prediction. A machine reads digits, and a person looks at the candidates. The
true digit must be among them in 98 % of the images. ``ConformalSets`` calibrates the
sets of any classifier, in folds of the training images.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from skprob import SoftmaxClassifier
from skprob.decision import ConformalSets, names_of
from skprob.metrics import mean_set_size, set_coverage

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X / 16, y, test_size=0.5, random_state=0
)
model = ConformalSets(SoftmaxClassifier(), coverage=0.98).fit(X_train, y_train)
sets = model.predict_set(X_test)

sizes = sets.sum(axis=1)
print(f"the true digit is in {set_coverage(y_test, sets):.1%} of the sets")
print(f"{mean_set_size(sets):.2f} digits in a set, at most {sizes.max()}")
print(f"{np.mean(sizes == 1):.0%} of the images need no second look")

# %%
# The guarantee is a mean over draws of the images, so the share of one draw may be a
# little lower than 98 %. The figure has the four images with the largest sets.
# ``predict_proba`` is zero for the digits that are ruled out, which the crosses mark.
hard = np.argsort(-sizes, kind="stable")[:4]
p = model.predict_proba(X_test[hard])
figure, axes = plt.subplots(2, 4, figsize=(10, 4.5), layout="constrained")
for (image, bars), i, row in zip(axes.T, hard, p, strict=True):
    image.imshow(X_test[i].reshape(8, 8), cmap="gray_r")
    names = " or ".join(map(str, names_of(sets[[i]], model.classes_)[0]))
    image.set_title(f"{names} (true: {y_test[i]})", fontsize="medium")
    image.axis("off")
    bars.bar(range(10), row, color="#d1495b")
    zeros = np.flatnonzero(row == 0)
    bars.plot(zeros, np.full(len(zeros), 0.05), "x", color="0.6", markersize=4)
    bars.set(ylim=(0, 1), xticks=range(10))
figure.suptitle(f"{set_coverage(y_test, sets):.1%} of the sets contain the true digit")
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/sets_with_a_guarantee.png"
