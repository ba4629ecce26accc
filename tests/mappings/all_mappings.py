"""Every mapping, with the parameters at which it may behave differently.

A registered mapping is tested with its default parameters; add further parameters here.
"""

import re

import numpy as np
import pytest

from skprob.mappings import (
    MAPPINGS,
    Entmax,
    Mapping,
    NormalizedMapping,
    PerturbMax,
    Sigmoid,
    Temperature,
    ThresholdMapping,
)


def heavy(x):
    """Tails that fall like the square."""
    return np.exp(2 * np.arcsinh(x))


def heavy_slope(x):
    return 2 * heavy(x) / np.hypot(1, x)


def squares(x):
    return 1 + x**2


def squares_slope(x):
    return 2 * x


MEMBERS = [
    *(mapping() for mapping in MAPPINGS.values()),
    *(Entmax(alpha) for alpha in (0.5, 0.7, 1, 1.05, 1.25, 1.75, 2.5)),
    Temperature(Entmax(), 0.5),
    PerturbMax("exponential", 2.0),
    PerturbMax("uniform"),
    Sigmoid(1.5, budget=(0.5, 1)),
    Sigmoid(2, budget=(1, 1)),
    ThresholdMapping(heavy, heavy_slope),
    NormalizedMapping(squares, squares_slope),
]


def name_of(mapping):
    """Its representation, without the addresses of functions: the same everywhere."""
    return re.sub(r"\s+", " ", re.sub(r"<function (\w+) at \w+>", r"\1", repr(mapping)))


def each(select=lambda mapping: True):
    """Run a test with ``mapping`` being each member that is selected."""
    chosen = [mapping for mapping in MEMBERS if select(mapping)]
    return pytest.mark.parametrize("mapping", chosen, ids=name_of)


def has_jacobian(mapping):
    return provides(mapping, "linearize")


def provides(mapping, kernel):
    """Does the mapping, or the one that it wraps, define this kernel?"""
    inner = getattr(mapping, "mapping", mapping)
    return getattr(type(inner), kernel) is not getattr(Mapping, kernel)
