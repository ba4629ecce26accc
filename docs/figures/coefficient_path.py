"""The path of a search over C and l1_ratio: norms, and coefficients of one class."""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import EntmaxClassifierCV
from skprob.inspection import PathDisplay

X, y = load_wine(return_X_y=True, as_frame=True)
search = EntmaxClassifierCV([1.5], Cs=20, l1_ratios=[0.5, 0.9])
model = make_pipeline(StandardScaler(), search).fit(X, y)
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
PathDisplay.from_estimator(model, n_named=5, ax=left)
PathDisplay.from_estimator(model, target=1, n_named=5, ax=right)
