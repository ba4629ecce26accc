"""
Rule classes out with a guarantee
=================================

A machine reads digits, and a person looks at the candidates that it cannot rule out.
The true digit must be among them in 98 % of the images. There are three ways to choose
candidates:

* the most probable digits of softmax, until their probabilities sum to 98 %;
* the digits with a positive probability under entmax;
* the prediction sets of :class:`~skprob.decision.ConformalSets`, which is calibrated on
  images that the model has not seen.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from skprob import EntmaxClassifier, SoftmaxClassifier
from skprob.decision import ConformalSets, names_of
from skprob.metrics import mean_set_size, set_coverage

LEVELS = [0.95, 0.97, 0.98, 0.99]
COLOURS = {"softmax": "#7b8794", "entmax": "#d9a441", "conformal": "#d1495b"}


def until(p, level):
    """The most probable classes of each row, until their sum reaches a level."""
    order = np.argsort(-p, axis=1)
    falling = np.take_along_axis(p, order, axis=1)
    sets = np.zeros(p.shape, dtype=int)
    before = np.cumsum(falling, axis=1) - falling
    np.put_along_axis(sets, order, before < level, axis=1)
    return sets


# %%
# Twenty random splits: half of the images for the fit, a quarter each for the
# calibration and the test. All figures are of the test images.
X, y = load_digits(return_X_y=True)
results = {}
for seed in range(20):
    X_fit, X_rest, y_fit, y_rest = train_test_split(
        X / 16, y, test_size=0.5, random_state=seed
    )
    X_cal, X_test, y_cal, y_test = train_test_split(
        X_rest, y_rest, test_size=0.5, random_state=seed
    )
    softmax = SoftmaxClassifier().fit(X_fit, y_fit)
    p = softmax.predict_proba(X_test)
    entmax = EntmaxClassifier().fit(X_fit, y_fit).predict_proba(X_test)
    sets = {("entmax", None): (entmax > 0).astype(int)}
    for level in LEVELS:
        model = ConformalSets(softmax, coverage=level, cv="prefit").fit(X_cal, y_cal)
        sets["conformal", level] = model.predict_set(X_test)
        sets["softmax", level] = until(p, level)
    for key, each in sets.items():
        coverage = set_coverage(y_test, each, classes=range(10))
        results.setdefault(key, []).append((coverage, mean_set_size(each)))
results = {key: np.mean(values, axis=0) for key, values in results.items()}
for (name, level), (coverage, size) in results.items():
    asked = "" if level is None else f", {level:.0%} asked for"
    print(f"{name + asked:29} {coverage:.1%} covered, {size:.2f} digits")

# %%
# Softmax with its default penalty is under-confident here: the digits whose
# probabilities sum to 98 % cover more than 98 %, and are more than needed. Entmax
# without a calibration names still more. On the left are the two images of the last
# split with the largest sets. Crosses mark the digits that are ruled out.
model = ConformalSets(softmax, coverage=0.98, cv="prefit").fit(X_cal, y_cal)
calibrated = model.predict_proba(X_test)
sets = model.predict_set(X_test)
hard = np.argsort(-sets.sum(axis=1), kind="stable")[:2]
figure, axes = plt.subplot_mosaic(
    "abcs;defs",
    figsize=(10, 3.8),
    layout="constrained",
    width_ratios=[0.7, 1.3, 1.3, 2.3],
)
for panels, i in zip(("abc", "def"), hard, strict=True):
    image, left, right = (axes[name] for name in panels)
    image.imshow(X_test[i].reshape(8, 8), cmap="gray_r")
    image.set_title(f"a {y_test[i]}", fontsize="medium")
    image.axis("off")
    left.bar(range(10), p[i], color=COLOURS["softmax"])
    left.set_title("softmax: 10 possible", fontsize="medium")
    right.bar(range(10), calibrated[i], color=COLOURS["conformal"])
    zeros = np.flatnonzero(calibrated[i] == 0)
    right.plot(zeros, np.full(len(zeros), 0.05), "x", color="0.6", markersize=4)
    names = " or ".join(map(str, names_of(sets[[i]], model.classes_)[0]))
    right.set_title(f"calibrated: {names}", fontsize="medium")
    for ax in (left, right):
        ax.set(ylim=(0, 1), xticks=range(10))
labels = {
    "softmax": "softmax, summed up",
    "entmax": "entmax, not calibrated",
    "conformal": "ConformalSets",
}
for name, label in labels.items():
    points = {level: value for (kind, level), value in results.items() if kind == name}
    coverage, size = np.transpose(list(points.values()))
    axes["s"].plot(size, coverage, "o-", color=COLOURS[name], label=label)
    for level, (share, number) in points.items():
        if level is not None:
            axes["s"].annotate(
                f"{level:.0%}",
                (number, share),
                xytext=(4, -11),
                textcoords="offset points",
                fontsize="small",
            )
axes["s"].set(
    xlabel="digits in a set",
    ylabel="sets with the true digit",
    title="Labels: the coverage asked for",
)
axes["s"].yaxis.set_major_formatter("{x:.1%}")
axes["s"].legend(fontsize="small", loc="lower right")
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/sets_with_a_guarantee.png"
