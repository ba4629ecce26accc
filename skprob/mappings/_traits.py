"""Properties of a mapping and of a loss that other code uses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Traits:
    """Properties of a mapping, and of a loss through it.

    A mapping defines them, a loss may change some of them, and other code reads them.

    Parameters
    ----------
    polytope : {"simplex", "cube"}, default="simplex"
        The set that contains the values of the mapping. Rows of the simplex sum to one.
        Rows of the cube are marginals between zero and one, of labels that may occur
        together.
    sum_range : tuple of float, default=None
        Lower and upper bound of the sum of the probabilities of a row. None is (1, 1)
        on the simplex and (0, inf) in the cube.
    has_potential : bool, default=False
        Whether the mapping is the gradient of a convex function, which it provides.
        Then it has a Fenchel-Young loss and a symmetric positive semidefinite Jacobian.
    no_potential_because : str, default=""
        The reason why there is no potential, if it depends on parameters.
    has_zeros : bool, default=False
        Whether a probability can be exactly zero for finite scores.
    is_shift_invariant : bool, default=True
        Whether adding a constant to a row of scores does not change its probabilities.
    is_symmetric : bool, default=True
        Whether permuted scores have the same probabilities, permuted.
    is_order_preserving : bool, default=True
        Whether a higher score never has a lower probability.
    is_scale_invariant : bool, default=False
        Whether multiplying all scores by the same positive number does not change the
        probabilities. Then a penalty does not change the minimum of the loss.
    is_continuous : bool, default=True
        Whether the probabilities have no jumps. The potential has kinks at jumps.
    is_lipschitz : bool, default=True
        Whether the Jacobian is bounded, and there are no jumps.
    is_projection : bool, default=False
        Whether the mapping is the Euclidean projection onto the simplex.
    is_separable : bool, default=False
        Whether each probability depends on one score only. For a loss, whether it is a
        sum of losses of one score each, so that its Hessian is diagonal.
    depends_on_n_available : bool, default=False
        Whether the function of the scores of the available classes depends on their
        number. Then the potential is another if a class becomes unavailable.
    is_only_a_function : bool, default=False
        Whether only the values are known. Then the loss is the gradient-field loss.
    base_score : float, default=0.0
        Score, the same for all classes, at which a fit starts. The probabilities must
        be defined there.
    supports_array_api : bool, default=False
        Whether kernels take arrays of all libraries that follow the array API standard.
    has_label_gradient : bool, default=False
        Whether :meth:`Mapping.label_gradient` is faster than a linearization.
    is_convex : bool, default=False
        For a loss: whether it is convex in the scores.
    has_kinks : bool, default=False
        For a loss: whether it is convex, with a discontinuous gradient.
    has_bounded_hessian : bool, default=True
        For a loss: whether the second derivatives are bounded.
    has_negative_entropy : bool, default=False
        For a loss: whether it is F(z) - ⟨q, z⟩, up to a constant, with F = Ω*, after
        the margins have been added to z. Then it has a method
        ``negative_entropy(probabilities)``, Ω of each row.
    has_proximal_step : bool, default=False
        For a loss: whether it has a method ``proximal_residual(scores, target,
        strength)``, in closed form.

    Examples
    --------
    >>> from skprob.mappings import Sparsemax
    >>> Sparsemax().traits.has_zeros
    True
    """

    polytope: str = "simplex"
    sum_range: tuple[float, float] | None = None
    has_potential: bool = False
    no_potential_because: str = ""
    has_zeros: bool = False
    is_shift_invariant: bool = True
    is_symmetric: bool = True
    is_order_preserving: bool = True
    is_scale_invariant: bool = False
    is_continuous: bool = True
    is_lipschitz: bool = True
    is_projection: bool = False
    is_separable: bool = False
    depends_on_n_available: bool = False
    is_only_a_function: bool = False
    base_score: float = 0.0
    supports_array_api: bool = False
    has_label_gradient: bool = False
    is_convex: bool = False
    has_kinks: bool = False
    has_bounded_hessian: bool = True
    has_negative_entropy: bool = False
    has_proximal_step: bool = False

    def __post_init__(self):
        if self.polytope not in ("simplex", "cube"):
            raise ValueError(
                f"polytope must be 'simplex' or 'cube'; got {self.polytope!r}."
            )
        if self.sum_range is None:
            on_simplex = self.polytope == "simplex"
            sum_range = (1.0, 1.0) if on_simplex else (0.0, np.inf)
            object.__setattr__(self, "sum_range", sum_range)

    # Kernels read the traits of a loss for each block of rows.
    @lru_cache(maxsize=256)  # noqa: B019
    def but(self, **changes: Any) -> Traits:
        """The same traits with some changes."""
        return replace(self, **changes)

    @staticmethod
    def check_class(cls: type) -> None:
        """Raise TypeError if a class defines its traits in another way."""
        traits = vars(cls).get("traits", Traits())
        if not (isinstance(traits, Traits) or hasattr(traits, "__get__")):
            raise TypeError(
                f"traits of {cls.__name__} must be an object of skprob.mappings.Traits "
                f"or a property that returns one; got a {type(traits).__name__}."
            )
        misplaced = sorted(Traits.__dataclass_fields__.keys() & vars(cls).keys())
        if misplaced:
            name = misplaced[0]
            raise TypeError(
                f"{name} is a field of the traits, and must not be an attribute of "
                f"{cls.__name__}: define `traits = Traits({name}=...)` or, if it "
                "depends on parameters, a property `traits`. Traits is in "
                "skprob.mappings."
            )
