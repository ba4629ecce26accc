"""
Features on very different scales
=================================

See what a solver does on raw measurements, from thousandths to thousands. By default
``LogisticRegression`` stops after a hundred iterations, with a warning. It converges
after thousands. ``SoftmaxClassifier`` minimises the same objective, with the penalty on
the same raw coefficients, in fewer than ten iterations. It uses centred and scaled
features inside.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from skprob import SoftmaxClassifier

MODELS = [
    LogisticRegression(),
    LogisticRegression(max_iter=10_000),
    SoftmaxClassifier(),
]
iterations = {"breast cancer": [], "wine": []}
for name, load in zip(iterations, [load_breast_cancer, load_wine], strict=True):
    X, y = load(return_X_y=True)
    for model in MODELS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        penalty = np.sum(model.coef_**2) / (2 * len(y))
        objective = log_loss(y, model.predict_proba(X)) + penalty
        iterations[name].append(int(np.max(model.n_iter_)))
        print(
            f"{name:14} {model!s:34} {iterations[name][-1]:5} iterations, "
            f"objective {objective:.6f}"
        )

# %%
# After a hundred iterations the objective is far from its minimum.
figure, axes = plt.subplots(1, 2, figsize=(10, 2.8), layout="constrained", sharey=True)
for ax, (name, numbers) in zip(axes, iterations.items(), strict=True):
    bars = ax.barh([str(m) for m in MODELS], numbers, color=["0.65", "0.5", "#d1495b"])
    ax.bar_label(bars, padding=3)
    ax.set(title=f"{name}: iterations", xscale="log", xlim=(1, 20_000))
axes[0].invert_yaxis()
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/badly_scaled.png"
