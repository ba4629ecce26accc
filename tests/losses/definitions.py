"""Every loss from its definition in the literature, to 50 digits.

The probabilities come from the definitions of the mappings.
"""

from functools import singledispatch

import mpmath as mp
import numpy as np

from skprob.losses import (
    AccuracyLoss,
    FenchelYoungLoss,
    GradientFieldLoss,
    InfimumLoss,
    LogLoss,
)
from skprob.mappings import Entmax, Softmax, Temperature

from ..mappings import references
from ..mappings.definitions import definition


@singledispatch
def negative_entropy(mapping, p):
    """Ω(p)."""
    raise NotImplementedError(f"no definition of {mapping!r}")


@singledispatch
def jacobian_weights(mapping, p):
    """s with J = diag(s) - s sᵀ / Σs."""
    raise NotImplementedError(f"no definition of {mapping!r}")


@negative_entropy.register
def _(mapping: Softmax, p):
    return references.negative_entropy(p, 1)


@jacobian_weights.register
def _(mapping: Softmax, p):
    return p


@negative_entropy.register
def _(mapping: Entmax, p):
    return references.negative_entropy(p, mapping.alpha)


@jacobian_weights.register
def _(mapping: Entmax, p):
    power = 2 - mp.mpf(mapping.alpha)
    return [mp.power(x, power) if x > 0 else mp.mpf(0) for x in p]


@negative_entropy.register
def _(mapping: Temperature, p):
    return mp.mpf(mapping.temperature) * negative_entropy(mapping.mapping, p)


@jacobian_weights.register
def _(mapping: Temperature, p):
    return [
        s / mp.mpf(mapping.temperature) for s in jacobian_weights(mapping.mapping, p)
    ]


def is_defined(mapping):
    """Whether the definition of a mapping is written down here."""
    try:
        jacobian_weights(mapping, [mp.mpf(1)])
    except NotImplementedError:
        return False
    return True


@singledispatch
def value_and_gradient(loss, z, q, p):
    """Value and gradient of a loss at finite scores, given p(z)."""
    raise NotImplementedError(f"no definition of {loss!r}")


@value_and_gradient.register
def _(loss: FenchelYoungLoss, z, q, p):
    def gap(a):
        return mp.fdot(a, z) - negative_entropy(loss.mapping, a)

    return gap(p) - gap(q), [a - b for a, b in zip(p, q, strict=True)]


@value_and_gradient.register
def _(loss: GradientFieldLoss, z, q, p):
    uniform = [1 / mp.mpf(len(z))] * len(z)
    potential = mp.fdot(p, z) - negative_entropy(loss.mapping, p)
    potential_at_zero = -negative_entropy(loss.mapping, uniform)
    value = potential - potential_at_zero - mp.fdot(q, z)
    return value, [a - b for a, b in zip(p, q, strict=True)]


@value_and_gradient.register
def _(loss: InfimumLoss, z, q, p):
    candidates = [k for k, share in enumerate(q) if share > 0]
    inner = [mp.mpf(0)] * len(z)
    of_candidates = definition(loss.mapping)([z[k] for k in candidates])
    for k, probability in zip(candidates, of_candidates, strict=True):
        inner[k] = probability
    potential = mp.fdot(p, z) - negative_entropy(loss.mapping, p)
    of_candidates = mp.fdot(inner, z) - negative_entropy(loss.mapping, inner)
    gradient = [a - b for a, b in zip(p, inner, strict=True)]
    return potential - of_candidates, gradient


@value_and_gradient.register
def _(loss: AccuracyLoss, z, q, p):
    s = jacobian_weights(loss.mapping, p)
    mean = mp.fdot(s, q) / mp.fsum(s)
    return -mp.fdot(q, p), [-a * (b - mean) for a, b in zip(s, q, strict=True)]


@value_and_gradient.register
def _(loss: LogLoss, z, q, p):
    epsilon = loss.epsilon
    if epsilon == "auto":
        epsilon = 1e-6 if loss.mapping.traits.has_zeros else 0
    epsilon = mp.mpf(epsilon)
    total = 1 + len(z) * epsilon
    pairs = list(zip(q, p, strict=True))
    value = -mp.fsum(a * mp.log((b + epsilon) / total) for a, b in pairs if a > 0)
    slope = [-a / (b + epsilon) if a > 0 else mp.mpf(0) for a, b in pairs]
    s = jacobian_weights(loss.mapping, p)
    mean = mp.fdot(s, slope) / mp.fsum(s)
    return value, [a * (b - mean) for a, b in zip(s, slope, strict=True)]


@mp.workdps(50)
def reference(losses, scores, target):
    """Value and gradient of each row for losses with the same mapping.

    Returns
    -------
    results : list of (values, gradients)
    probabilities : list of float rows
    """
    parts, all_p = [], []
    for row, weights in zip(scores, target, strict=True):
        z = [mp.mpf(float(x)) for x in row]
        q = [mp.mpf(float(x)) for x in weights]
        q = [x / mp.fsum(q) for x in q]
        p = definition(losses[0].mapping)(z)
        all_p.append([float(x) for x in p])
        parts.append([value_and_gradient(loss, z, q, p) for loss in losses])
    results = []
    for per_loss in zip(*parts, strict=True):
        values = np.array([float(value) for value, _ in per_loss])
        gradients = np.array([[float(x) for x in g] for _, g in per_loss])
        results.append((values, gradients))
    return results, np.array(all_p)
