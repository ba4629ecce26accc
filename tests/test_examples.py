"""Every example script runs, without a warning, in an empty folder."""

import runpy
import sys
from importlib import import_module
from pathlib import Path

import joblib
import pytest
from sklearn.utils.fixes import parse_version
from threadpoolctl import threadpool_limits

from .versions import VERSION

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize(
    "script", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem
)
def test_example_runs(script, tmp_path, monkeypatch, capfd):
    pytest.importorskip("matplotlib", reason="needs the extra skprob[plot]")
    if script.stem == "distillation" and VERSION < parse_version("1.8"):
        pytest.skip("calibrates by a temperature, as scikit-learn 1.8 can")
    if "dask" in script.stem:
        pytest.importorskip("distributed", reason="needs the extra skprob[dask]")
    if "onnx" in script.stem:
        pytest.importorskip("skl2onnx", reason="needs the extra skprob[onnx]")
        pytest.importorskip("onnxruntime", reason="needs the extra skprob[onnx]")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr(sys, "argv", [str(script)])
    # One thread, because other tests run at the same time, and no processes, which
    # would import everything again.
    with threadpool_limits(1), joblib.parallel_config("sequential"):
        runpy.run_path(str(script), run_name="__main__")
    # More than twenty open figures are a warning.
    import_module("matplotlib.pyplot").close("all")
    out, err = capfd.readouterr()
    assert err == ""
    assert out
    assert not list(tmp_path.iterdir())
