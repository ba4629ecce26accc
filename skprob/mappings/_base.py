"""The base class of the mappings from scores to probabilities."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

from sklearn.base import BaseEstimator

from .._utils.arrays import copied
from .._utils.names import NestedChecked, check_parameters
from .._utils.scores import standard_scores
from .._utils.typing import Array, ArrayLike
from ._linearization import Linearization, of_logarithms
from ._numerical import numerical_linearization
from ._traits import Traits
from ._user_methods import UserMethods
from .kernel_checks import check_shift_invariance

# Classes of this package are not checked for wrong declarations of traits.
_PACKAGE = __name__.partition(".")[0]


class Mapping(UserMethods, NestedChecked, BaseEstimator, metaclass=ABCMeta):
    """Base class of the mappings: scores to probabilities, row by row.

    A mapping is a scikit-learn estimator without ``fit``: its parameters are
    constructor arguments, so that ``mapping__alpha`` works in a grid search.

    There are two sets of methods. The methods that users call (``mapping(scores)``,
    :meth:`jvp`, :meth:`vjp`, :meth:`jacobian`, :meth:`potential`, :meth:`entropy`,
    :meth:`log_probabilities`) check their input and compute the result in blocks of
    rows. The methods that a subclass implements (:meth:`probabilities`, and as many of
    :meth:`probabilities_and_potential`, :meth:`linearize`,
    :meth:`linearize_with_potential`, :meth:`linearize_difference`,
    :meth:`log_linearize` and :meth:`negative_entropy` as possible) are *kernels*: they
    get *standard scores* and do not check them. Standard scores are a float array of
    shape (n_samples, n_classes), C- or F-ordered, with no NaN and no +inf; if the
    mapping is shift invariant the largest score of each row is exactly 0. A kernel may
    overwrite them.

    For a mapping to the cube, kernels return the potential minus the sum of the
    positive scores, which is small even if scores are large.

    Only :meth:`probabilities` is required. With :meth:`linearize` the mapping has exact
    and fast derivatives, with :meth:`probabilities_and_potential` and
    :meth:`negative_entropy` a Fenchel-Young loss.
    """

    _parameter_constraints: dict = {}

    #: Properties that losses and fits use: a class attribute or, if it depends on
    #: parameters, a property.
    traits: Traits = Traits()
    #: For marginals: a mapping of two classes. Its second probability, as a function of
    #: the difference of their scores, is a marginal as a function of its score. None if
    #: it is not known.
    pair_mapping: Mapping | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        Traits.check_class(cls)

    def _validate_params(self):
        # As in scikit-learn, but without reading the signature of the constructor.
        # Reading takes long, and every call of a mapping calls this method.
        if self._parameter_constraints:
            check_parameters(
                self._parameter_constraints,
                {name: getattr(self, name) for name in self._parameter_constraints},
                type(self).__name__,
            )
        if type(self).__module__.partition(".")[0] != _PACKAGE:
            check_shift_invariance(self)

    # Kernels, for authors of mappings and losses. They do not check their arguments;
    # `_user_methods.py` has the methods that do.

    def _standard(self, scores, first_row=0):
        """Standard scores, in a new array; errors count rows from `first_row`."""
        return standard_scores(scores, self.traits.is_shift_invariant, first_row)

    def for_classes(self, n_classes: int, labels: ArrayLike | None = None) -> Mapping:
        """The mapping for this number of classes.

        `labels` are names of the first classes. A mapping whose parameters have names
        of classes returns one with parameters for each column.
        """
        return self

    @abstractmethod
    def probabilities(self, scores: Array) -> Array:
        """Probabilities of standard scores (a kernel, see the class)."""

    def probabilities_and_potential(self, scores: Array) -> tuple[Array, Array]:
        """Probabilities and the potential of each row of standard scores."""
        raise self._lacks("a potential", "probabilities_and_potential")

    def negative_entropy(self, probabilities: Array) -> Array:
        """The negative of the entropy, Ω(p), of each row of probabilities."""
        raise self._lacks("an entropy", "negative_entropy")

    def negative_entropy_among(
        self, probabilities: Array, n_available: int | Array
    ) -> Array:
        """Ω of each row, a distribution over `n_available` classes.

        The rows may have fewer columns, without zeros. Only a mapping whose Ω depends
        on the number of classes, an int or an array of shape (n_samples,), needs to
        define this.
        """
        return self.negative_entropy(probabilities)

    def linearize(self, scores: Array) -> Linearization:
        """:class:`Linearization` of the mapping at standard scores.

        The default is numerical, by central differences.
        """

        def probabilities(points):
            if self.traits.is_shift_invariant:
                points = points - points.max(axis=1, keepdims=True)
            return self.probabilities(points)

        return Linearization(*numerical_linearization(probabilities, scores))

    def linearize_with_potential(self, scores: Array) -> tuple[Linearization, Array]:
        """:class:`Linearization` at standard scores, and the potential of each row."""
        potential = self.probabilities_and_potential(copied(scores))[1]
        return self.linearize(scores), potential

    def linearize_difference(self, difference: Array) -> Any:
        """A ``DifferenceLinearization`` of two classes; None if there is no formula.

        The difference, an array of shape (n_samples,), is the score of the second class
        minus that of the first. It is defined only for a shift-invariant mapping.
        """
        return None

    def log_linearize(self, scores: Array) -> Linearization:
        """:class:`Linearization` of log-probabilities at standard scores."""
        return of_logarithms(self.linearize(scores))

    def label_gradient(self, scores: Array, labels: Array) -> tuple[Array, Array]:
        """The log-probability of one class in each row of scores, and its gradient.

        Only a mapping with the trait `has_label_gradient` needs to define this.
        """
        raise self._lacks("gradients of one class in each row", "label_gradient")

    def _lacks(self, what, method):
        return TypeError(
            f"{type(self).__name__} does not provide {what}: it does not define "
            f"{method}."
        )


#: Values of an argument that is a mapping.
MappingLike: TypeAlias = Mapping | Callable[[Array], Array] | str
