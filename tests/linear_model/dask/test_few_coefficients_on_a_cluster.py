"""A working set of features travels to a cluster, and X does not travel back."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skprob import SparsemaxClassifier

distributed = pytest.importorskip("distributed", reason="needs the extra skprob[dask]")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array", reason="needs the extra skprob[dask]")

# Sockets and processes are closed by the interpreter, which says so.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def test_the_working_set_travels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 300))
    raw = X[:, :4] @ rng.normal(size=(4, 3))
    y = (raw + rng.gumbel(size=raw.shape)).argmax(axis=1)
    about = {"l1_ratio": 0.9, "C": 0.015, "select": "features", "tol": 1e-6}
    expected = SparsemaxClassifier(**about).fit(X, y)
    assert 0 < np.count_nonzero(expected.coef_.any(axis=0)) < 100
    with (
        distributed.LocalCluster(
            n_workers=1, processes=False, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster),
    ):
        given = [da.from_array(a, chunks=(1000, -1)[: a.ndim]) for a in (X, y)]
        model = SparsemaxClassifier(**about).fit(*given)
        # Another scheduler that was chosen is used in place of the cluster.
        with dask.config.set(scheduler="synchronous"):
            local = SparsemaxClassifier().fit(given[0][:, :3], given[1])
    assert local.history_["round_trips"][-1] == 0
    assert_allclose(model.coef_, expected.coef_, atol=1e-5)
    assert_array_equal(model.coef_ == 0, expected.coef_ == 0)
    assert model.history_["round_trips"][-1] > 5
    # Coefficients and gradients travel, whose size does not depend on the rows.
    assert model.history_["bytes"][-1] < X.nbytes / 4
