"""A table of the methods of a class at the end of its docstring."""

import inspect

from skprob.losses import Loss
from skprob.mappings import Mapping

FEWEST_METHODS = 2
# Hooks that skl2onnx calls; users call skl2onnx.
HOOKS = {"onnx_converter", "onnx_parser", "onnx_shape_calculator"}
# What subclasses define and classifiers call: only the pages of the bases have it.
KERNELS = {name for base in (Mapping, Loss) for name in vars(base) if name[0] != "_"}
NOISE_KERNELS = {
    "cdf_and_hazard",
    "cdf_and_pdf",
    "log_hazard",
    "log_hazard_slope",
    "of_coordinate",
    "shape_slopes",
    "slope",
}
BASES = (".Mapping", ".Loss")
PACKAGES = ("skprob.mappings.", "skprob.losses.")


def is_inherited_from_elsewhere(member):
    """Whether a member comes from scikit-learn, whose pages describe it."""
    return (getattr(member, "__module__", None) or "").startswith("sklearn.")


def is_hidden(full_name, name, member):
    """Whether the page of a class leaves a member out.

    It does for hooks, setters of requests, kernels, and members of scikit-learn.
    """
    has_kernels = full_name.startswith(PACKAGES) and not full_name.endswith(BASES)
    setter = name.startswith("set_") and name.endswith("_request")
    kernel = name in NOISE_KERNELS or (has_kernels and name in KERNELS)
    return name in HOOKS or setter or kernel or is_inherited_from_elsewhere(member)


def public_methods(cls):
    """Names of the documented methods of a class, in alphabetical order."""
    return [
        name
        for name, member in inspect.getmembers(cls, inspect.isroutine)
        if not name.startswith("_")
        and (getattr(member, "__module__", None) or "").startswith("skprob")
        and inspect.getdoc(member)
        and not is_hidden(f"{cls.__module__}.{cls.__name__}", name, member)
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
    """Leave out what every scikit-learn estimator has, hooks, and kernels."""
    # The page of an object has its full name.
    full_name = app.env.docname.rpartition("/")[2]
    return skip or is_hidden(full_name, name, member)


def setup(app):
    """Register the handlers with Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    # After numpydoc, which replaces the lines.
    app.connect("autodoc-process-docstring", add_methods, priority=900)
    app.connect("autodoc-skip-member", skip_hidden)
    return {"parallel_read_safe": True}
