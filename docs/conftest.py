"""The examples in the pages are tests, run as by a reader who pastes them."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

# The build's own scripts.
collect_ignore = ["check_pages.py", "conf.py", "downloads", "extensions", "figures"]

# Pages whose examples need libraries that are not installed everywhere. pytest reads
# this list in the conftest.py that is nearest to a page, and in no other.
if find_spec("torch") is None:
    collect_ignore += ["user_guide/gpu.rst"]
if find_spec("distributed") is None:
    collect_ignore += ["user_guide/larger_data.rst"]
if not all(find_spec(name) for name in ("skops", "skl2onnx", "onnxruntime")):
    collect_ignore += ["user_guide/saving_and_deploying.rst"]


@pytest.fixture(autouse=True)
def _as_a_reader(request, monkeypatch, tmp_path):
    """Run a page in an empty folder, with the Python files that it offers."""
    page = request.path
    if page.suffix == ".rst":
        for name in re.findall(r":download:`[^`]*?([^`<]+\.py)>?`", page.read_text()):
            (tmp_path / Path(name).name).write_bytes((page.parent / name).read_bytes())
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(tmp_path)
