"""The examples in the pages are tests, run as by a reader who pastes them."""

import os
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import sklearn.datasets

# The build's own scripts.
collect_ignore = ["check_pages.py", "conf.py", "downloads", "extensions", "figures"]
# Real data that the page fetches; here they are read from a file, if there is one.
FETCHED = {"music.rst": "emotions"}
FOLDER = os.environ.get("SKPROB_DATA")
if not FOLDER:
    collect_ignore += [f"user_guide/{page}" for page in FETCHED]

# This one saves models with what only the extra skprob[test] is sure to bring.
if not all(find_spec(name) for name in ("skops", "skl2onnx", "onnxruntime")):
    collect_ignore += ["user_guide/saving_and_deploying.rst"]


def emotions(name, version, return_X_y):
    """Rows of the file, in the form in which ``fetch_openml`` returns them."""
    import pandas as pd

    assert (name, version, return_X_y) == ("emotions", 4, True)
    with np.load(Path(FOLDER, f"{name}.npz")) as data:
        X, Y = (np.concatenate([data[f"{a}_train"], data[f"{a}_test"]]) for a in "XY")
        names = [label.replace("-", ".") for label in data["label_names"]]
    Y = pd.DataFrame(np.where(Y, "TRUE", "FALSE"), columns=names, dtype="category")
    return pd.DataFrame(X), Y


@pytest.fixture(autouse=True)
def _as_a_reader(request, monkeypatch, tmp_path):
    """Run a page in an empty folder, with the Python files that it offers."""
    page = request.path
    if page.suffix == ".rst":
        for name in re.findall(r":download:`[^`]*?([^`<]+\.py)>?`", page.read_text()):
            (tmp_path / Path(name).name).write_bytes((page.parent / name).read_bytes())
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(tmp_path)
    if page.name in FETCHED:
        monkeypatch.setattr(sklearn.datasets, "fetch_openml", emotions)
