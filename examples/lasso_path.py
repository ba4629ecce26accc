"""
Feature selection along a lasso path
====================================

Select features by the lasso, and see in which order they enter. With ``l1_ratio=1`` the
coefficients of most of 30 measurements of a tumour are exactly zero.
``EntmaxClassifierCV`` fits the whole path of penalties in each fold; ``[1]`` is softmax
alone, as in ``LogisticRegressionCV``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import EntmaxClassifierCV
from skprob.inspection import PathDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
search = EntmaxClassifierCV([1], Cs=20, l1_ratios=[1], scoring="accuracy")
model = make_pipeline(StandardScaler(), search).fit(X, y)
search = model[-1]

# Axes of the results: folds, alphas, l1_ratios, Cs.
scores = search.scores_[:, 0, 0].mean(axis=0)
used = np.abs(search.coefs_paths_[:, 0, 0]).max(axis=(0, 2)) > 0
for C, score, features in zip(search.Cs_[0, 0], scores, used, strict=True):
    if features.sum() <= 15:
        print(f"C = {C:8.4f}: {features.sum():2} features, accuracy {score:.3f}")

# %%
# The best C uses more features. The first C within one standard error of the best score
# has fewer features and about the same accuracy.
error = search.scores_[:, 0, 0].std(axis=0, ddof=1) / np.sqrt(len(search.scores_))
small = np.argmax(scores >= scores.max() - error[scores.argmax()])
print(f"best C: {used[scores.argmax()].sum()} features, accuracy {scores.max():.3f}")
print(f"within one standard error: {used[small].sum()}, {scores[small]:.3f}")
print(", ".join(X.columns[used[small]]))

# %%
# The figure has the coefficients against C, for strong penalties. The features that
# enter first have names. The dotted line is the smaller C.
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
PathDisplay.from_estimator(model, n_named=5, ax=ax)
ax.axvline(search.Cs_[0, 0][small], color="0.4", linestyle=":")
ax.set(xlim=(4e-3, 3), ylim=(-1.5, 4))
ax.set_title(f"{used[small].sum()} of 30 features are enough")
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/lasso_path.png"
