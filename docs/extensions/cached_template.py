"""Compile numpydoc's template of docstrings once, not again for each docstring."""

from functools import partial

from jinja2 import FileSystemBytecodeCache
from jinja2.sandbox import SandboxedEnvironment
from numpydoc import docscrape_sphinx


def setup(app):
    """Give the environments that numpydoc makes one cache of compiled templates."""
    docscrape_sphinx.SandboxedEnvironment = partial(
        SandboxedEnvironment, bytecode_cache=FileSystemBytecodeCache()
    )
    return {"parallel_read_safe": True}
