"""The methods of a mapping that users call."""

from __future__ import annotations

from .._utils.arrays import is_foreign, namespace, positive_part, zeros
from .._utils.checks import (
    array_points,
    array_rows,
    as_points,
    as_rows,
    refuse_arrays,
)
from .._utils.typing import Array, ArrayLike, RandomState
from ._row_blocks import by_blocks
from ._sampling import (
    check_sampling,
    draw_classes,
    draw_sets,
    relax_classes,
    relax_sets,
)
from .kernel_checks import checked_kernel, checked_linearization, checked_potential


class UserMethods:
    """Methods that check their arguments and process rows in blocks, by kernels."""

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

    def _by_blocks(self, what, kernel, scores, *others):
        """The result of a kernel for all rows, checked if the kernel is a user's."""
        kernel = checked_kernel(self, what, kernel)
        return by_blocks(kernel, scores, self._standard, *others)

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
        return self._by_blocks("probabilities", self.probabilities, scores)

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

        return self._by_blocks("log-probabilities", kernel, scores)

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
            return checked_linearization(self, block).jvp(block_direction)

        return self._by_blocks("a Jacobian product", kernel, scores, direction)

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
            return checked_linearization(self, block).vjp(block_direction)

        return self._by_blocks("a Jacobian product", kernel, scores, direction)

    def jacobian(self, scores: ArrayLike) -> Array:
        """Jacobian of each row, for inspection: it has n_classes² numbers for each row.

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
        jvp = checked_linearization(self, self._standard(scores)).jvp
        jvp, columns = checked_kernel(self, "a Jacobian product", jvp), []
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
            return checked_potential(self, block)

        potential, xp = (
            self._by_blocks("a potential", kernel, scores),
            namespace(scores),
        )
        traits = self.traits
        if traits.is_shift_invariant:
            potential += traits.sum_range[0] * xp.max(scores, axis=1)
        elif traits.polytope == "cube":
            potential += xp.sum(positive_part(scores), axis=1)
        return potential

    def entropy(self, probabilities: ArrayLike) -> Array:
        """The entropy -Ω(p): the mapping maximises expected score plus entropy.

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
        kernel = checked_kernel(self, "an entropy", self.negative_entropy)
        return -kernel(check(probabilities, self.traits.polytope))

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
            Seed or generator of the draws. None draws other numbers in each call.

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
            Seed or generator of the draws. None draws other numbers in each call.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_classes) or (n_samples, size, n_classes)

        Raises
        ------
        ValueError
            As for a call of the mapping; if a parameter is not allowed.

        See Also
        --------
        gumbel_softmax : Relaxed samples of softmax, as a function.

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
