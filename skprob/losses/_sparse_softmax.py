"""The loss of sparse softmax, with options for labels that are not kept."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .._utils.arrays import as_type, copied, fill, namespace
from .._utils.checks import OneOf
from ..mappings import MappingLike, Softmax, SparseSoftmax, Temperature, get_mapping
from ._base import Loss, LossLinearization, shift_to_standard
from ._fenchel_young import FenchelYoungLoss


class SparseSoftmaxLoss(Loss):
    r"""The log loss of softmax over the classes that sparse softmax keeps.

    .. math:: \ell(z; q) = \log \sum_{i \in S} \exp(z_i) - \langle q, z \rangle,

    where S is the set of kept classes. Its gradient is :math:`p - q`, and it is never
    negative, as the largest score is always kept. A row is called *outside* if no class
    of its target is in S. The parameter `outside` chooses the loss of such rows.

    Parameters
    ----------
    mapping : SparseSoftmax, "sparse_softmax" or None, default=None
        The mapping may have a :class:`~skprob.mappings.Temperature` τ; the loss is then
        τ times the loss of z / τ. None stands for the mapping of the classifier to
        which the loss is passed.
    outside : {"published", "add", "grow", "full", "skip"}, default="published"
        "published" treats such rows like all others. "add" adds the classes of the
        target to S. "grow" adds all classes whose scores are at least the highest score
        of the target's classes. "full" adds all classes. With "skip" the loss of such a
        row is zero.
    pretrain : "softmax" or None, default="softmax"
        The loss that a fit minimises first: the log loss of softmax over all classes,
        or none.

    See Also
    --------
    FenchelYoungLoss : For top-k and labels the same as "published"; for other targets
        it differs by a constant, the target's entropy.

    Notes
    -----
    For top-k, "published" is convex. The other losses, and all of them for top-p, are
    discontinuous where S changes: a solver may stop at such a point, with a usable
    model. "skip" is only for fine-tuning: at its minimum every row is outside.

    References
    ----------
    S. Sun, Z. Zhang, B. Huang, P. Lei, J. Su, S. Pan and J. Cao, "Sparse-softmax: a
    simpler and faster alternative softmax transformation", arXiv:2112.12433, 2021
    ("published").

    Examples
    --------
    >>> from skprob.losses import SparseSoftmaxLoss
    >>> from skprob.mappings import SparseSoftmax
    >>> scores, target = [[2.0, 1.0, 0.0]], [[0, 0, 1]]
    >>> for outside in ["published", "add", "grow", "full", "skip"]:
    ...     loss = SparseSoftmaxLoss(SparseSoftmax(k=1), outside=outside)
    ...     value, gradient = loss.value_and_gradient(scores, target)
    ...     print(outside, value.round(3), gradient.round(3))
    published [2.] [[ 1.  0. -1.]]
    add [2.127] [[ 0.881  0.    -0.881]]
    grow [2.408] [[ 0.665  0.245 -0.91 ]]
    full [2.408] [[ 0.665  0.245 -0.91 ]]
    skip [0.] [[0. 0. 0.]]
    """

    _parameter_constraints = {
        "outside": [OneOf("published", "add", "grow", "full", "skip")],
        "pretrain": [OneOf("softmax"), None],
    }

    def __init__(
        self,
        mapping: MappingLike | None = None,
        outside: Literal["published", "add", "grow", "full", "skip"] = "published",
        pretrain: str | None = "softmax",
    ) -> None:
        super().__init__(mapping)
        self.outside = outside
        self.pretrain = pretrain

    @property
    def traits(self):
        # The published loss of top-k is continuous where S changes.
        has_kinks = self.outside == "published" and self._parts()[0].p is None
        return super().traits.but(has_kinks=has_kinks)

    def check(self):
        super().check()
        if not isinstance(self._parts()[0], SparseSoftmax):
            raise ValueError(
                "SparseSoftmaxLoss (loss='sparse_softmax') needs the mapping "
                f"SparseSoftmax; got {get_mapping(self.mapping)!r}."
            )

    def stages(self):
        if self.pretrain is None:
            return [self]
        softmax = Temperature(Softmax(), self._parts()[1])
        return [FenchelYoungLoss(softmax), self]

    def evaluate(self, scores, target):
        scores, tau, inner, skipped = self._restrict(scores, target)
        gradient, potential = Softmax().probabilities_and_potential(scores)
        values = tau * (potential - inner)
        target.add_to(gradient, -1)
        if skipped is not None:
            fill(values, skipped, 0)
            fill(gradient, skipped[:, None], 0)
        return values, gradient

    def linearize(self, scores, target):
        scores, tau, inner, skipped = self._restrict(scores, target)
        linear, potential = Softmax().linearize_with_potential(scores)
        values = tau * (potential - inner)
        if skipped is not None:
            fill(values, skipped, 0)

        def residual():
            gradient = copied(linear.probabilities)
            target.add_to(gradient, -1)
            if skipped is not None:
                fill(gradient, skipped[:, None], 0)
            return gradient

        def hessian_product(direction):
            product = linear.jvp(direction) / tau
            if skipped is not None:
                fill(product, skipped[:, None], 0)
            return product

        return LossLinearization(values, residual, hessian_product)

    def _restrict(self, scores, target):
        """Restrict scores to the classes of the softmax, divided by the temperature.

        Returns these scores, the temperature, ⟨q, z⟩ of all scores, and a mask of the
        skipped rows, or None if no row is skipped.
        """
        mapping, tau = self._parts()
        shift_to_standard(scores, mapping)
        # NumPy arrays are changed in place; for others there is a new array.
        scores = Temperature(mapping, tau).cooled(scores)
        kept = mapping.kept(scores)
        inner = target.inner(scores)
        skipped = None
        if self.outside != "published":
            outside = target.inner(as_type(kept, scores.dtype)) == 0
            xp, labels = namespace(scores), target.to_dense(scores.dtype) > 0
            if self.outside == "full":
                kept |= outside[:, None]
            elif self.outside == "add":
                kept |= outside[:, None] & labels
            elif self.outside == "grow":
                highest = xp.where(labels, scores, -xp.inf)
                highest = xp.max(highest, axis=1, keepdims=True)
                kept |= outside[:, None] & (scores >= highest)
            else:
                skipped = outside
        fill(scores, ~kept, -np.inf)
        return scores, tau, inner, skipped

    def _parts(self):
        """The sparse softmax itself and its temperature."""
        mapping, tau = get_mapping(self.mapping), 1.0
        while isinstance(mapping, Temperature):
            mapping, tau = get_mapping(mapping.mapping), tau * mapping.temperature
        return mapping, tau
