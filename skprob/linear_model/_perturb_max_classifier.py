"""Linear classifier with perturb-max: probit and its relatives."""

from __future__ import annotations

from typing import Any, Literal

from .._typing import ArrayLike
from ..decision import ThresholdLike
from ..losses import LossLike
from ..mappings import PerturbMax
from ._base import BaseLinearClassifier
from ._docstrings import with_shared_sections


@with_shared_sections
class PerturbMaxClassifier(BaseLinearClassifier):
    """Linear classifier whose classes win with the largest score after noise.

    With normal noise and ``loss="log"`` it is the multinomial probit model with
    independent errors, with Gumbel noise softmax (multinomial logit), with uniform
    noise a mapping with exact zeros.

    By default the loss is the convex Fenchel-Young loss of the noise, or the log loss
    if the noise has no mean, as Cauchy noise has none.

    Parameters
    ----------
    noise : str or distribution, default="normal"
        "gumbel", "normal", "logistic", "laplace", "exponential", "uniform" or
        "cauchy", or any continuous distribution with methods ``logpdf`` and
        ``logcdf``, such as ``scipy.stats.t(5)``: see
        :class:`~skprob.mappings.PerturbMax`.
    scale : float, default=1.0
        Positive; the noise is multiplied by it.
    n_quantiles : int or None, default=None
        If given, probabilities are the average over that many quantiles of the noise in
        place of the integral; the loss is then the log loss.
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    LinearClassifier : Any mapping; the objective is given there.
    SoftmaxClassifier : The same with Gumbel noise, in closed form.

    Notes
    -----
    The probabilities are integrals, computed to an error of 1e-10 for every row. On
    digits, a fit takes some 20 to 40 times as long as with softmax, and with the log
    loss some 100 times. For another error, give a :class:`~skprob.mappings.PerturbMax`
    to :class:`LinearClassifier`.

    The log loss is convex where the density of the noise is log-concave (Prékopa), as
    for the named noises but Cauchy's; where it is smoothed for exact zeros, as with
    uniform noise, it is not. The fit with the log loss at scale s and C is that at
    scale 1 and :math:`C / s^2`, with coefficients s times as large.

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
    """

    _parameter_constraints: dict = {
        "noise": PerturbMax._parameter_constraints["noise"],
        "scale": PerturbMax._parameter_constraints["scale"],
        "n_quantiles": PerturbMax._parameter_constraints["n_quantiles"],
        **BaseLinearClassifier._parameter_constraints,
    }

    def __init__(
        self,
        noise: Any = "normal",
        scale: float = 1.0,
        *,
        n_quantiles: int | None = None,
        loss: LossLike = "auto",
        similarity: Literal["dot", "cosine"] = "dot",
        margin: float = 0.0,
        temperature: float = 1.0,
        C: float | Literal["auto"] = 1.0,
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        label_smoothing: float = 0.0,
        target_type: str = "auto",
        class_names: ArrayLike | None = None,
        none_class: bool = True,
        threshold: ThresholdLike = "auto",
        sparse_output: bool = False,
        solver: Literal["auto", "lbfgs", "newton-cg"] = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: int | bool = 0,
    ) -> None:
        super().__init__(
            loss=loss,
            similarity=similarity,
            margin=margin,
            temperature=temperature,
            C=C,
            fit_intercept=fit_intercept,
            class_weight=class_weight,
            label_smoothing=label_smoothing,
            target_type=target_type,
            class_names=class_names,
            none_class=none_class,
            threshold=threshold,
            sparse_output=sparse_output,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            warm_start=warm_start,
            verbose=verbose,
        )
        self.noise = noise
        self.scale = scale
        self.n_quantiles = n_quantiles

    def _mapping(self):
        return PerturbMax(self.noise, self.scale, n_quantiles=self.n_quantiles)
