"""Checks of names, with the most similar allowed name in errors."""

from difflib import get_close_matches
from functools import cache, wraps
from inspect import Signature, signature
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import (
    InvalidParameterError,
    Options,
    StrOptions,
    validate_parameter_constraints,
)


def did_you_mean(value, names):
    """The end of an error message: the most similar of some names, or nothing.

    Parameters
    ----------
    value : object
        The wrong value. There is no similar name if it is not a string.
    names : iterable of str

    Returns
    -------
    hint : str
        Empty, or a sentence with a space before it.
    """
    if not isinstance(value, str):
        return ""
    by_spelling = {_spelling(name): name for name in sorted(names)}
    nearest = get_close_matches(_spelling(value), by_spelling, n=1, cutoff=0.5)
    return f" Did you mean {by_spelling[nearest[0]]!r}?" if nearest else ""


def of_any_spelling(table, name):
    """The entry of a name in a dict, whatever its case, hyphens or blanks; or None."""
    if name in table or not isinstance(name, str):
        return table.get(name)
    return table.get(_spelling(name))


def _spelling(name):
    """The name in lower case, with underscores for blanks and hyphens."""
    return name.lower().replace("-", "_").replace(" ", "_")


def check_parameters(constraints, values, caller_name, other_values=None):
    """scikit-learn's check of parameters; errors have the most similar allowed name.

    Parameters
    ----------
    constraints : dict
        Allowed values of each parameter, as in scikit-learn's
        ``_parameter_constraints``.
    values : dict
    caller_name : str
        Name of the estimator or function in the message.
    other_values : dict, default=None
        For a parameter, sentences about values that are not allowed, by value in lower
        case; or one sentence about all of them.

    Raises
    ------
    InvalidParameterError
        If a value is not allowed.
    """
    try:
        validate_parameter_constraints(constraints, values, caller_name=caller_name)
    except InvalidParameterError as error:
        # The message names the parameter first.
        name = str(error).split("'")[1]
        names = {
            option
            for allowed in constraints[name]
            if isinstance(allowed, StrOptions)
            for option in allowed.options
        }
        value, sentence = values[name], (other_values or {}).get(name)
        if isinstance(sentence, dict):
            is_name = isinstance(value, str | None)
            sentence = of_any_spelling(sentence, value) if is_name else None
        if isinstance(value, type):
            sentence = _instead_of_class(value, constraints[name])
        advice = f" {sentence}" if sentence else did_you_mean(value, names)
        message = f"{error}{advice}"
        raise InvalidParameterError(message) from None


def _instead_of_class(cls, constraints):
    """Advice to a user who gave a class in place of a value."""
    for allowed in constraints:
        is_type = isinstance(allowed, Options) and not isinstance(allowed, StrOptions)
        if is_type and issubclass(cls, allowed.type):
            return f"Give an instance, {cls.__name__}(...)."
    return "Give a value, not a class."


class NestedChecked:
    """An estimator whose errors on ``noise__df`` say if the noise has no parameters.

    scikit-learn's is that a string, say, has no attribute ``set_params``.
    """

    @classmethod
    @cache
    def _get_param_names(cls):
        # Cached: scikit-learn would inspect the constructor twice at every clone, and
        # once where parameters are checked, in each fit and for each cut of a search.
        return super()._get_param_names()

    @wraps(BaseEstimator.set_params)
    def set_params(self, **params):
        self._check_nested(params)
        return super().set_params(**params)

    def _check_nested(self, params):
        """Raise for a parameter of an object that has no parameters to set."""
        for key in params:
            name, _, inner = key.partition("__")
            if not inner or name not in self._get_param_names():
                continue
            value = params.get(name, getattr(self, name, None))
            if not hasattr(value, "set_params"):
                raise ValueError(
                    f"Invalid parameter {key!r}: {name} is {value!r}, which has no "
                    f"parameter {inner!r} that can be set. Give another value of "
                    f"{name} instead."
                )


class NamesChecked(NestedChecked):
    """An estimator whose errors on a wrong name have the most similar allowed name."""

    #: Sentences about values that are not allowed, see :func:`check_parameters`.
    _other_values: ClassVar[dict] = {}

    def _validate_params(self):
        check_parameters(
            self._parameter_constraints,
            self.get_params(deep=False),
            type(self).__name__,
            self._other_values,
        )


class KeywordsChecked(NamesChecked):
    """An estimator whose errors on unknown parameters say what to take instead."""

    #: Sentences about parameters that other packages have, by name in lower case.
    _other_names: ClassVar[dict] = {}

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        # Some releases of Python 3.11 would show the arguments of `__new__` where a
        # class inherits its constructor.
        parameters = []
        if cls.__init__ is not object.__init__:
            _, *parameters = signature(cls.__init__).parameters.values()
        cls.__signature__ = Signature(parameters)

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if args:
            _check_positional(cls, args)
        unknown = kwargs.keys() - cls._get_param_names()
        if unknown and not _takes_any(cls.__init__):
            name = next(key for key in kwargs if key in unknown)
            raise TypeError(
                f"{cls.__name__}.__init__() got an unexpected keyword argument "
                f"{name!r}.{cls._instead_of(name)}"
            )
        return super().__new__(cls)

    @classmethod
    def _instead_of(cls, name):
        """Advice to a user who gave a parameter that the class lacks.

        It is empty, or begins with a space.
        """
        sentence = of_any_spelling(cls._other_names, name)
        if sentence:
            return f" {sentence}"
        return did_you_mean(name, cls._get_param_names())

    @wraps(BaseEstimator.set_params)
    def set_params(self, **params):
        try:
            return super().set_params(**params)
        except ValueError as error:
            names = {key.partition("__")[0] for key in params}
            for name in names.difference(self._get_param_names()):
                if str(error).startswith(f"Invalid parameter {name!r}"):
                    raise ValueError(f"{error}{self._instead_of(name)}") from None
            raise


def _check_positional(cls, args):
    """Raise for more arguments without a name than the class takes."""
    by_place, by_name = [], []
    for each in signature(cls.__init__).parameters.values():
        if each.kind is each.VAR_POSITIONAL:
            return
        (by_name if each.kind is each.KEYWORD_ONLY else by_place).append(each.name)
    _, *allowed = by_place
    if len(args) > len(allowed) and by_name:
        number = f"{len(allowed)} ({', '.join(allowed)})" if allowed else "no"
        raise TypeError(
            f"{cls.__name__}.__init__() takes {number} positional argument(s); got "
            f"{len(args)}. Write the names of parameters, such as {by_name[0]}=..."
        )


def _takes_any(function):
    """Whether a function has a parameter for any other keywords."""
    parameters = signature(function).parameters.values()
    return any(each.kind is each.VAR_KEYWORD for each in parameters)
