"""Features on scales from thousandths to thousands: who converges, and how soon.

The raw measurements of the breast cancer and the wine data are fitted as they are, at
each classifier's default tolerance. ``LogisticRegression`` takes far more iterations
than the hundred that it is allowed by default. ``SoftmaxClassifier`` works in centred
and scaled features inside, while its penalty stays that of the raw ones, so that both
minimise the same objective. Its value is in the last column: the smaller, the better.
"""

import warnings

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


print(f"{'data':14} {'classifier':34} iterations  converged  objective")
for name, load in {"breast cancer": load_breast_cancer, "wine": load_wine}.items():
    X, y = load(return_X_y=True)
    for model in (
        LogisticRegression(),
        LogisticRegression(max_iter=10_000),
        SoftmaxClassifier(),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            model.fit(X, y)
        print(
            f"{name:14} {model!s:34} {np.max(model.n_iter_):10}  "
            f"{'no' if caught else 'yes':>9}  {objective(model, X, y):9.6f}"
        )
