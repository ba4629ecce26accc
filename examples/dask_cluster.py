"""A fit of a Dask dataframe on the workers of a cluster; here two on this machine.

It needs the extra `dask`.
"""

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

from skprob import EntmaxClassifier


def table(seed, n_rows=20_000):
    """A partition; it might as well be read from a file."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 10))
    scores = X[:, :3] + 0.5 * X[:, 3:6] + rng.gumbel(size=(n_rows, 3))
    rows = pd.DataFrame(X, columns=[f"x{i}" for i in range(10)])
    rows["kind"] = np.array(["cirrus", "cumulus", "stratus"])[scores.argmax(axis=1)]
    return rows


def main():
    data = dd.from_map(table, range(6))
    X, y = data.drop(columns="kind"), data["kind"]
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as nodes,
        Client(nodes),
    ):
        model = EntmaxClassifier().fit(X, y)
        probabilities = model.predict_proba(X)  # Lazy: nothing has been computed yet.
        print(f"accuracy {model.score(X, y):.3f}")
        share = (probabilities == 0).mean().compute()
        print(f"{share:.0%} of the probabilities are zero")
        trips = model.history_["round_trips"][-1]
        print(f"{model.n_iter_} iterations took {trips} round trips to the workers")
    # The model is NumPy alone, and serves rows in memory without a cluster.
    print(model.predict(table(99, n_rows=3).drop(columns="kind")))


if __name__ == "__main__":
    main()
