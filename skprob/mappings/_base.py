"""The base class of the mappings from scores to probabilities."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

from sklearn.base import BaseEstimator

from .._utils.arrays import copied, is_foreign, namespace, positive_part, zeros
from .._utils.names import check_parameters
from .._utils.scores import standard_scores
from .._utils.typing import Array, ArrayLike, RandomState
from .._utils.validation import (
    array_points,
    array_rows,
    as_points,
    as_rows,
    refuse_arrays,
)
from ._linearization import Linearization, of_logarithms
from ._numerical import numerical_linearization
from ._rows import by_blocks
from ._sampling import (
    check_sampling,
    draw_classes,
    draw_sets,
    relax_classes,
    relax_sets,
)
from ._shift_invariance import check_shift_invariance
from ._traits import Traits


class Mapping(BaseEstimator, metaclass=ABCMeta):
    """Base class of the mappings: scores to probabilities, row by row.

    A mapping is a scikit-learn estimator without ``fit``: its parameters are
    constructor arguments, so that ``mapping__alpha`` works in a grid search.

    There are two sets of methods. Those that users call (``mapping(scores)``,
    :meth:`jvp`, :meth:`vjp`, :meth:`jacobian`, :meth:`potential`, :meth:`entropy`,
    :meth:`log_probabilities`) check their input and compute the result in blocks of
    rows. Those that a subclass implements (:meth:`probabilities`, and as many of
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
    #: For marginals, the mapping of two classes whose second probability depends on the
    #: difference of their scores as a marginal depends on its score; None if unknown.
    pair_mapping: Mapping | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        Traits.check_class(cls)

    def _validate_params(self):
        # The check of scikit-learn without reading the signature of the constructor,
        # which takes long: every call of a mapping calls this method.
        check_parameters(
            self._parameter_constraints,
            {name: getattr(self, name) for name in self._parameter_constraints},
            type(self).__name__,
        )
        check_shift_invariance(self)

    # Kernels, for authors of mappings and losses. They do not check their arguments.

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

    def label_gradient(
        self, scores: Array, labels: Array, logarithm: bool
    ) -> tuple[Array, Array]:
        """The probability of one class in each row of scores, and its gradient.

        With `logarithm` both are those of the logarithm. Only a mapping with the trait
        `has_label_gradient` needs to define this.
        """
        raise self._lacks("gradients of one class in each row", "label_gradient")

    # Methods for users. They check their arguments and process rows in blocks.

    def _checked(self, scores, **others):
        """Scores, and arrays of their shape, as float arrays of one library."""
        self._validate_params()
        if is_foreign(scores):
            self._check_array_api()
            return array_rows(scores, **others)
        return as_rows(scores, **others)

    def _check_array_api(self):
        if not self.traits.supports_array_api:
            raise ValueError(
                f"{self!r} takes NumPy arrays only, and no other arrays under "
                "array_api_dispatch=True: convert them, for example by "
                "np.asarray(array)."
            )

    def __call__(self, scores: ArrayLike) -> Array:
        """Probabilities of scores.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_classes)
            Real scores; -inf means that the class is not available.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Rows of the mapping's polytope, the probability simplex for most; float32
            for float32 scores and float64 otherwise.

        Raises
        ------
        ValueError
            If the scores are not two-dimensional, are not real numbers, hold NaN
            or +inf, or have a row of -inf only; if a parameter of the mapping is
            not allowed.
        """
        scores = self._checked(scores)
        return by_blocks(self.probabilities, scores, self._standard)

    def log_probabilities(self, scores: ArrayLike) -> Array:
        """Logarithm of the probabilities; -inf where a probability is zero.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_classes)
            Real scores; -inf means that the class is not available.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)

        Raises
        ------
        ValueError
            As for a call of the mapping.
        TypeError
            If the mapping has no Jacobian.
        """
        scores = self._checked(scores)

        def kernel(block):
            return self.log_linearize(block).probabilities

        return by_blocks(kernel, scores, self._standard)

    def jvp(self, scores: ArrayLike, direction: ArrayLike) -> Array:
        """Jacobian at `scores` times `direction`, row by row.

        Parameters
        ----------
        scores, direction : array-like of shape (n_samples, n_classes)

        Returns
        -------
        product : ndarray of shape (n_samples, n_classes)

        Raises
        ------
        ValueError
            As for a call of the mapping; if the direction is not finite or not of
            the shape of the scores.
        TypeError
            If the mapping has no Jacobian.
        """
        scores, direction = self._checked(scores, direction=direction)

        def kernel(block, block_direction):
            return self.linearize(block).jvp(block_direction)

        return by_blocks(kernel, scores, self._standard, direction)

    def vjp(self, scores: ArrayLike, direction: ArrayLike) -> Array:
        """Transposed Jacobian at `scores` times `direction`, row by row.

        Parameters
        ----------
        scores, direction : array-like of shape (n_samples, n_classes)

        Returns
        -------
        product : ndarray of shape (n_samples, n_classes)

        Raises
        ------
        ValueError
            As for a call of the mapping; if the direction is not finite or not of
            the shape of the scores.
        TypeError
            If the mapping has no Jacobian.
        """
        scores, direction = self._checked(scores, direction=direction)

        def kernel(block, block_direction):
            return self.linearize(block).vjp(block_direction)

        return by_blocks(kernel, scores, self._standard, direction)

    def jacobian(self, scores: ArrayLike) -> Array:
        """Jacobian of each row, for inspection: it takes n_classes² numbers a row.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_classes)

        Returns
        -------
        jacobian : ndarray of shape (n_samples, n_classes, n_classes)
            ``jacobian[n, i, j]`` is the derivative of probability ``i`` in score ``j``
            of row ``n``. At a kink it is the Jacobian of the piece on which the zeros
            of the row stay zeros.

        Raises
        ------
        ValueError
            As for a call of the mapping.
        TypeError
            If the mapping has no Jacobian.
        """
        scores = self._checked(scores)
        jvp, columns = self.linearize(self._standard(scores)).jvp, []
        for j in range(scores.shape[1]):
            direction = zeros(scores.shape, scores)
            direction[:, j] = 1
            columns.append(jvp(direction))
        # Adding zero turns negative zeros into zeros.
        return namespace(scores).stack(columns, axis=2) + 0.0

    def potential(self, scores: ArrayLike) -> Array:
        """Convex function of the scores whose gradient is the mapping.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_classes)

        Returns
        -------
        potential : ndarray of shape (n_samples,)

        Raises
        ------
        ValueError
            As for a call of the mapping.
        TypeError
            If the mapping has no potential.
        """
        scores = self._checked(scores)

        def kernel(block):
            return self.probabilities_and_potential(block)[1]

        potential, xp = by_blocks(kernel, scores, self._standard), namespace(scores)
        traits = self.traits
        if traits.is_shift_invariant:
            potential += traits.sum_range[0] * xp.max(scores, axis=1)
        elif traits.polytope == "cube":
            potential += xp.sum(positive_part(scores), axis=1)
        return potential

    def entropy(self, probabilities: ArrayLike) -> Array:
        """The entropy -Ω(p) of the mapping: p maximises expected score plus entropy.

        Parameters
        ----------
        probabilities : array-like of shape (n_samples, n_classes)
            Rows of the mapping's polytope.

        Returns
        -------
        entropy : ndarray of shape (n_samples,)
            Smallest for a one-hot row, largest for the uniform row. The smallest value
            is zero, except for perturb-max, where it is the mean of the noise.

        Raises
        ------
        ValueError
            If a row is not in the mapping's polytope.
        TypeError
            If the mapping has no entropy.
        """
        self._validate_params()
        if is_foreign(probabilities):
            self._check_array_api()
            check = array_points
        else:
            check = as_points
        return -self.negative_entropy(check(probabilities, self.traits.polytope))

    def sample(
        self,
        scores: ArrayLike,
        size: int | None = None,
        random_state: RandomState | None = None,
    ) -> Array:
        """Classes drawn from the probabilities of scores.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_classes)
            Real scores; -inf means that the class is not available.
        size : int, default=None
            Number of draws for each row; None is one.
        random_state : int, RandomState instance or None, default=None

        Returns
        -------
        classes : ndarray of int of shape (n_samples,) or (n_samples, size)
            Columns of the scores, never one of probability zero. For a mapping to
            marginals the 0/1 indicators of label sets, of shape (n_samples, n_classes)
            or (n_samples, size, n_classes), with labels drawn independently.

        Raises
        ------
        ValueError
            As for a call of the mapping; if `size` is not a positive integer.

        See Also
        --------
        gumbel_max : Draws from softmax by adding noise.

        Examples
        --------
        >>> from skprob.mappings import Sparsemax
        >>> Sparsemax().sample([[0.5, 0.25, -1.0]], size=8, random_state=0)
        array([[0, 1, 0, 0, 0, 1, 0, 1]])
        """
        refuse_arrays("sample", scores=scores)
        check_sampling("sample", size=size, random_state=random_state)
        draw = draw_sets if self.traits.polytope == "cube" else draw_classes
        return draw(self(scores), size, random_state)

    def relaxed_sample(
        self,
        scores: ArrayLike,
        temperature: float = 1.0,
        size: int | None = None,
        random_state: RandomState | None = None,
    ) -> Array:
        r"""Points of the polytope close to draws: a smooth version of :meth:`sample`.

        Rows are :math:`\mathrm{softmax}((\log p + g) / \tau)` with Gumbel noise g. The
        index of the largest entry is a draw from p; a class of probability zero stays
        at zero. Marginals become :math:`\sigma((\mathrm{logit}(p) + l) / \tau)` with
        logistic noise l.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_classes)
            Real scores; -inf means that the class is not available.
        temperature : float, default=1.0
            Positive and finite; the lower, the closer the rows are to draws.
        size : int, default=None
            Number of draws for each row; None is one.
        random_state : int, RandomState instance or None, default=None

        Returns
        -------
        rows : ndarray of shape (n_samples, n_classes) or (n_samples, size, n_classes)

        Raises
        ------
        ValueError
            As for a call of the mapping; if a parameter is not allowed.

        See Also
        --------
        gumbel_softmax : The same of softmax, as a function.

        References
        ----------
        E. Jang, S. Gu and B. Poole, "Categorical reparameterization with
        Gumbel-softmax", ICLR 2017.

        Examples
        --------
        >>> from skprob.mappings import Sparsemax
        >>> Sparsemax().relaxed_sample([[0.5, 0.25, -1.0]], random_state=0).round(3)
        array([[0.725, 0.275, 0.   ]])
        """
        given = {"temperature": temperature, "size": size, "random_state": random_state}
        refuse_arrays("relaxed_sample", scores=scores)
        check_sampling("relaxed_sample", **given)
        if self.traits.polytope == "cube":
            p = self(scores)
            return relax_sets(p, **given).astype(p.dtype)
        log_p = self.log_probabilities(scores)
        return relax_classes(log_p, **given).astype(log_p.dtype)

    def _lacks(self, what, method):
        return TypeError(
            f"{type(self).__name__} does not provide {what}: it does not define "
            f"{method}."
        )


#: Values of an argument that is a mapping.
MappingLike: TypeAlias = Mapping | Callable[[Array], Array] | str
