"""Perturb-max: the probability of being the largest after noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ..._utils.checks import (
    IntegerInterval,
    RealInterval,
    as_rows,
    in_order,
    refuse_arrays,
)
from ..._utils.scores import standard_scores
from ..._utils.typing import Array, ArrayLike, RandomState
from .._row_blocks import along_axis
from .._temperature import Temperature

# Distance from the largest score, in scales, beyond which the result does not change.
_FAR = 1e30
# Most quantiles and nodes: more do not fit in memory.
_MOST_NODES = 10**6


class PerturbMax(Temperature):
    r"""Perturb-max: the probability of having the largest score after noise.

    .. math:: p_i = P[\operatorname{argmax}_j (z_j + s \varepsilon_j) = i]
        = \int \frac{\varphi(x - z_i / s)}{\Phi(x - z_i / s)}
          \prod_j \Phi(x - z_j / s) \, dx

    with independent noise :math:`\varepsilon_j` of density :math:`\varphi` and
    distribution function :math:`\Phi`, and s the `scale`. Gumbel noise gives softmax
    (up to rounding), normal noise with the log loss is the independent multinomial
    probit, and uniform noise gives exact zeros.

    It is the gradient of :math:`F(z) = E[\max_j (z_j + s \varepsilon_j)]`, which is
    finite where the noise has a mean. Its Jacobian is :math:`\partial p_i / \partial
    z_j = -\int \varphi_i \varphi_j \prod_{l \neq i, j} \Phi_l` for :math:`i \neq j`,
    and its rows sum to zero.

    Parameters
    ----------
    noise : str or distribution, default="normal"
        "gumbel", "normal", "logistic", "laplace", "exponential", "uniform" (on [0, 1])
        or "cauchy", each in standard form; "student_t", "generalized_normal" or
        "skew_normal", which are :class:`StudentT`, :class:`GeneralizedNormal` and
        :class:`SkewNormal` with their default shapes, or an instance of these classes;
        or any continuous distribution: an object with
        methods ``logpdf`` and ``logcdf``, such as ``scipy.stats.gamma(3)``. If it has a
        method ``support``, the density must be zero outside. There is a potential if it
        has a method ``mean`` whose value is finite.
    scale : float, default=1.0
        Positive; the noise is multiplied by it.
    tol : float, default=1e-10
        Absolute tolerance of probabilities and potential, from 1e-13 to 1e-2. The
        absolute tolerance of log-probabilities is 100 times as large, also for tiny
        probabilities. A score more than 1e300 below the largest counts as 1e300 below.
    n_quantiles : int or None, default=None
        If given, the integral is replaced by an average over this many quantiles of the
        noise, an approximation from the literature. Its error is of the order of 1 /
        n_quantiles, and it has no potential.
    loadings : array-like of shape (n_classes, n_factors) or None, default=None
        If given, the noise is correlated: L times a vector of independent standard
        normal factors is added to it, where L are the loadings. The covariance is that
        of the noise plus :math:`L L^\top`. Only differences between rows of L matter.
        A classifier matches the rows of a pandas DataFrame with its ``classes_`` by
        name.
    n_points : int or None, default=None
        Number of nodes of the average over the factors. With up to three factors it is
        the number for each of them, in a Gauss-Hermite rule; None stands for as many as
        give an error of 1e-8 with smooth noise. With more factors it is the number of
        quasi-random nodes in all; None stands for 1024.
    random_state : int, default=0
        Seed of the quasi-random nodes.

    See Also
    --------
    Softmax : The same with Gumbel noise, by a formula instead of integrals.
    perturb_max : The same as a function, along any axis of an array.

    Notes
    -----
    Gumbel noise has a closed form. With normal, skew-normal, logistic, Cauchy and
    Student-t noise, rows of about one spread share the nodes of the quadrature. Their
    tables are made at the first call with a noise and a number of classes, in 10 ms to
    1 s. Other noises, and rows whose scores are too far apart for the tables, need
    adaptive quadrature, which takes several times as long. The developer page "How
    perturb-max is computed" explains both.

    Quadrature of a distribution given as an object is less accurate in two cases: if
    its density has a kink elsewhere than at its median or at the ends of its support,
    and if its ``logcdf`` has few correct digits in the tails.

    Second derivatives, which the Hessian of the log loss needs, are integrals for named
    noises without a jump or a cusp in the density, and differences of the Jacobian for
    all other noises. :class:`GeneralizedNormal` has a cusp if its exponent is between 1
    and 2.

    Correlated noise is independent noise at scores that are shifted by the factors.
    Probabilities, potential and Jacobian are averages over the nodes of the factors,
    and their time is proportional to the number of nodes. With Gumbel noise this is the
    mixed logit with error components. With normal noise it is the multinomial probit of
    covariance :math:`s^2 (I + L L^\top)`. The accuracy is that of the nodes: for noises
    with kinks, such as Laplace and uniform noise, or large loadings, check how the
    result changes with more `n_points`. Second derivatives are differences of the
    Jacobian, which has n_classes² numbers a row.

    Compare noises at equal variance: Gumbel noise has variance π²/6, so unit normal
    noise is sharper than softmax.

    References
    ----------
    D. McFadden and K. Train, "Mixed MNL models for discrete response", Journal of
    Applied Econometrics 15, 2000.

    L. L. Thurstone, "A law of comparative judgment", Psychological Review 34, 1927.

    D. McFadden, "Modelling the choice of residential location", 1978 (where F and its
    gradient are the theorem of Williams, Daly and Zachary).

    Q. Berthet, M. Blondel, O. Teboul, M. Cuturi, J.-P. Vert and F. Bach, "Learning
    with differentiable perturbed optimizers", NeurIPS 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.mappings import PerturbMax, Softmax
    >>> scores = np.array([[2.0, 1.0, -1.0]])
    >>> PerturbMax("normal")(scores).round(3)
    array([[0.756, 0.237, 0.007]])
    >>> PerturbMax("uniform")(scores).round(3)
    array([[1., 0., 0.]])
    >>> bool(np.allclose(PerturbMax("gumbel")(scores), Softmax()(scores), atol=1e-10))
    True
    >>> alike = PerturbMax("normal", loadings=[[0.0], [2.0], [2.0]])
    >>> alike([[0.0, 0.0, 0.0]]).round(3)  # the first class against two that are alike
    array([[0.407, 0.297, 0.297]])
    """

    _parameter_constraints = {
        "noise": "no_validation",  # get_noise raises a clearer error
        "scale": [RealInterval(0, None, closed="neither")],
        "tol": [RealInterval(1e-13, 1e-2, closed="both")],
        "n_quantiles": [IntegerInterval(1, _MOST_NODES, closed="both"), None],
        "loadings": ["array-like", None],
        "n_points": [IntegerInterval(1, _MOST_NODES, closed="both"), None],
        "random_state": [IntegerInterval(0, None, closed="left")],
    }

    def __init__(
        self,
        noise: Any = "normal",
        scale: float = 1.0,
        *,
        tol: float = 1e-10,
        n_quantiles: int | None = None,
        loadings: ArrayLike | None = None,
        n_points: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.noise = noise
        self.scale = scale
        self.tol = tol
        self.n_quantiles = n_quantiles
        self.loadings = loadings
        self.n_points = n_points
        self.random_state = random_state

    @property
    def mapping(self) -> Any:
        independent = self._independent()
        if self.loadings is None:
            return independent
        from ._correlated import CorrelatedMax
        from ._factors import get_factors

        factors = get_factors(self.loadings, self.n_points, self.random_state)
        return CorrelatedMax(independent, factors)

    def _independent(self):
        # Import the integrals when they are used: most programs never need them.
        if self.n_quantiles is not None:
            from ._quantile_average import QuantileAverage

            return QuantileAverage(self.noise, self.n_quantiles)
        from ._independent import GumbelMax, IndependentMax

        if isinstance(self.noise, str) and self.noise == "gumbel":
            return GumbelMax()
        return IndependentMax(self.noise, self.tol)

    @property
    def noise_variance(self) -> float:
        """Variance of the noise with its scale; None if it is not finite."""
        variance = self.mapping.noise_variance
        return None if variance is None else self.scale**2 * variance

    @property
    def temperature(self) -> float:
        return self.scale

    def scale_derivative(self, scores: ArrayLike) -> Array:
        """Derivative of the probabilities in the scale of the noise.

        The probabilities depend on scores / scale only, so it is minus the Jacobian
        times scores / scale.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_classes)

        Returns
        -------
        derivative : ndarray of shape (n_samples, n_classes)
            Its rows sum to zero.

        Raises
        ------
        ValueError
            As for a call of the mapping.

        Examples
        --------
        >>> from skprob.mappings import PerturbMax
        >>> PerturbMax("normal").scale_derivative([[1.0, 0.0]]).round(3)
        array([[-0.22,  0.22]])
        """
        self._validate_params()
        refuse_arrays("scale_derivative", scores=scores)
        scores = standard_scores(as_rows(scores), shift=True)
        lowest = -_FAR * min(self.scale, 1)
        scores[(scores < lowest) & (scores > -np.inf)] = lowest
        return self.temperature_derivative(scores)

    def for_classes(
        self, n_classes: int, labels: ArrayLike | None = None
    ) -> PerturbMax:
        """The mapping with the rows of a DataFrame of loadings in the order of classes.

        Parameters
        ----------
        n_classes : int
        labels : array-like of shape (n_labels,), default=None
            Names of the classes, with which the rows are matched.

        Returns
        -------
        mapping : PerturbMax
            The mapping itself if its loadings are an array.

        Raises
        ------
        ValueError
            If a name of a row is not that of a class.
        """
        if labels is None or not hasattr(self.loadings, "iloc"):
            return self
        rows = self.loadings.T
        by_class = in_order("loadings", rows, np.asarray(labels), part="rows")
        return clone(self).set_params(loadings=by_class.T.to_numpy())

    def noise_parameters(self) -> np.ndarray:
        """The parameters of the noise that can be estimated, as a vector.

        Returns
        -------
        parameters : ndarray of shape (n_parameters,)
            A transform of the shape parameter, if the noise has one, and the identified
            entries of the loadings, if there are any.
        """
        from ._noise_parameters import parameters_of

        return parameters_of(self.noise, self.loadings)

    def noise_parameter_bounds(self) -> list[Any]:
        """Lower and upper bound of each parameter, a list of pairs."""
        from ._noise_parameters import bounds_of

        return bounds_of(self.noise, self.loadings)

    def with_noise_parameters(self, parameters: ArrayLike) -> PerturbMax:
        """A copy of the mapping with other parameters of the noise."""
        from ._noise_parameters import at_parameters

        noise, loadings = at_parameters(self.noise, self.loadings, parameters)
        return clone(self).set_params(noise=noise, loadings=loadings)

    def log_noise_gradient(self, scores: ArrayLike, q: ArrayLike) -> Array:
        """Derivatives of Σ_k q_k log p_k in the noise parameters (a kernel).

        Parameters
        ----------
        scores, q : ndarray of shape (n_samples, n_classes)

        Returns
        -------
        gradient : ndarray of shape (n_samples, n_parameters)
        """
        from ._noise_parameters import pulled_back

        gradient = super().log_noise_gradient(scores, q)
        return pulled_back(self.noise, self.loadings, gradient)

    def shape_derivative(self, scores: ArrayLike) -> Array:
        """Derivative of the probabilities in the shape of the noise.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_classes)

        Returns
        -------
        derivative : ndarray of shape (n_samples, n_classes)
            The derivative in ``df`` of :class:`StudentT`, in ``exponent`` of
            :class:`GeneralizedNormal` or in ``skewness`` of :class:`SkewNormal`. Its
            rows sum to zero.

        Raises
        ------
        ValueError
            As for a call of the mapping, or if the noise has no shape.

        Examples
        --------
        >>> from skprob.mappings import PerturbMax, StudentT
        >>> PerturbMax(StudentT(df=3.0)).shape_derivative([[1.0, 0.0]]).round(4)
        array([[ 0.0141, -0.0141]])
        """
        from ._noise_parameters import check_shape
        from .noises import get_noise

        self._validate_params()
        check_shape(self.noise)
        refuse_arrays("shape_derivative", scores=scores)
        scores = standard_scores(as_rows(scores), shift=True)
        rate = self.mapping.shape_derivative(self.cooled(scores))
        return rate * get_noise(self.noise).coordinate_slope


def perturb_max(
    scores: ArrayLike,
    noise: Any = "normal",
    scale: float = 1.0,
    *,
    n_quantiles: int | None = None,
    axis: int = -1,
) -> Array:
    """Perturb-max along an axis of an array.

    Parameters
    ----------
    scores : array-like of shape (..., n_classes, ...)
        Real scores; -inf means that the class is not available.
    noise : str or distribution, default="normal"
        As for :class:`PerturbMax`.
    scale : float, default=1.0
        Positive; the noise is multiplied by it.
    n_quantiles : int or None, default=None
        If given, the integral is replaced by an average over this many quantiles of the
        noise.
    axis : int, default=-1
        The axis along which the probabilities sum to one.

    Returns
    -------
    probabilities : ndarray of the shape of `scores`
        float32 for float32 scores and float64 otherwise.

    Raises
    ------
    ValueError
        If the noise is not known or lacks a method, the scale is not positive, or the
        number of quantiles not an integer of at least 1; if
        the scores are not real numbers, hold NaN or +inf, or only -inf along the
        axis; if there is no such axis.

    See Also
    --------
    PerturbMax : The mapping, with its potential, entropy and Jacobian.

    Examples
    --------
    >>> from skprob.mappings import perturb_max
    >>> perturb_max([2.0, 1.0, -1.0], noise="normal").round(3)
    array([0.756, 0.237, 0.007])
    >>> perturb_max([[0.0, 1.5], [0.0, 0.0]], noise="uniform", axis=0)
    array([[0.5, 1. ],
           [0.5, 0. ]])
    """
    mapping = PerturbMax(noise, scale, n_quantiles=n_quantiles)
    return along_axis(mapping, scores, axis)
