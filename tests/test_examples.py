"""Every example script runs, without a warning, where nothing but the package is."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
# The demo's picture is drawn by a module of its own, which is no script.
SCRIPTS = sorted(set(EXAMPLES.glob("*.py")) - {EXAMPLES / "demo_picture.py"})


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_example_runs(script, tmp_path):
    # One thread, so that small problems are not slowed by tests that run beside it.
    environment = {"MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-W", "error", script],
        cwd=tmp_path,
        env=os.environ | environment | {"OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert run.stdout
    announced = re.findall(r"Saved (\S+\.png)", run.stdout)
    assert {path.name for path in tmp_path.iterdir()} == set(announced)
    for name in announced:
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
