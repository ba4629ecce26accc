"""Perturb-max: the probability of having the largest score after random noise.

With independent noise of density φ, distribution function Φ and hazard h = φ / Φ,

    p_i = ∫ G(x) h(x - z_i) dx,    G(x) = Π_j Φ(x - z_j).

Gumbel noise has a closed form, softmax. Two routes compute the integrals of all other
noises. Read in this order:

- `_perturb_max.py`: the public mapping, which chooses among the next three files.
- `_independent.py`: independent noise. It chooses a route for each row.
- `_correlated.py`: noise with factors that classes share; `_factors.py`: their nodes.
- `_quantile_average.py`: the published approximation, with `n_quantiles`.
- `_shared_nodes.py`: the first route, nodes that many rows share, for smooth noises.
- `_adaptive.py`: the second route, panels of each row, for all noises and rows that do
  not suit the first. `_panels.py` has their quadrature rule, and `_first_panels.py` the
  panels before any is halved.
- `_derivatives.py`: derivatives in the scores, from the nodes of either route.
- `_conjugate.py`: the entropy.
- `_noise_parameters.py`: the parameters of a noise that is learnt.
- `noises/`: the distributions. `_tuning.py`: the numbers of both routes.
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
