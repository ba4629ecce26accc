"""Every public function says the types of its parameters and of what it returns."""

import ast
import inspect
from importlib import import_module
from pathlib import Path

import pytest

import skprob

PACKAGES = (
    *("linear_model", "metrics", "inspection", "decision"),
    *("mappings", "losses", "attention", "onnx"),
)


def functions(package):
    """Public functions, constructors and methods of a package, by their names."""
    module = import_module(f"skprob.{package}")
    for name in module.__all__:
        member = getattr(module, name)
        if not inspect.isclass(member):
            if inspect.isfunction(member):
                yield name, member
            continue
        for method, value in vars(member).items():
            # A method that overrides one has the types of the base class.
            inherited = any(method in vars(base) for base in member.__mro__[1:-1])
            if inherited and method != "__init__":
                continue
            value = getattr(value, "fget", getattr(value, "__func__", value))
            if inspect.isfunction(value) and (
                not method.startswith("_") or method in ("__init__", "__call__")
            ):
                yield f"{name}.{method}", value


@pytest.mark.parametrize("package", PACKAGES)
def test_signatures_are_annotated(package):
    lacking, n_functions = [], 0
    for name, function in functions(package):
        signature = inspect.signature(function)
        n_functions += 1
        lacking += [
            f"{name}({parameter})"
            for parameter, value in signature.parameters.items()
            if value.annotation is value.empty and parameter not in ("self", "cls")
        ]
        if signature.return_annotation is signature.empty:
            lacking.append(f"{name} ->")
    assert not lacking
    assert n_functions


@pytest.mark.parametrize("package", PACKAGES)
def test_no_class_shows_the_arguments_of_a_base_class(package):
    """As it would if a base class had a `__new__` and no class a constructor."""
    module = import_module(f"skprob.{package}")
    members = [getattr(module, name) for name in module.__all__]
    parameters = {
        member.__name__: inspect.signature(member).parameters
        for member in members
        if inspect.isclass(member)
    }
    assert not [name for name, given in parameters.items() if "args" in given]


@pytest.mark.parametrize("package", ["", "linear_model"])
def test_type_checkers_see_what_is_imported_when_it_is_used(package):
    folder = Path(skprob.__file__).parent / package
    stub = ast.parse((folder / "__init__.pyi").read_text())
    names = [
        alias.asname
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    module = import_module(f"skprob.{package}".rstrip("."))
    expected = {name for name in module.__all__ if name != "__version__"}
    assert set(names) == expected | (set() if package else set(skprob._PACKAGES))


def test_types_are_part_of_the_package():
    assert (Path(skprob.__file__).parent / "py.typed").exists()
