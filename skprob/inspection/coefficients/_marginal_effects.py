"""Average marginal effects of features on the probabilities of a fitted model."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from ..._utils.fitted import at_last_step, names_at_last_step
from ..._utils.typing import ArrayLike, MatrixLike, RandomState
from ._bootstrap import bootstrap_errors
from ._covariance import covariance_of
from ._effects import dummies_of, effects_of
from ._fitted_rows import (
    check_linear,
    check_no_zeros,
    encoded_target,
    fitted_rows,
    warn_of_penalty,
)
from ._normal_test import check_choices, normal_test


class MarginalEffect(NamedTuple):
    """The average effect of a feature on the probability of a class.

    Attributes
    ----------
    class_name : object
        The class: one of ``classes_``, or None for the class of rows without a label.
    feature : str
        The name of the feature.
    estimate : float
        The mean derivative of the probability in the feature or, for a dummy, the mean
        difference of the probabilities at 1 and at 0.
    standard_error : float
        The standard error. This attribute and the next four are NaN without `y`.
    z : float
        The estimate divided by the standard error.
    p_value : float
        The p-value of a two-sided test of the hypothesis that the effect is zero.
    lower, upper : float
        Ends of the confidence interval.
    """

    class_name: object
    feature: str
    estimate: float
    standard_error: float
    z: float
    p_value: float
    lower: float
    upper: float


def marginal_effects(
    model: Any,
    X: MatrixLike,
    y: MatrixLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    dummy: bool = False,
    covariance: Literal["auto", "hessian", "sandwich"] = "auto",
    groups: ArrayLike | None = None,
    method: Literal["asymptotic", "bootstrap"] = "asymptotic",
    n_bootstrap: int = 200,
    random_state: RandomState = None,
    level: float = 0.95,
    available: ArrayLike | None = None,
    offset: ArrayLike | None = None,
) -> list[MarginalEffect]:
    r"""Average marginal effects: how probabilities change with each feature.

    The effect of feature j on class k is :math:`\frac{1}{n} \sum_i \partial p_k(x_i) /
    \partial x_{ij}`: how much the probability of the class increases, per unit of the
    feature, on average over the rows. Effects of models with different mappings can be
    compared, coefficients cannot. The effects of a feature on all classes sum to zero,
    unless the probabilities are marginals.

    Standard errors are computed by the delta method from the covariance of the
    coefficients, and treat the rows as fixed. For softmax the table has the numbers
    of ``get_margeff(at="overall")`` of the models Logit and MNLogit of statsmodels.

    Parameters
    ----------
    model : estimator
        A fitted linear classifier with ``similarity="dot"``; also a pipeline or a
        search that ends with one. The features are those that the classifier gets: if a
        pipeline scales them, the effects are per standard deviation.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows over which effects are averaged. With `y`, the training rows.
    y : array-like or sparse matrix, default=None
        Their target, of the kind that was fitted. None leaves out standard errors.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, as in ``fit``; the averages are weighted, too.
    dummy : bool, default=False
        Whether the effect of a feature with the values 0 and 1 only is the difference
        of the probabilities at 1 and at 0, and not the derivative.
    covariance : {"auto", "hessian", "sandwich"}, default="auto"
        The covariance of the coefficients, as in :func:`coefficient_table`.
    groups : array-like of shape (n_samples,), default=None
        The group of each row, for standard errors if rows of one group are correlated,
        as in :func:`coefficient_table`.
    method : {"asymptotic", "bootstrap"}, default="asymptotic"
        Where standard errors come from. "bootstrap" is the standard deviation of the
        effects of refits to resampled rows: for mappings with exact zeros.
    n_bootstrap : int, default=200
        Number of refits of the bootstrap.
    random_state : int, RandomState instance or None, default=None
        Determines the rows that the bootstrap draws.
    level : float, default=0.95
        The level of the confidence interval, between 0 and 1.
    available, offset : array-like, default=None
        As in ``fit``.

    Returns
    -------
    rows : list of MarginalEffect
        One for each class and feature. ``pandas.DataFrame(rows)`` makes a table of it.
        With asymptotic standard errors, features without a coefficient because of the
        penalty are left out.

    Raises
    ------
    ValueError
        If the scores are cosines; if `y` is given and the covariance is not defined
        (see :func:`coefficient_table`); if an argument is not allowed.

    Warns
    -----
    UserWarning
        With `y`, as for :func:`coefficient_table`.

    See Also
    --------
    coefficient_table : Standard errors of the coefficients.

    References
    ----------
    J. M. Wooldridge, "Econometric Analysis of Cross Section and Panel Data", second
    edition, chapter 15.6, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from skprob import SoftmaxClassifier
    >>> from skprob.inspection import marginal_effects
    >>> iris = load_iris(as_frame=True)
    >>> X, y = iris.data[["sepal width (cm)"]], iris.target_names[iris.target]
    >>> model = SoftmaxClassifier(C=np.inf, tol=1e-8).fit(X, y)
    >>> for row in marginal_effects(model, X, y):
    ...     print(f"{row.class_name:10} {row.estimate:5.2f} ± {row.standard_error:.2f}")
    setosa      0.64 ± 0.05
    versicolor -0.54 ± 0.07
    virginica  -0.10 ± 0.08

    A centimetre of width raises the probability of setosa by 0.64, on average.
    """
    check_choices(method, covariance, level)
    names = names_at_last_step(model)
    model, X = at_last_step(model, X)
    check_linear(model)
    given = {"available": available, "offset": offset}
    if y is None:
        rows = fitted_rows(model, X, sample_weight, names=names, **given)
        effects, _ = effects_of(rows, _dummies(rows, dummy), with_gradient=False)
        errors = np.full(effects.shape, np.nan)
    elif method == "asymptotic":
        check_no_zeros(model)
        warn_of_penalty(model)
        given |= {"sample_weight": sample_weight, "groups": groups}
        estimated = covariance_of(model, X, y, names=names, **given)
        rows = estimated.rows
        effects, gradient = effects_of(rows, _dummies(rows, dummy), with_gradient=True)
        # The delta method.
        errors = np.linalg.norm(gradient @ estimated.root(covariance), axis=2)
    else:
        warn_of_penalty(model)
        labelled = encoded_target(model, y, X).labelled
        rows = fitted_rows(model, X, sample_weight, names=names, **given)
        rows = rows.with_rows(labelled)
        dummies = _dummies(rows, dummy)
        effects, _ = effects_of(rows, dummies, with_gradient=False)

        def effects_of_refit(refit, weight):
            refit_rows = fitted_rows(refit, X, weight, **given).with_rows(labelled)
            return effects_of(refit_rows, dummies, with_gradient=False)[0]

        errors = bootstrap_errors(
            effects_of_refit,
            model,
            X,
            y,
            sample_weight=sample_weight,
            groups=groups,
            n_bootstrap=n_bootstrap,
            random_state=random_state,
            **given,
        )
    return _table(rows, effects, errors, level)


def _dummies(rows, dummy):
    """Columns whose effect is a difference, if the user has chosen `dummy`."""
    return dummies_of(rows.X) if dummy else []


def _table(rows, effects, errors, level):
    """A `MarginalEffect` for each class and feature."""
    estimate, error = effects.ravel(), errors.ravel()
    numbers = np.column_stack([estimate, error, *normal_test(estimate, error, level)])
    features = rows.feature_names[: rows.X.shape[1]]
    names = [(k, feature) for k in rows.classes for feature in features]
    return [
        MarginalEffect(*pair, *row)
        for pair, row in zip(names, numbers.tolist(), strict=True)
    ]
