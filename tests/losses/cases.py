"""The mappings, losses, scores and targets that the shared tests run over."""

import numpy as np

from skprob.losses import LOSSES as REGISTERED_LOSSES
from skprob.losses import (
    AccuracyLoss,
    FenchelYoungLoss,
    GradientFieldLoss,
    InfimumLoss,
    LogLoss,
)
from skprob.mappings import MAPPINGS as REGISTERED_MAPPINGS
from skprob.mappings import (
    Entmax,
    NestedSoftmax,
    Softmax,
    Sparsemax,
    SparseSoftmax,
    TaylorSoftmax,
    Temperature,
)

REGISTERED = [mapping() for mapping in REGISTERED_MAPPINGS.values()]
#: Mappings with other parameters, for the losses whose formulas depend on them.
VARIANTS = [
    Entmax(0.5),
    Entmax(1.25),
    Entmax(2.5),
    Temperature(Sparsemax(), 0.5),
    Temperature(Softmax(), 3.0),
]
#: Losses that are computed from probabilities, potentials and products of any mapping,
#: and the mappings that they are tested with: with exact zeros and without, without a
#: potential, and two whose Jacobians have other formulas. Other losses have them all.
COMPOSED = {
    AccuracyLoss: (Softmax, Entmax, SparseSoftmax, TaylorSoftmax),
    GradientFieldLoss: (Softmax, NestedSoftmax),
    InfimumLoss: (Softmax, Entmax, SparseSoftmax, NestedSoftmax),
}


def _suits(loss):
    """Whether a loss accepts its mapping, and computes its value exactly."""
    try:
        loss.check()
    except ValueError:
        return False
    # The loss of a gradient field is a numerical integral. Mappings with kinks, and
    # those that are no gradients, have other tests.
    is_smooth = loss.mapping.traits.has_potential and not loss.mapping.traits.has_zeros
    return is_smooth or not isinstance(loss, GradientFieldLoss)


def _all_losses():
    losses = [
        loss(mapping)
        for mapping in REGISTERED
        for loss in REGISTERED_LOSSES.values()
        if isinstance(mapping, COMPOSED.get(loss, object))
    ]
    for mapping in VARIANTS:
        losses += [FenchelYoungLoss(mapping), LogLoss(mapping, epsilon=0.01)]
    # Second derivatives without a bound, and a mapping around another one.
    losses += [InfimumLoss(VARIANTS[2]), InfimumLoss(VARIANTS[3])]
    return {repr(loss): loss for loss in losses if _suits(loss)}


#: Instances by their representation.
MAPPINGS = {repr(mapping): mapping for mapping in REGISTERED + VARIANTS}
LOSSES = _all_losses()
#: Losses whose smallest value is not zero.
_WITHOUT_A_ZERO = (AccuracyLoss, GradientFieldLoss)
#: Losses that can be finite where a class of the target is not available.
FINITE_OFF_THE_TARGET = (*_WITHOUT_A_ZERO, InfimumLoss)
DIVERGENCES = {k: v for k, v in LOSSES.items() if not isinstance(v, _WITHOUT_A_ZERO)}
FENCHEL_YOUNG = {k: v for k, v in LOSSES.items() if k.startswith("FenchelYoung")}


def rows(n_classes, n_samples=40):
    """Scores and targets of all kinds, both (n_samples, n_classes).

    The spread of the scores grows from row to row, so that sparse mappings have
    supports of every size; every fifth row has ties.
    """
    rng = np.random.default_rng(n_classes)
    scores = rng.normal(size=(n_samples, n_classes))
    scores *= np.geomspace(0.02, 200, n_samples)[:, None]
    scores[::5] = np.round(scores[::5])
    target = np.zeros_like(scores)
    for i, q in enumerate(target):
        if i % 4 == 0:
            q[rng.integers(n_classes)] = 1
        elif i % 4 == 1:
            members = rng.random(n_classes) < 0.5
            members[rng.integers(n_classes)] = True
            q[members] = 1
        elif i % 4 == 2:
            q[:] = rng.dirichlet(np.ones(n_classes))
        else:
            q[:] = np.maximum(rng.normal(size=n_classes), 0)
            q[rng.integers(n_classes)] += 1
    return scores, target / target.sum(axis=1, keepdims=True)
