"""Signatures of classes, from ``__init__``: autodoc reads them from ``__new__``."""

import inspect


def without_annotations(signature):
    """The signature as text, without types, which the docstring says."""
    empty = inspect.Signature.empty
    parameters = [p.replace(annotation=empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=parameters, return_annotation=empty))


def signature_of_init(app, what, name, cls, options, signature, returns):
    """Parameters of a class whose ``__new__`` takes any; none of a protocol."""
    if what == "class" and signature == "(*args, **kwargs)":
        if getattr(cls, "_is_protocol", False):
            # It is never called.
            return "", None
        return without_annotations(inspect.signature(cls)), None
    return None


def setup(app):
    """Register the handler with Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    # Before numpydoc: the first handler with a result decides.
    app.connect("autodoc-process-signature", signature_of_init, priority=100)
    return {"parallel_read_safe": True}
