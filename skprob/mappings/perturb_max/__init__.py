"""Perturb-max: the probability of having the largest score after random noise.

With independent noise of density φ, distribution function Φ and hazard h = φ / Φ,

    p_i = ∫ G(x) h(x - z_i) dx,    G(x) = Π_j Φ(x - z_j).

Two routes compute such integrals. The shared route (`_shared_nodes.py`) uses nodes that
many rows share, for smooth noises. The adaptive route (`_adaptive.py`) chooses panels
for each row, for every noise and for the rows that do not suit the first.
Gumbel noise has a closed form, softmax.

Read `_independent.py` first: it chooses a route for each row. `_derivatives.py` turns
the nodes of either route into derivatives. Panels begin as in `_first_panels.py`, with
the rules of `_panels.py`. `noises/` holds the distributions, `_tuning.py` the numbers.
`_conjugate.py` computes the entropy, `_correlated.py` averages over the shared factors
of `_factors.py`, `_noise_parameters.py` is for noises that are learnt, and
`_quantile_average.py` for the published approximation.
"""

from typing import TYPE_CHECKING

from ..._utils.lazy import lazy_attribute
from ._perturb_max import PerturbMax, perturb_max

if TYPE_CHECKING:
    from ._noise_parameters import check_shape
    from .noises import GeneralizedNormal, SkewNormal, StudentT

__all__ = [
    "GeneralizedNormal",
    "PerturbMax",
    "SkewNormal",
    "StudentT",
    "check_shape",
    "perturb_max",
]

# Imported when used: other mappings need no noise.
_MODULES = {
    "GeneralizedNormal": "noises",
    "SkewNormal": "noises",
    "StudentT": "noises",
    "check_shape": "_noise_parameters",
}


def __getattr__(name):
    return lazy_attribute(__name__, _MODULES, name)
