"""The text of a property that stands for an attribute of a base class is its comment.

Where a class computes what is a constant elsewhere, autodoc would inherit the docstring
of the constant's type, ``bool(x) -> bool``.
"""

from importlib import import_module

from sphinx.pycode import ModuleAnalyzer


def comment(qualified_name):
    """Lines of the comment ``#:`` of a class's attribute, its own or inherited."""
    owner, _, attribute = qualified_name.rpartition(".")
    package, _, class_name = owner.rpartition(".")
    for cls in getattr(import_module(package), class_name).__mro__:
        if attribute in vars(cls):
            comments = ModuleAnalyzer.for_module(cls.__module__).find_attr_docs()
            if lines := comments.get((cls.__name__, attribute)):
                return lines
    return []


def replace_docstring(app, what, name, obj, options, lines):
    """Put the comment in the place of a constant's docstring."""
    if what == "property" and not obj.__doc__:
        lines[:] = comment(name)


def setup(app):
    """Register the handler with Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", replace_docstring, priority=1)
    return {"parallel_read_safe": True}
