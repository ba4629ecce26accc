r"""
A mapping from a function
=========================

Make a classifier with probabilities of your own from an increasing, positive function
g. Here g is exp(2 arcsinh(x)), which decreases like 1/(4x²) below zero: a class with a
low score has a larger probability than under softmax. There are two ways:

* Divide g(score) by the sum. This mapping has no potential, so the log loss trains it.
* Subtract one threshold from all scores for which the values of g sum to one. This
  mapping is the gradient of a convex function and has a convex loss.

:doc:`/user_guide/adding_a_mapping` has the requirements on g.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import LinearClassifier
from skprob.mappings import NormalizedMapping, Softmax, Sparsemax, ThresholdMapping
from skprob.metrics import BrierScorer


def g(x):
    return np.exp(2 * np.arcsinh(x))


mappings = {
    "softmax": Softmax(),
    "sparsemax": Sparsemax(),
    "g, by division": NormalizedMapping(g),
    "g, by a threshold": ThresholdMapping(g),
}

# %%
# Each mapping is an argument of ``LinearClassifier``. A grid search chooses C and the
# temperature.
X, y = load_wine(return_X_y=True)
grid = {"linearclassifier__C": [0.1, 1, 10], "linearclassifier__temperature": [0.3, 1]}
for name, mapping in mappings.items():
    model = make_pipeline(StandardScaler(), LinearClassifier(mapping))
    search = GridSearchCV(model, grid, scoring=BrierScorer(), cv=3).fit(X, y)
    loss = type(search.best_estimator_[-1].loss_).__name__
    print(f"{name:18} {loss:17} Brier score {-search.best_score_:.4f}")

# %%
# The probability of a class against its score, with two other classes at 0: it falls
# exponentially under softmax, to zero under sparsemax, and slowly under mappings of g.
score = np.linspace(-10, 0, 300)
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for name, mapping in mappings.items():
    p = mapping(np.stack([0 * score, 0 * score, score], axis=1))[:, 2]
    ax.plot(score, np.where(p > 0, p, np.nan), label=name)
ax.set(yscale="log", ylim=(1e-4, 1), xlabel="score", ylabel="probability")
ax.set_title("Probability of the weakest of three classes")
ax.legend(frameon=False)
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/own_mapping.png"
