"""
Features on very different scales
=================================

The raw measurements of the breast cancer and the wine data range from thousandths to
thousands. By default ``LogisticRegression`` stops after a hundred iterations, far from
the optimum and with a warning. It converges after thousands of iterations.
``SoftmaxClassifier`` minimises the same objective, with the penalty on the same raw
coefficients, in fewer than ten iterations. It uses centred and scaled features inside.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from skprob import SoftmaxClassifier


def objective(model, X, y):
    """Mean log loss plus the ridge penalty at C = 1."""
    penalty = np.sum(model.coef_**2) / (2 * len(y))
    return log_loss(y, model.predict_proba(X)) + penalty


MODELS = [
    LogisticRegression(),
    LogisticRegression(max_iter=10_000),
    SoftmaxClassifier(),
]
results = []
for name, load in {"breast cancer": load_breast_cancer, "wine": load_wine}.items():
    X, y = load(return_X_y=True)
    for model in MODELS:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            model.fit(X, y)
        iterations = int(np.max(model.n_iter_))
        results.append((name, str(model), iterations, objective(model, X, y)))
        print(
            f"{name:14} {model!s:34} {iterations:5} iterations, "
            f"{'not ' if caught else ''}converged, objective {results[-1][-1]:.6f}"
        )

# %%
# The figure has the number of iterations, and the relative difference to the lowest
# objective.
figure, axes = plt.subplots(2, 2, figsize=(10, 5), layout="constrained", sharey=True)
for row, name in zip(axes, ("breast cancer", "wine"), strict=True):
    rows = [result for result in results if result[0] == name][::-1]
    best = min(result[-1] for result in rows)
    labels = [model for _, model, _, _ in rows]
    colours = ["#d1495b", "#7b8794", "#a3a9b1"]
    bars = row[0].barh(labels, [n for _, _, n, _ in rows], color=colours)
    row[0].bar_label(bars, padding=3)
    row[0].set(title=f"{name}: iterations", xscale="log", xlim=(1, 20_000))
    above = [value / best - 1 for *_, value in rows]
    bars = row[1].barh(labels, above, color=colours, left=1e-7)
    row[1].bar_label(bars, [f"{a:.0e}" if a else "lowest" for a in above], padding=3)
    row[1].set(title="objective, relative to the lowest", xscale="log", xlim=(1e-7, 30))
figure.suptitle("Fewer than ten iterations to the optimum, on raw measurements")
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/badly_scaled.png"
