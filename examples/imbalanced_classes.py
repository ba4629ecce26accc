"""
Imbalanced classes: costs instead of weights
============================================

Find a rare class without distorting the probabilities. One row in twenty is a fraud,
and a missed fraud costs as much as 19 false alarms. ``class_weight="balanced"`` finds
the frauds, but its probabilities are far too high. A fit with the defaults and the rule
of least cost finds nearly as many, at a slightly higher cost here, and its
probabilities stay calibrated.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_classification
from sklearn.metrics import recall_score
from sklearn.model_selection import train_test_split

from skprob import SoftmaxClassifier
from skprob.decision import LeastCost
from skprob.metrics import brier_loss

costs = np.array([[0, 1], [19, 0]])  # A row for each true class: no fraud, fraud.
X, y = make_classification(
    20_000, n_informative=5, weights=[0.95], class_sep=0.8, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

models = {
    "defaults": SoftmaxClassifier(),
    "balanced weights": SoftmaxClassifier(class_weight="balanced"),
    "least cost": SoftmaxClassifier(threshold=LeastCost(costs)),
}
for name, model in models.items():
    predicted = model.fit(X_train, y_train).predict(X_test)
    p = model.predict_proba(X_test)
    recall, cost = recall_score(y_test, predicted), costs[y_test, predicted].mean()
    print(
        f"{name:16}  frauds found {recall:.0%}, cost {cost:.2f}, "
        f"Brier score {brier_loss(y_test, p):.3f}"
    )

# %%
# The calibration curve has the share of frauds against their mean probability, in eight
# groups of test rows. The probabilities of "least cost" are those of the defaults.
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.plot([0, 1], [0, 1], color="0.7", linestyle=":", label="perfect probabilities")
for name, colour in {"balanced weights": "#7b8794", "least cost": "#d1495b"}.items():
    p = models[name].predict_proba(X_test)[:, 1]
    truth, mean = calibration_curve(y_test, p, n_bins=8, strategy="quantile")
    ax.plot(mean, truth, "o-", color=colour, label=name)
ax.set(xlabel="probability of a fraud", ylabel="share of frauds")
ax.set_title("Weights distort the probabilities, the rule does not")
ax.legend(frameon=False)
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/imbalanced_classes.png"
