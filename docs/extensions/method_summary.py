"""A table of the methods of a class at the end of its docstring."""

import inspect

FEWEST_METHODS = 2
# Hooks that skl2onnx calls; users call skl2onnx.
HOOKS = {"onnx_converter", "onnx_parser", "onnx_shape_calculator"}


def is_inherited_from_elsewhere(member):
    """Whether a member comes from scikit-learn, whose pages describe it."""
    return (getattr(member, "__module__", None) or "").startswith("sklearn.")


def is_hidden(name, member):
    """Whether pages leave a member out: inherited, a hook, or a setter of requests."""
    setter = name.startswith("set_") and name.endswith("_request")
    return name in HOOKS or setter or is_inherited_from_elsewhere(member)


def public_methods(cls):
    """Names of the documented methods of a class, in alphabetical order."""
    return [
        name
        for name, member in inspect.getmembers(cls, inspect.isroutine)
        if not name.startswith("_")
        and (getattr(member, "__module__", None) or "").startswith("skprob")
        and inspect.getdoc(member)
        and not is_hidden(name, member)
    ]


def add_methods(app, what, name, cls, options, lines):
    """Append the table to the lines of a docstring."""
    if what != "class":
        return
    methods = public_methods(cls)
    if len(methods) < FEWEST_METHODS:
        return
    lines += ["", ".. rubric:: Methods", ""]
    lines += [".. autosummary::", "   :nosignatures:", ""]
    lines += [f"   ~{cls.__name__}.{method}" for method in methods]
    lines += [""]


def skip_hidden(app, what, name, member, skip, options):
    """Leave out what every scikit-learn estimator has, and hooks."""
    return skip or is_hidden(name, member)


def setup(app):
    """Register the handlers with Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    # After numpydoc, which replaces the lines.
    app.connect("autodoc-process-docstring", add_methods, priority=900)
    app.connect("autodoc-skip-member", skip_hidden)
    return {"parallel_read_safe": True}
