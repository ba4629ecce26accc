"""
Fit on the workers of a cluster
===============================

The rows of a Dask dataframe stay on the workers: coefficients go out and sums come
back. The model is the one of the rows in memory. Here the cluster is two workers in
this process; for a real one, give ``Client`` the address of its scheduler. It needs the
extra `dask`.
"""

import dask.dataframe as dd
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from distributed import Client

from skprob import EntmaxClassifier
from skprob.inspection import ConvergenceDisplay


def table(seed, n_rows=20_000):
    """Make a partition; it might as well be read from a file."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 10))
    scores = X[:, :3] + 0.5 * X[:, 3:6] + rng.gumbel(size=(n_rows, 3))
    rows = pd.DataFrame(X, columns=[f"x{i}" for i in range(10)])
    rows["kind"] = np.array(["cirrus", "cumulus", "stratus"])[scores.argmax(axis=1)]
    return rows


data = dd.from_map(table, range(6))
X, y = data.drop(columns="kind"), data["kind"]
with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"):
    model = EntmaxClassifier().fit(X, y)
    probabilities = model.predict_proba(X)  # Lazy: nothing has been computed yet.
    print(f"accuracy {model.score(X, y):.3f}")
    share = (probabilities == 0).mean().compute()
print(f"{share:.0%} of the probabilities are zero")
trips = model.history_["round_trips"][-1]
print(f"{model.n_iter_} iterations took {trips} round trips to the workers")

# %%
# The model is NumPy alone, and serves rows in memory without a cluster.
rows = table(99)
print(model.predict(rows.drop(columns="kind")[:3]))

# %%
# An iteration is one or two round trips. On each, a few hundred bytes go to a worker
# and come back, however many rows it has.
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ConvergenceDisplay.from_estimator(model, name="objective", ax=ax)
ax.set_title(f"120,000 rows on two workers: a fit in {trips} round trips")
plt.show()
