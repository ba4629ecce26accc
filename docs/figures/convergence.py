"""Fits of one objective by two solvers, against passes over the data."""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from skprob import EntmaxClassifier
from skprob.inspection import ConvergenceDisplay

X, y = load_digits(return_X_y=True)
best = EntmaxClassifier(tol=1e-9).fit(X, y)
models = {
    solver: EntmaxClassifier(solver=solver, tol=1e-6).fit(X, y)
    for solver in ("newton-cg", "lbfgs")
}
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6))
ConvergenceDisplay.from_estimators(
    models, x="passes", reference=best.objective_, ax=left
)
ConvergenceDisplay.from_estimators(models, x="passes", y="gradient_norm", ax=right)
