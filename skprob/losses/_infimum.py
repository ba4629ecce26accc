"""The infimum loss, of rows of which only candidates for the class are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._utils.arrays import copied, fill, namespace, row_max
from ..mappings import get_mapping
from ._base import Loss, LossLinearization, shift_to_standard
from ._fenchel_young import FenchelYoungLoss
from ._margin import MarginLoss


class InfimumLoss(Loss):
    r"""The least Fenchel-Young loss over all distributions on the candidates of a row.

    The candidates S are the classes of which one is true: those with a positive entry
    in the target. The sizes of the entries have no effect. For a mapping :math:`p =
    \nabla F`,

    .. math:: \ell(z; S) = \min_{q \in \Delta_S} L(z; q) = F(z) - F_S(z) \ge 0,

    where :math:`F_S` is the potential if only the classes in S are available. The loss
    is zero if all probability is on candidates. Its gradient in the scores is
    :math:`p - p_S`. With softmax it is minus the logarithm of the probability of S.
    With one candidate it is the Fenchel-Young loss, with all classes it is zero.

    It is not convex, so the result depends on the starting point. A fit starts from the
    optimum of the Fenchel-Young loss of the shares, in which all candidates of a row
    are equally likely.

    Parameters
    ----------
    mapping : Mapping, str or None, default=None
        A mapping with a potential, or its registered name. None stands for the mapping
        of the classifier to which the loss is passed.

    See Also
    --------
    FenchelYoungLoss : The loss of one class, or of a distribution over the classes.

    Notes
    -----
    The loss of a row does not depend on how its probability is divided among its
    candidates. Other rows, which have other candidates, distinguish them.

    References
    ----------
    V. Cabannes, A. Rudi and F. Bach, "Structured prediction with partial labelling
    through the infimum loss", ICML 2020.

    Examples
    --------
    >>> from skprob.losses import InfimumLoss
    >>> loss = InfimumLoss("sparsemax")
    >>> candidates = [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    >>> loss.value([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]], candidates).round(4)
    array([0.03, 0.49])
    """

    @property
    def traits(self):
        return super().traits.but(is_convex=False, has_negative_entropy=False)

    def check(self):
        super().check()
        mapping = get_mapping(self.mapping)
        if not mapping.traits.has_potential:
            because = mapping.traits.no_potential_because
            raise ValueError(
                "InfimumLoss needs a mapping with a potential, such as softmax or "
                f"entmax, and {mapping!r} has none{f' ({because})' if because else ''}."
            )
        if mapping.traits.depends_on_n_available:
            raise ValueError(
                "InfimumLoss needs a mapping that is the same function for all numbers "
                f"of available classes; got {mapping!r}. Use softmax at a temperature."
            )

    def stages(self):
        return [FenchelYoungLoss(self.mapping), self]

    def evaluate(self, scores, target):
        mapping = self.mapping
        candidate_scores, is_empty, distance = self._split(scores, target)
        gradient, values = mapping.probabilities_and_potential(scores)
        target_p, potential = mapping.probabilities_and_potential(candidate_scores)
        values = _difference(values - potential, distance, is_empty)
        return values, gradient - target_p

    def linearize(self, scores, target):
        mapping = self.mapping
        candidate_scores, is_empty, distance = self._split(scores, target)
        linear, potential = mapping.linearize_with_potential(scores)
        inner, inner_potential = mapping.linearize_with_potential(candidate_scores)
        values = _difference(potential - inner_potential, distance, is_empty)

        def hessian_product(direction):
            # A product may overwrite the direction.
            product = copied(linear.jvp(copied(direction)))
            product -= inner.jvp(direction)
            return product

        return LossLinearization(
            values, lambda: linear.probabilities - inner.probabilities, hessian_product
        )

    def _split(self, scores, target):
        """Standard scores, in place, and those with the candidates available alone.

        Returns
        -------
        candidate_scores : array of shape (n_samples, n_classes)
        is_empty : array of bool of shape (n_samples,) or None
            Rows without an available candidate; None if all have one.
        distance : array of shape (n_samples,) or float
            The largest score minus the largest score of a candidate, by which the
            difference of the potentials grows.
        """
        mapping, xp = self.mapping, namespace(scores)
        shift_to_standard(scores, mapping)
        candidates = target.to_dense(scores.dtype) > 0
        candidate_scores = copied(scores)
        fill(candidate_scores, ~candidates, -xp.inf)
        top = row_max(candidate_scores)
        is_empty: Any = top[:, 0] == -xp.inf
        if xp.any(is_empty):
            # Rows without an available candidate have an infinite loss.
            fill(candidate_scores, is_empty[:, None], 0.0)
            top = row_max(candidate_scores)
        else:
            is_empty = None
        if not mapping.traits.is_shift_invariant:
            return candidate_scores, is_empty, 0.0
        shift_to_standard(candidate_scores, mapping)
        return candidate_scores, is_empty, -top[:, 0]


def _difference(values, distance, is_empty):
    """Difference of two potentials, from the potentials at standard scores."""
    values = values + distance
    if is_empty is not None:
        fill(values, is_empty, np.inf)
    return values


def loss_of_candidates(loss, label_smoothing):
    """The infimum loss of a classifier that is fitted to candidates.

    Parameters
    ----------
    loss : Loss
        The checked loss of the classifier.
    label_smoothing : float

    Returns
    -------
    loss : InfimumLoss

    Raises
    ------
    ValueError
        If the loss is not the Fenchel-Young loss or the infimum loss itself, or with
        label smoothing, which makes a candidate of each class.
    """
    if isinstance(loss, MarginLoss):
        raise ValueError(
            "margin must be 0 for target_type='candidates', whose rows have no single "
            f"true class; got {loss.margin!r}."
        )
    if not isinstance(loss, FenchelYoungLoss | InfimumLoss):
        raise ValueError(
            "target_type='candidates' needs a Fenchel-Young loss, and with it a "
            f"mapping with a potential; got {loss!r}. Use loss='auto' with softmax, "
            "sparsemax, entmax or perturb-max."
        )
    if label_smoothing:
        raise ValueError(
            "label_smoothing must be 0 for the infimum loss, the loss of "
            "target_type='candidates': it would make a candidate of each class; got "
            f"{label_smoothing}."
        )
    loss = InfimumLoss(loss.mapping)
    loss.check()
    return loss
