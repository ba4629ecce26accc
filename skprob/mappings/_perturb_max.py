"""Perturb-max: the probability of being the largest after noise."""

from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval

from ._base import Mapping
from ._max_conjugate import conjugate
from ._max_derivatives import MaxDerivatives
from ._max_integral import MaxIntegral
from ._noise import get_noise
from ._quantile_average import quantile_average
from ._rows import along_axis
from ._temperature import Temperature

# n_classes² times the rows of a block: a row has at most some n_classes panels.
_BLOCK_SIZE = 1 << 20
# Tolerance of logarithms, in units of that of probabilities.
_RELATIVE = 100


class PerturbMax(Temperature):
    r"""Perturb-max: the probability of having the largest score after noise.

    .. math:: p_i = P[\operatorname{argmax}_j (z_j + s \varepsilon_j) = i]
        = \int \frac{\varphi(x - z_i / s)}{\Phi(x - z_i / s)}
          \prod_j \Phi(x - z_j / s) \, dx

    with independent noise :math:`\varepsilon_j` of density :math:`\varphi` and
    distribution function :math:`\Phi`, and s the `scale`. Gumbel noise gives softmax
    (up to rounding), normal noise with the log loss is the independent multinomial
    probit, and uniform noise gives exact zeros.

    It is the gradient of :math:`F(z) = E[\max_j (z_j + s \varepsilon_j)]` where the
    noise has a mean. Its Jacobian is
    :math:`\partial p_i / \partial z_j = -\int \varphi_i \varphi_j
    \prod_{l \neq i, j} \Phi_l` for :math:`i \neq j`, where rows sum to zero.

    Parameters
    ----------
    noise : str or distribution, default="gumbel"
        "gumbel", "normal", "logistic", "laplace", "exponential", "uniform" (on
        [0, 1]) or "cauchy", each in standard form; or any continuous distribution:
        an object with methods ``logpdf`` and ``logcdf``, such as
        ``scipy.stats.t(5)``. Its ``support()``, if it has that, must be right. There
        is a potential if it has a ``mean()`` and that is finite.
    scale : float, default=1.0
        Positive; the noise is multiplied by it.
    tol : float, default=1e-10
        Absolute error to aim at, from 1e-13 to 1e-2: in probabilities and in the
        potential. That of log-probabilities is 100 times as large, however small
        the probability.
    n_quantiles : int or None, default=None
        If given, no integral: the average over that many quantiles of the noise, as
        in the literature. Its error is of the order of 1 / n_quantiles, and it is not
        exactly the gradient of anything: it has no potential.

    See Also
    --------
    Softmax : The same with Gumbel noise, in closed form.
    perturb_max : The same as a function, along any axis of an array.

    Notes
    -----
    The integrals are computed by Gauss-Legendre quadrature on panels chosen for each
    row, at a cost of n_classes evaluations of the noise for each node: some 60 nodes
    in a row for normal noise. For a distribution given as an object, a kink of the
    density other than at its median or at the ends of its support may cost digits.

    Compare noises at equal variance: Gumbel noise has variance π²/6, so unit normal
    noise is sharper than softmax.

    References
    ----------
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
    """

    _parameter_constraints = {
        "scale": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 1e-13, 1e-2, closed="both")],
        "n_quantiles": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(self, noise="gumbel", scale=1.0, *, tol=1e-10, n_quantiles=None):
        self.noise = noise
        self.scale = scale
        self.tol = tol
        self.n_quantiles = n_quantiles

    @property
    def mapping(self):
        return _UnitPerturbMax(self.noise, self.tol, self.n_quantiles)

    @property
    def temperature(self):
        return self.scale

    def scale_derivative(self, scores):
        """Derivative of the probabilities in the scale of the noise.

        As they depend on scores / scale only, it is minus the Jacobian times
        scores / scale.

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
        return self.temperature_derivative(scores)


class _UnitPerturbMax(Mapping):
    """Perturb-max with the noise as it is."""

    def __init__(self, noise, tol, n_quantiles):
        self.noise = noise
        self.tol = tol
        self.n_quantiles = n_quantiles

    def _validate_params(self):
        get_noise(self.noise)

    @property
    def has_potential(self):
        return self.n_quantiles is None and get_noise(self.noise).mean is not None

    @property
    def has_zeros(self):
        return bool(np.isfinite(get_noise(self.noise).support).all())

    def probabilities(self, scores):
        if self.n_quantiles is not None:
            return self.linearize(scores).probabilities
        log_p = [i.log_probabilities() for i in self._integrals(scores)]
        return np.exp(np.concatenate(log_p)).astype(scores.dtype, copy=False)

    def probabilities_and_potential(self, scores):
        self._check_potential()
        integrals = self._integrals(scores)
        p = np.exp(np.concatenate([i.log_probabilities() for i in integrals]))
        potential = np.concatenate([i.expected_max for i in integrals])
        dtype = scores.dtype
        return p.astype(dtype, copy=False), potential.astype(dtype, copy=False)

    def negative_entropy(self, probabilities):
        self._check_potential()
        noise = get_noise(self.noise)
        omega = np.full(len(probabilities), -noise.mean, dtype=probabilities.dtype)
        mixed = np.count_nonzero(probabilities, axis=1) > 1
        if mixed.any():
            q = np.asarray(probabilities[mixed], dtype=np.float64)
            omega[mixed] = conjugate(q, noise, self.tol)
        return omega

    def linearize(self, scores):
        if self.n_quantiles is not None:
            return quantile_average(scores, get_noise(self.noise), self.n_quantiles)
        return MaxDerivatives(self._integrals(scores), scores.dtype).all()

    def log_linearize(self, scores):
        if self.n_quantiles is not None:
            return super().log_linearize(scores)
        integrals = self._integrals(scores, relative=True)
        return MaxDerivatives(integrals, scores.dtype).all()

    def _check_potential(self):
        if self.n_quantiles is not None:
            raise TypeError("The average over quantiles has no potential or entropy.")
        if not self.has_potential:
            raise TypeError(
                f"PerturbMax has no potential or entropy: the noise {self.noise!r} has "
                "no finite mean()."
            )

    def _integrals(self, scores, relative=False):
        tol = max(self.tol, np.finfo(scores.dtype).eps)
        step = max(1, _BLOCK_SIZE // scores.shape[1] ** 2)
        return [
            MaxIntegral(
                scores[i : i + step],
                get_noise(self.noise),
                _RELATIVE * tol if relative else tol,
                relative,
            )
            for i in range(0, max(len(scores), 1), step)
        ]


def perturb_max(scores, noise="gumbel", scale=1.0, axis=-1):
    """Perturb-max along an axis of an array.

    Parameters
    ----------
    scores : array-like of shape (..., n_classes, ...)
        Real scores; -inf means that the class is not available.
    noise : str or distribution, default="gumbel"
        As for :class:`PerturbMax`.
    scale : float, default=1.0
        Positive; the noise is multiplied by it.
    axis : int, default=-1
        The axis along which the probabilities sum to one.

    Returns
    -------
    probabilities : ndarray of the shape of `scores`
        float32 for float32 scores and float64 otherwise.

    Raises
    ------
    ValueError
        If the noise is not known or lacks a method, or the scale is not positive; if
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
    return along_axis(PerturbMax(noise, scale), scores, axis)
