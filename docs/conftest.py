"""The examples in the pages are tests; the build's own scripts are not."""

import os
from importlib.util import find_spec

import pytest

collect_ignore = ["conf.py", "extensions", "figures"]
# These read real data, from the folder that SKPROB_DATA names.
_ON_REAL_DATA = ["music.rst", "faces.rst"]
if not os.environ.get("SKPROB_DATA"):
    collect_ignore += [f"user_guide/{page}" for page in _ON_REAL_DATA]
# This one saves models with what only the extra skprob[test] is sure to bring.
if not all(find_spec(name) for name in ("skops", "skl2onnx", "onnxruntime")):
    collect_ignore += ["user_guide/saving_and_deploying.rst"]


@pytest.fixture(autouse=True)
def _beside_the_data(request, monkeypatch):
    if request.path.name in _ON_REAL_DATA:
        monkeypatch.chdir(os.environ["SKPROB_DATA"])
