"""Fenchel-Young losses, and the default loss of a mapping."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._utils.arrays import as_type, copied, namespace
from .._utils.typing import Array
from ..mappings import get_mapping
from ._base import Loss, LossLinearization, shift_to_standard
from ._mapping_results import check_shape


class FenchelYoungLoss(Loss):
    r"""The convex loss that belongs to a mapping with a potential.

    For a mapping :math:`p = \nabla F` with :math:`F = \Omega^*`,

    .. math:: L(z; q) = F(z) + \Omega(q) - \langle q, z \rangle \ge 0,

    zero exactly when :math:`p(z) = q`. Its gradient in the scores is :math:`p(z) - q`
    and its Hessian the Jacobian of the mapping, for labels, label sets and
    distributions alike. With softmax it is the cross-entropy (log loss) minus the
    target's entropy, with sparsemax the sparsemax loss.

    Parameters
    ----------
    mapping : Mapping, str or None, default=None
        A mapping with a potential, or its registered name. None stands for the mapping
        of the classifier to which the loss is passed.

    See Also
    --------
    LogLoss : Minus the log-likelihood, for any mapping.

    References
    ----------
    Blondel, Martins, Niculae, "Learning with Fenchel-Young losses", JMLR 2020.

    Examples
    --------
    >>> from skprob.losses import FenchelYoungLoss
    >>> from skprob.mappings import Sparsemax
    >>> loss = FenchelYoungLoss(Sparsemax())
    >>> scores = [[0.5, 0.3, -1.0], [2.0, 0.0, 0.0]]
    >>> target = [[1, 0, 0], [1, 0, 0]]
    >>> loss.value(scores, target).round(4)
    array([0.16, 0.  ])
    >>> loss.value_and_gradient(scores, target)[1].round(4)
    array([[-0.4,  0.4,  0. ],
           [ 0. ,  0. ,  0. ]])
    """

    polytopes = ("simplex", "cube")

    @property
    def traits(self):
        traits = super().traits
        return traits.but(
            is_convex=True,
            has_negative_entropy=True,
            has_kinks=not traits.is_continuous,
            has_bounded_hessian=traits.is_lipschitz,
            has_proximal_step=traits.is_projection,
        )

    def check(self):
        super().check()
        traits = self.traits
        if not traits.has_potential:
            because = traits.no_potential_because
            because = f" ({because})" if because else ""
            raise ValueError(
                "FenchelYoungLoss needs a mapping with a potential, and "
                f"{get_mapping(self.mapping)!r} has none{because}: use LogLoss "
                "(loss='log')."
            )

    def constant(self, target, n_available=None):
        if n_available is None:
            n_available = target.shape[1]
        if self.mapping.traits.is_symmetric:
            q = target.packed()
        else:  # The entropy may change if probabilities are permuted.
            q = target.to_dense(np.float64)
        return self.mapping.negative_entropy_among(q, n_available)

    def evaluate(self, scores, target):
        mapping = self.mapping
        shift_to_standard(scores, mapping)
        inner = _inner_product(mapping, scores, target)
        gradient, values = mapping.probabilities_and_potential(scores)
        _check_shapes(mapping, gradient, values, target)
        values = values - inner
        target.add_to(gradient, -1)
        return values, gradient

    def linearize(self, scores, target):
        mapping = self.mapping
        shift_to_standard(scores, mapping)
        inner = _inner_product(mapping, scores, target)
        linear, potential = mapping.linearize_with_potential(scores)
        _check_shapes(mapping, linear.probabilities, potential, target)

        def residual():
            gradient = copied(linear.probabilities)
            target.add_to(gradient, -1)
            return gradient

        # The Hessian is the Jacobian of the mapping.
        return LossLinearization(
            potential - inner, residual, linear.jvp, linear.jacobian
        )

    def proximal_residual(self, scores: Array, target: Any, strength: Any) -> Array:
        """The gradient p - q of the loss at its proximal point.

        That point z minimises the loss plus half the strength ρ times the squared
        distance to the scores v, and is v - (p - q) / ρ. With sparsemax p is the
        projection of (ρ v + q) / (ρ + 1) onto the simplex. The scores are kept.
        """
        mapping = self.mapping
        scores = scores * float(strength / (1 + strength))
        target.add_to(scores, 1 / (1 + strength))
        residual = mapping.probabilities(shift_to_standard(scores, mapping))
        target.add_to(residual, -1)
        return residual

    def negative_entropy(self, probabilities: Array) -> Array:
        mapping = self.mapping
        return mapping.negative_entropy_among(probabilities, probabilities.shape[1])


def _check_shapes(mapping, probabilities, potential, target):
    """Raise if a mapping gives results of wrong shapes for the scores of a target."""
    if probabilities.shape != target.shape or potential.shape != target.shape[:1]:
        check_shape(mapping, "probabilities", probabilities, target.shape)
        check_shape(mapping, "a potential", potential, target.shape[:1])


def _inner_product(mapping, scores, target):
    """⟨q, z⟩ of each row; for marginals minus the sum of its positive scores.

    The same sum is subtracted from the potential of a mapping to marginals.
    """
    if mapping.traits.polytope == "simplex":
        return target.inner(scores)
    # The difference of each label is small: large terms of different labels do not
    # cancel in the sum.
    xp = namespace(scores)
    excess = target.to_dense(scores.dtype) - as_type(scores > 0, scores.dtype)
    # An infinite score does not count where the excess is zero.
    return xp.sum(excess * xp.where(excess == 0, 0.0, scores), axis=1)


def matching_loss(mapping):
    """The default loss of a checked mapping, checked.

    It is the Fenchel-Young loss if the mapping has a potential; the gradient field for
    a mapping that is only a function; otherwise the log loss.
    """
    if mapping.traits.has_potential:
        return FenchelYoungLoss(mapping)
    # Imported when used: most mappings have a potential.
    if mapping.traits.is_only_a_function:
        from ._gradient_field import GradientFieldLoss as OtherLoss
    else:
        from ._log import LogLoss as OtherLoss
    loss = OtherLoss(mapping)
    loss.check()
    return loss
