"""Linear classifier with perturb-max: probit and its relatives."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any, Literal

from ..._utils.checks import IntegerInterval
from ..._utils.typing import ArrayLike, RandomState
from ...decision import ThresholdLike
from ...losses import LossLike
from ...mappings import PerturbMax, check_shape
from .._docstrings import with_shared_sections
from ..base import BaseLinearClassifier
from ..fit import NoiseSearch
from ._log_loss import check_log_loss


@with_shared_sections
class PerturbMaxClassifier(BaseLinearClassifier):
    """Linear random-utility classifier: probit and other noises of the scores.

    The probability of a class is the probability that it has the largest score after
    noise is added to all scores. Normal noise with ``loss="log"`` is the multinomial
    probit model with independent errors. Gumbel noise is softmax (multinomial logit).
    With uniform noise some probabilities are exactly zero.

    By default the loss is the convex Fenchel-Young loss of the noise, or the log loss
    if the noise has no mean, such as Cauchy noise.

    Parameters
    ----------
    noise : str or distribution, default="normal"
        Distribution of the noise: "gumbel", "normal", "logistic", "laplace",
        "exponential", "uniform" or "cauchy"; "student_t", "generalized_normal" or
        "skew_normal", or an object such as ``StudentT(df=3)``; or any continuous
        distribution with methods ``logpdf`` and ``logcdf``, such as
        ``scipy.stats.gamma(3)``: see :class:`~skprob.mappings.PerturbMax`.
    scale : float, default=1.0
        Positive number by which the noise is multiplied.
    n_quantiles : int or None, default=None
        Number of quantiles of the noise. If given, the probabilities are averages over
        these quantiles instead of integrals, and the loss is the log loss.
    loadings : array-like of shape (n_classes, n_factors), int or None, default=None
        Loadings of correlated noise: see :class:`~skprob.mappings.PerturbMax`. An int,
        with ``learn_noise``, is the number of factors, at most n_classes - 1.
    learn_noise : bool, default=False
        Whether the shape of the noise, if it has one, and the loadings, if there are
        any, are estimated with the coefficients, by the log loss. ``noise`` and
        ``loadings`` are then the start.
    n_init : int, default=1
        Number of searches for the loadings; the one with the lowest objective is kept.
        The first starts from the given loadings or, if these are a number, along the
        directions in which the log loss falls most. The others start from random
        loadings. Take 5 or more with two or more factors.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the random loadings.
    {parameters}

    Attributes
    ----------
    noise_ : str or distribution
        The noise with the estimated shape; only with ``learn_noise=True``.
    loadings_ : ndarray of shape (n_classes, n_factors)
        The estimated loadings; only with ``learn_noise=True``. To make them unique, row
        k, counted from zero, is zero from factor k on: the first class has no factors,
        and the second class has the first factor only.
    {attributes}

    See Also
    --------
    LinearClassifier : Any mapping; the objective is given there.
    SoftmaxClassifier : The same with Gumbel noise, by a formula instead of integrals.

    Notes
    -----
    The probabilities are integrals, computed to an absolute error of 1e-10; the guide's
    page on further mappings has the time that this takes. For another accuracy, give a
    :class:`~skprob.mappings.PerturbMax` to :class:`LinearClassifier`.

    The log loss is convex if the density of the noise is log-concave (Prékopa). Among
    the named noises only Cauchy noise has another density. Where probabilities can be
    exactly zero, as with uniform noise, the loss is smoothed and not convex. The fit
    with the log loss at scale s and C is that at scale 1 and :math:`C / s^2`, with
    coefficients s times as large.

    With ``learn_noise`` the loss is the log loss, because Fenchel-Young losses of
    different noises are on different scales. The scale of the noise is not estimated:
    twice the scale with twice the coefficients is the same model except for the
    penalty. The penalty also influences the estimated shape: set a large C for maximum
    likelihood. A shape at the end of its range, such as ``StudentT(df=1000.0)``, means
    that the limit, normal noise, fits best. The log loss may have several local minima
    in the loadings, most often with two or more factors: see `n_init`.

    References
    ----------
    L. L. Thurstone, "A law of comparative judgment", Psychological Review 34, 1927.

    Q. Berthet, M. Blondel, O. Teboul, M. Cuturi, J.-P. Vert and F. Bach, "Learning
    with differentiable perturbed optimizers", NeurIPS 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skprob import PerturbMaxClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> probit = PerturbMaxClassifier("normal", loss="log").fit(X, y)
    >>> probit.predict_proba(X[[0, 70]]).round(2)
    array([[0.99, 0.01, 0.  ],
           [0.  , 0.44, 0.56]])
    >>> sparse = PerturbMaxClassifier("uniform", scale=3.0).fit(X, y)
    >>> sparse.predict_proba(X[[0, 70]]).round(2)
    array([[0.99, 0.01, 0.  ],
           [0.  , 0.45, 0.55]])

    Estimate the degrees of freedom, whose true value is 2:

    >>> import numpy as np
    >>> from skprob.mappings import StudentT
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> noise = StudentT(df=2.0).rvs(size=(200, 3), random_state=0)
    >>> y = (X @ rng.normal(scale=2, size=(2, 3)) + noise).argmax(axis=1)
    >>> PerturbMaxClassifier("student_t", learn_noise=True, C=100.0).fit(X, y).noise_
    StudentT(df=...)
    """

    _parameter_constraints: dict = {
        "noise": PerturbMax._parameter_constraints["noise"],
        "scale": PerturbMax._parameter_constraints["scale"],
        "n_quantiles": PerturbMax._parameter_constraints["n_quantiles"],
        "loadings": ["array-like", IntegerInterval(1, None, closed="left"), None],
        "learn_noise": ["boolean"],
        "n_init": [IntegerInterval(1, None, closed="left")],
        "random_state": ["random_state"],
        **BaseLinearClassifier._parameter_constraints,
    }

    def __init__(
        self,
        noise: Any = "normal",
        scale: float = 1.0,
        *,
        n_quantiles: int | None = None,
        loadings: ArrayLike | int | None = None,
        learn_noise: bool = False,
        n_init: int = 1,
        random_state: RandomState = None,
        C: float | Literal["auto", "loo"] = 1.0,
        l1_ratio: float = 0.0,
        select: Literal["coefficients", "features"] = "coefficients",
        penalty_factors: ArrayLike | dict[str, float] | None = None,
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        target_type: str = "auto",
        class_names: ArrayLike | None = None,
        none_class: bool = True,
        threshold: ThresholdLike = "auto",
        sparse_output: bool = False,
        loss: LossLike = "auto",
        similarity: Literal["dot", "cosine"] = "dot",
        margin: float | ArrayLike = 0.0,
        temperature: float = 1.0,
        label_smoothing: float = 0.0,
        solver: Literal["auto", "lbfgs", "newton-cg", "newton-cholesky"] = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: int | bool = 0,
    ) -> None:
        super().__init__(
            C=C,
            l1_ratio=l1_ratio,
            select=select,
            penalty_factors=penalty_factors,
            fit_intercept=fit_intercept,
            class_weight=class_weight,
            target_type=target_type,
            class_names=class_names,
            none_class=none_class,
            threshold=threshold,
            sparse_output=sparse_output,
            loss=loss,
            similarity=similarity,
            margin=margin,
            temperature=temperature,
            label_smoothing=label_smoothing,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            warm_start=warm_start,
            verbose=verbose,
        )
        self.noise = noise
        self.scale = scale
        self.n_quantiles = n_quantiles
        self.loadings = loadings
        self.learn_noise = learn_noise
        self.n_init = n_init
        self.random_state = random_state

    def _mapping(self):
        counts = isinstance(self.loadings, Integral)
        return PerturbMax(
            self.noise,
            self.scale,
            n_quantiles=self.n_quantiles,
            loadings=None if counts else self.loadings,
        )

    @property
    def _takes_arrays(self):
        """Whether the noise is given: derivatives in its parameters need NumPy."""
        return not self.learn_noise

    def _loss(self):
        return "log" if self.learn_noise and self.loss == "auto" else self.loss

    def _fit_spec(self):
        self._check_learning()
        spec = super()._fit_spec()
        if not self.learn_noise:
            return spec
        start = self._mapping()
        if self.warm_start and hasattr(self, "noise_"):
            start.set_params(noise=self.noise_)
        search = NoiseSearch(
            mapping=start,
            temperature=self.temperature,
            loadings=self.loadings,
            n_init=self.n_init,
            random_state=self.random_state,
        )
        return replace(spec, noise=search)

    def _check_learning(self):
        """Raise if `learn_noise` cannot be used with the other parameters."""
        counts = isinstance(self.loadings, Integral)
        if self.n_init > 1 and not (self.learn_noise and self.loadings is not None):
            raise ValueError(
                "n_init must be 1 unless loadings are learnt, by learn_noise=True and "
                f"loadings; got n_init={self.n_init}, learn_noise={self.learn_noise} "
                f"and loadings={self.loadings!r}."
            )
        if not self.learn_noise:
            if counts:
                raise ValueError(
                    "loadings must be an array of shape (n_classes, n_factors) unless "
                    f"learn_noise=True; got {self.loadings}."
                )
            return
        check_log_loss(self._loss())
        if self.n_quantiles is not None or self.similarity != "dot":
            raise ValueError(
                "learn_noise=True needs n_quantiles=None and similarity='dot'; got "
                f"{self.n_quantiles!r} and {self.similarity!r}."
            )
        if self.loadings is None:
            check_shape(self.noise)
