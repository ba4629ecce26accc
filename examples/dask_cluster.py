"""
Fit on a Dask cluster
=====================

Fit a Dask dataframe whose rows remain on the workers. Coefficients are sent to the
workers, and sums are returned. The model is that of a fit in memory. In this example
the cluster is two workers in this process. For another cluster, give ``Client`` the
address of its scheduler. The example needs the extra `dask`.
"""

import dask.dataframe as dd
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from distributed import Client

from skprob import EntmaxClassifier
from skprob.inspection import ConvergenceDisplay


def table(seed, n_rows=20_000):
    """Make a partition; in practice it is read from a file."""
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
    probabilities = model.predict_proba(X)  # A Dask array, not yet computed.
    print(f"accuracy {model.score(X, y):.3f}")
    share = (probabilities == 0).mean().compute()
print(f"{share:.0%} of the probabilities are zero")
trips = model.history_["round_trips"][-1]
print(f"{model.n_iter_} iterations took {trips} round trips to the workers")

# %%
# The model has NumPy arrays only, and predicts for rows in memory without a cluster.
rows = table(99)
print(model.predict(rows.drop(columns="kind")[:3]))

# %%
# An iteration takes one or two round trips. In each, a few hundred bytes are sent to a
# worker and returned. Their number does not depend on the number of rows.
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ConvergenceDisplay.from_estimator(model, y="gradient_norm", ax=ax)
ax.set_title(f"120,000 rows on two workers: a fit in {trips} round trips")
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/dask_cluster.png"
