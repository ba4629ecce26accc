"""Every example script runs, without a warning, in an empty folder."""

import re
import runpy
import sys
from functools import partial
from pathlib import Path

import joblib
import pytest
import sklearn.datasets
from threadpoolctl import threadpool_limits

EXAMPLES = Path(__file__).parents[1] / "examples"
# The demo's picture is drawn by a module of its own, which is no script.
SCRIPTS = sorted(set(EXAMPLES.glob("*.py")) - {EXAMPLES / "demo_picture.py"})


# Data sets of which every sixth row will do: the whole examples take seconds.
THINNED = {
    "demo": "load_digits",
    "own_mapping": "load_wine",
    "verification": "load_digits",
}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_example_runs(script, tmp_path, monkeypatch, capfd):
    if "dask" in script.stem:
        dask = pytest.importorskip("distributed", reason="needs the extra skprob[dask]")
        here = partial(dask.LocalCluster, processes=False)
        monkeypatch.setattr(dask, "LocalCluster", here)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr(sys, "argv", [str(script)])
    monkeypatch.syspath_prepend(script.parent)
    if script.stem in THINNED:
        load = getattr(sklearn.datasets, THINNED[script.stem])
        X, y = load(return_X_y=True)
        few = X[::6], y[::6]
        monkeypatch.setattr(sklearn.datasets, load.__name__, lambda return_X_y: few)
    # One thread, so that small problems are not slowed by tests that run beside it, and
    # no processes, in which everything would have to be imported once more.
    with threadpool_limits(1), joblib.parallel_config("sequential"):
        runpy.run_path(str(script), run_name="__main__")
    out, err = capfd.readouterr()
    assert err == ""
    assert out
    announced = re.findall(r"Saved (\S+\.png)", out)
    assert {path.name for path in tmp_path.iterdir()} == set(announced)
    for name in announced:
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
