"""The noises that a name stands for, and the other objects that may be a noise."""

from functools import lru_cache

from ...._utils.names import did_you_mean
from ._base import Distribution
from ._generalized_normal import GeneralizedNormal
from ._named import Cauchy, Exponential, Gumbel, Laplace, Logistic, Normal, Uniform
from ._shaped import ShapedNoise
from ._skew_normal import SkewNormal
from ._student_t import StudentT

#: The noise of each name. A new noise is one line here.
NOISES = {
    "gumbel": Gumbel(),
    "normal": Normal(),
    "logistic": Logistic(),
    "laplace": Laplace(),
    "exponential": Exponential(),
    "uniform": Uniform(),
    "cauchy": Cauchy(),
    "student_t": StudentT(),
    "generalized_normal": GeneralizedNormal(),
    "skew_normal": SkewNormal(),
}


def get_noise(noise):
    """The noise that a name or a distribution stands for.

    Parameters
    ----------
    noise : str, ShapedNoise or object with methods ``logpdf`` and ``logcdf``

    Returns
    -------
    noise : Noise

    Raises
    ------
    ValueError
        If the name is not known, the shape is not allowed, or the object lacks one of
        the methods or is not one distribution of one number.
    """
    if isinstance(noise, ShapedNoise):
        noise.check()
        return noise
    if isinstance(noise, str) and noise in NOISES:
        return NOISES[noise]
    if isinstance(noise, str):
        raise ValueError(
            f"noise must be one of the names {sorted(NOISES)} or a distribution "
            f"with methods logpdf and logcdf; got {noise!r}."
            f"{did_you_mean(noise, NOISES)}"
        )
    for method in ("logpdf", "logcdf"):
        if not callable(getattr(noise, method, None)):
            raise ValueError(
                "noise must be a name or a distribution with methods logpdf and "
                f"logcdf, such as scipy.stats.t(5); {noise!r} has no {method}."
            )
    try:
        return _as_noise(noise)
    except TypeError:  # The object is not hashable.
        return Distribution(noise)


# Reaches are cached by noise, so a distribution always gives the same noise.
_as_noise = lru_cache(maxsize=64)(Distribution)
