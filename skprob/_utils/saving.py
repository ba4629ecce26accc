"""The state that pickle, joblib and skops save, without private classes of skprob.

Mappings, losses and decision rules that an estimator holds are saved as the name of
their class and their attributes. So with skops there is one type to trust, and a saved
model does not depend on the module in which a class is defined.

Costs, margins and penalty factors may be DataFrames or Series of pandas, which skops
cannot save. They are saved as arrays and names.
"""

from importlib import import_module

from .. import _PACKAGES

_CLASS, _ATTRIBUTES = "class of skprob", "attributes"
_PANDAS, _VALUES, _AXES = "class of pandas", "values", "names of the axes"


class PlainState:
    """Mixin: objects of skprob in an estimator are saved by the names of classes."""

    def __getstate__(self):
        state = super().__getstate__()
        return {name: _described(value) for name, value in state.items()}

    def __setstate__(self, state):
        super().__setstate__({name: _restored(value) for name, value in state.items()})

    def __copy__(self):
        # A copy in memory shares the attributes: it needs no names of classes. By the
        # saved state, searches on little data take 1.15 times as long.
        copied = object.__new__(type(self))
        vars(copied).update(vars(self))
        return copied


def _described(value):
    """Name and attributes of an object of a public class; other objects themselves."""
    package = type(value).__module__.partition(".")[0]
    if package == "pandas" and hasattr(value, "iloc"):
        axes = [axis.tolist() for axis in value.axes]
        return {_PANDAS: type(value).__name__, _VALUES: value.to_numpy(), _AXES: axes}
    if type(value) is dict:
        return {key: _described(each) for key, each in value.items()}
    name = public_name(type(value))
    if name is None or not hasattr(value, "__dict__"):
        return value
    attributes = {key: _described(attribute) for key, attribute in vars(value).items()}
    return {_CLASS: name, _ATTRIBUTES: attributes}


def _restored(value):
    if isinstance(value, dict) and value.keys() == {_PANDAS, _VALUES, _AXES}:
        import pandas

        cls = pandas.Series if value[_PANDAS] == "Series" else pandas.DataFrame
        return cls(value[_VALUES], *value[_AXES])
    if not isinstance(value, dict):
        return value
    if value.keys() != {_CLASS, _ATTRIBUTES}:
        return {key: _restored(each) for key, each in value.items()}
    cls = _public_class(value[_CLASS])
    if cls is None:
        raise ValueError(
            f"The model was saved with {value[_CLASS]}, which this version of skprob "
            "does not have. Load it with the version that saved it."
        )
    restored = object.__new__(cls)
    attributes = {
        key: _restored(attribute) for key, attribute in value[_ATTRIBUTES].items()
    }
    vars(restored).update(attributes)
    return restored


def _public_class(name):
    """Class that a package of skprob exports under this name; None without one.

    The file with the name may be malicious, so only packages of skprob are imported.
    """
    root = __name__.partition(".")[0]
    packages = {f"{root}.{package}" for package in _PACKAGES}
    package, _, class_name = str(name).rpartition(".")
    if package not in packages:
        return None
    module = import_module(package)
    cls = getattr(module, class_name) if class_name in module.__all__ else None
    return cls if isinstance(cls, type) else None


def public_name(cls):
    """The name under which a package of skprob exports a class; None for others."""
    root, *inside = cls.__module__.split(".")
    if root != __name__.partition(".")[0] or not inside:
        return None
    package = f"{root}.{inside[0]}"
    exported = getattr(import_module(package), cls.__name__, None)
    return f"{package}.{cls.__name__}" if exported is cls else None
