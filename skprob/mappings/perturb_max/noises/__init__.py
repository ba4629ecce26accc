"""Noises: the distributions that perturb-max adds to the scores.

:class:`Noise` in `_base.py` declares the methods of a noise: the logarithms of its
density and of its distribution function. `_named.py` holds the noises without a shape
parameter, `_shaped.py` the base class of those with one, each of which has a file.
`_reach.py` computes quantiles and the interval that holds all but a given tail. To add
a noise, write a subclass of :class:`Noise` and a line in `_registry.py`.
"""

from ._generalized_normal import GeneralizedNormal
from ._reach import quantiles, reach
from ._registry import NOISES, get_noise
from ._shaped import ShapedNoise
from ._skew_normal import SkewNormal
from ._student_t import StudentT

__all__ = [
    "NOISES",
    "GeneralizedNormal",
    "ShapedNoise",
    "SkewNormal",
    "StudentT",
    "get_noise",
    "quantiles",
    "reach",
]
