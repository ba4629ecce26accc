"""Names of a package that are imported when they are first used."""

import sys
from importlib import import_module


def lazy_attribute(package, modules, name):
    """The value of a name of a package, for its ``__getattr__``.

    Parameters
    ----------
    package : str
        Full name of the package.
    modules : dict
        Name of the module, within the package, that defines each name.
    name : str

    Raises
    ------
    AttributeError
        If no module defines the name.
    """
    if name not in modules:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    value = getattr(import_module(f".{modules[name]}", package), name)
    # Later uses find the name in the package.
    setattr(sys.modules[package], name, value)
    return value
