"""A function of a user as a mapping."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._utils.checks import as_distributions
from ..._utils.typing import Array
from .._base import Mapping
from .._traits import Traits


class FunctionMapping(Mapping):
    """A plain function from scores to probabilities, as a mapping.

    A function that is given where a mapping is expected becomes one of these. Only its
    values are used: the loss is the one with the gradient p - q
    (:class:`~skprob.losses.GradientFieldLoss`), or the log loss, and derivatives are
    numerical. A subclass of :class:`Mapping` can provide exact derivatives and a
    potential.

    Parameters
    ----------
    function : callable
        ``function(scores)`` with scores of shape (n_samples, n_classes) returns
        probabilities of that shape, rows on the simplex. It must not modify its
        argument.

    See Also
    --------
    ThresholdMapping : A faster mapping from an increasing function of one score.
    NormalizedMapping : The values of a function of one score, divided by their sum.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.mappings import FunctionMapping
    >>> def squares(scores):
    ...     weight = 1 + scores**2
    ...     return weight / weight.sum(axis=1, keepdims=True)
    >>> FunctionMapping(squares)([[0.0, 1.0, 2.0]])
    array([[0.125, 0.25 , 0.625]])
    """

    _parameter_constraints = {"function": [callable]}

    # Properties that are unknown have the more general value.
    traits = Traits(
        is_only_a_function=True,
        has_zeros=True,
        is_shift_invariant=False,
        is_order_preserving=False,
    )

    def __init__(self, function: Callable[[Array], Array]) -> None:
        self.function = function

    def probabilities(self, scores):
        p = np.asarray(self.function(scores))
        if p.shape != scores.shape:
            raise ValueError(
                f"{self._name} must return an array of the shape of the scores, "
                f"{scores.shape}; it returned shape {p.shape}."
            )
        try:
            p = as_distributions(p, f"the values of {self._name}")
        except ValueError as error:
            raise ValueError(
                f"{error} The function gets the scores of all classes. Wrap a function "
                "of a single score in skprob.mappings.NormalizedMapping, which divides "
                "by the sum, or ThresholdMapping."
            ) from None
        return p.astype(scores.dtype, copy=True)

    @property
    def _name(self):
        return f"the mapping {getattr(self.function, '__name__', self.function)}"
