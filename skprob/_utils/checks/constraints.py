"""Constraints of parameters, for scikit-learn's checks."""

from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval, Options, StrOptions

from ..saving import public_name


class RealInterval(Interval):
    """The numbers of an interval that a float can represent; True and False are none.

    It is for a parameter.
    """

    def __init__(self, left, right, *, closed):
        super().__init__(Real, left, right, closed=closed)

    def is_satisfied_by(self, value):
        return is_number(value) and super().is_satisfied_by(value)

    def __contains__(self, value):
        try:
            number = float(value)
        except OverflowError:  # An int that is larger than all floats.
            return False
        # A long double may become infinite.
        too_large = abs(number) == np.inf and abs(value) != np.inf
        return not too_large and super().__contains__(number)


class IntegerInterval(Interval):
    """The integers of an interval, for a parameter; True and False are none."""

    def __init__(self, left, right, *, closed):
        super().__init__(Integral, left, right, closed=closed)

    def is_satisfied_by(self, value):
        return is_integer(value) and super().is_satisfied_by(value)


#: Values of a parameter ``n_jobs``: all integers but 0, which joblib refuses, or None.
NUMBERS_OF_JOBS = [
    IntegerInterval(1, None, closed="left"),
    IntegerInterval(None, -1, closed="right"),
    None,
]


def is_integer(value):
    """Whether a value is an integer; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value):
    """Whether a value is a real number; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


class OneOf(StrOptions):
    """One of some strings, for a parameter; errors list them in this order."""

    def __init__(self, *names):
        super().__init__(set(names))
        # scikit-learn's set has another order in each process.
        self.options = dict.fromkeys(names)


class InstancesOf(Options):
    """Instances of a class of skprob, for a parameter; errors have its public name."""

    def __init__(self, cls):
        super().__init__(cls, set())

    def is_satisfied_by(self, value):
        return isinstance(value, self.type)

    def __str__(self):
        return f"an instance of {public_name(self.type)!r}"
