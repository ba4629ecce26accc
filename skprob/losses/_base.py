"""The base class of the losses between scores and a target."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, clone

from .._utils.arrays import copied, row_max
from .._utils.checks import row_and_others
from .._utils.names import NamesChecked
from .._utils.typing import Array
from ..mappings import (
    Mapping,
    MappingLike,
    RowMatrices,
    Traits,
    get_mapping,
    matrices_by_products,
)
from ._user_methods import UserMethods


class LossLinearization(NamedTuple):
    """A loss at fixed scores: values, gradient and products with the Hessian.

    Attributes
    ----------
    values : ndarray of shape (n_samples,)
        Value of each row, without the loss's :meth:`Loss.constant`.
    residual : callable
        ``residual()`` is the gradient in the scores, (n_samples, n_classes), computed
        in a new array at each call and not stored.
    hessian_product : callable
        ``hessian_product(direction)``, row by row; it may overwrite ``direction``.
    hessian : RowMatrices or None
        The Hessian of each row as an object with formulas for more than products; None
        if there are only products. For a Fenchel-Young loss it is the Jacobian of the
        mapping.
    """

    values: np.ndarray
    residual: Callable
    hessian_product: Callable
    hessian: RowMatrices | None = None

    @property
    def gradient(self) -> Array:
        """Gradient in the scores, of shape (n_samples, n_classes)."""
        return self.residual()

    def hessian_diagonal(self) -> Array:
        """Diagonal of each row's Hessian, of shape (n_samples, n_classes)."""
        if self.hessian is not None:
            return self.hessian.diagonal()
        direction = self.residual()
        diagonal = copied(direction)
        for k in range(diagonal.shape[1]):
            direction[...] = 0
            direction[:, k] = 1
            diagonal[:, k] = self.hessian_product(copied(direction))[:, k]
        return diagonal

    def hessian_matrices(self) -> Array:
        """Hessian of each row, of shape (n_samples, n_classes, n_classes)."""
        if self.hessian is not None:
            return self.hessian.matrices()
        return matrices_by_products(self.hessian_product, self.residual())

    def slopes(self) -> Array | None:
        """Numbers s >= 0 with which each row's Hessian is diag(s) - s s' / sum(s).

        They are of shape (n_samples, n_classes); None if it has another form.
        """
        return None if self.hessian is None else self.hessian.slopes()

    def towards_target(self, share: float | Array) -> LossLinearization:
        """The linearization with Hessians of rows that are nearer to their targets.

        The Hessian of a row is that of a mixture of its probabilities and its target
        distribution, which has the given share. It is unchanged without a formula for
        it. The gradient must be probabilities less target, as for Fenchel-Young losses.
        """
        if self.hessian is None:
            return self
        hessian = self.hessian.after(-share * self.residual())
        if hessian is None:
            return self
        return self._replace(hessian_product=hessian.product, hessian=hessian)


class Loss(UserMethods, NamesChecked, BaseEstimator, metaclass=ABCMeta):
    """Base class of the losses of scores through a mapping.

    As in a mapping, users call methods that check their input (:meth:`value`,
    :meth:`value_and_gradient`, :meth:`hessian_product`), and a loss implements kernels
    that do not check it. Only :meth:`linearize` is required; :meth:`evaluate` may be
    defined to save time where no Hessian is needed. :meth:`check`, :meth:`constant`,
    :meth:`stages` and :meth:`check_on` have defaults.

    Kernels get scores as a float array that they may overwrite, and the target as an
    object of :mod:`skprob.targets`. In kernels ``self.mapping`` is a mapping, not its
    name.

    Parameters
    ----------
    mapping : Mapping, str or None, default=None
        The mapping from scores to probabilities, or its registered name. None stands
        for the mapping of the classifier to which the loss is passed.
    """

    _parameter_constraints: dict = {}

    #: Polytopes that are allowed for the mapping: see :class:`~skprob.mappings.Traits`.
    polytopes = ("simplex",)

    def __init__(self, mapping: MappingLike | None = None) -> None:
        self.mapping = mapping

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        Traits.check_class(cls)

    @property
    def traits(self) -> Traits:
        """:class:`~skprob.mappings.Traits` of the mapping, and of the loss."""
        mapping = self.mapping
        if not isinstance(mapping, Mapping):
            mapping = get_mapping(mapping)
        return mapping.traits

    def margins(self, target: Any, like: Array) -> Array | None:
        """Numbers that the loss adds to the scores of each row, or None.

        The array has the library and the type of the array `like`.
        """
        return None

    def for_classes(self, n_classes: int, labels: Array | None = None) -> Loss:
        """The loss for this number of classes, checked.

        `labels` are the classes of a target of labels. Parameters with names of classes
        are put in this order.
        """
        return self

    def with_mapping(self, mapping: MappingLike) -> Loss:
        """A copy of the loss with this mapping."""
        return clone(self).set_params(mapping=mapping)

    # Kernels, for authors of losses and objectives. They do not check their arguments;
    # `_user_methods.py` has the methods that do.

    def check(self) -> None:
        """Raise if the parameters or the mapping are not allowed."""
        if self._parameter_constraints:
            self._validate_params()
        if self.mapping is None:
            raise ValueError(
                f"{type(self).__name__} needs a mapping: mapping=None stands for the "
                "mapping of a classifier, and there is no classifier."
            )
        mapping = self.mapping
        if not isinstance(mapping, Mapping):
            mapping = get_mapping(mapping)
        mapping._validate_params()
        if mapping.traits.polytope not in self.polytopes:
            raise ValueError(
                f"{type(self).__name__} needs a mapping whose probabilities sum to "
                f"one, but those of {mapping!r} are marginals: use FenchelYoungLoss "
                "(loss='fenchel_young')."
            )

    def check_target(self, target: Any) -> None:
        """Raise if the sum of the marginals of a row is outside the budget."""
        mapping = self.mapping
        traits = mapping.traits
        least, most = traits.sum_range
        if traits.polytope == "simplex" or (least, most) == (0, np.inf):
            return
        sums = target.inner(np.ones(target.shape))
        rounding = 1e-6 * np.maximum(1, sums)
        wrong = (sums < least - rounding) | (sums > most + rounding)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"The budget ({least:g}, {most:g}) of {mapping!r} does not allow the "
                f"target of {row_and_others(wrong)}; row {row} sums to "
                f"{sums[row]:.6g}. Widen the budget."
            )

    def stages(self) -> list[Loss]:
        """Losses to minimise in turn, each from the optimum of the one before."""
        return [self]

    def check_on(self, make_scores: Callable[[], Any]) -> None:
        """Raise if the loss cannot be used with the scores that a function makes."""
        mapping = self.mapping
        if mapping.traits.is_only_a_function:
            # The call checks the values of the function.
            mapping(make_scores())

    def constant(
        self, target: Any, n_available: int | Array | None = None
    ) -> Array | float:
        """The part of each row's value that does not depend on its finite scores.

        `n_available`, of shape (n_samples,), is the number of classes whose score is
        not -inf; None stands for all classes.
        """
        return np.zeros(target.shape[0])

    def evaluate(self, scores: Array, target: Any) -> tuple[Array, Array]:
        """Values without the constant, (n_samples,), and gradient of each row."""
        linear = self.linearize(scores, target)
        return linear.values, linear.gradient

    @abstractmethod
    def linearize(self, scores: Array, target: Any) -> LossLinearization:
        """:class:`LossLinearization` at scores."""


def shift_to_standard(scores, mapping):
    """Shift scores, in place, to standard scores of a mapping.

    The caller ignores overflow, which leaves -inf.
    """
    if mapping.traits.is_shift_invariant:
        scores -= row_max(scores)
    return scores


#: Values of an argument that is a loss.
LossLike: TypeAlias = Loss | str
