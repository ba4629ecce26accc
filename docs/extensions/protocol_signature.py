"""Protocols without a signature: autodoc would show ``(*args, **kwargs)``."""


def no_signature_of_protocols(app, what, name, cls, options, signature, returns):
    """No parameters of a protocol, which is never called; None of other objects."""
    if what == "class" and getattr(cls, "_is_protocol", False):
        return "", None
    return None


def setup(app):
    """Register the handler with Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    # Before numpydoc: the first handler with a result decides.
    app.connect("autodoc-process-signature", no_signature_of_protocols, priority=100)
    return {"parallel_read_safe": True}
