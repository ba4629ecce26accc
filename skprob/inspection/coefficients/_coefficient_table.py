"""Coefficients of a fitted model with their standard errors."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from ..._utils.fitted import at_last_step, names_at_last_step
from ..._utils.names import did_you_mean
from ..._utils.typing import ArrayLike, MatrixLike, RandomState
from ._bootstrap import bootstrap_errors
from ._covariance import covariance_of
from ._fitted_rows import (
    check_linear,
    check_no_zeros,
    coefficients_of,
    fitted_rows,
    warn_of_penalty,
)
from ._normal_test import check_choices, normal_test


class CoefficientSummary(NamedTuple):
    """A coefficient with its standard errors, test and confidence interval.

    Attributes
    ----------
    class_name : object
        The class of the coefficient: one of ``classes_``, or None for the class of rows
        without a label.
    feature : str
        The name of the feature, or "intercept".
    estimate : float
        The coefficient, or its difference from the coefficient of the reference class.
    standard_error : float
        The standard error by the inverse Hessian, which is valid if the model is
        correct. With ``method="bootstrap"`` the standard deviation of the refits.
    robust_error : float
        The standard error by the sandwich estimator, which is also valid if the model
        is not correct or, with `groups`, if rows of one group are correlated. With
        ``method="bootstrap"`` the same as `standard_error`.
    z : float
        The estimate divided by the standard error of the chosen `covariance`.
    p_value : float
        The p-value of a two-sided test of the hypothesis that the coefficient is zero.
    lower, upper : float
        Ends of the confidence interval.
    """

    class_name: object
    feature: str
    estimate: float
    standard_error: float
    robust_error: float
    z: float
    p_value: float
    lower: float
    upper: float


def coefficient_table(
    model: Any,
    X: MatrixLike,
    y: MatrixLike,
    sample_weight: ArrayLike | None = None,
    *,
    reference: Any = "first",
    covariance: Literal["auto", "hessian", "sandwich"] = "auto",
    groups: ArrayLike | None = None,
    method: Literal["asymptotic", "bootstrap"] = "asymptotic",
    n_bootstrap: int = 200,
    random_state: RandomState = None,
    level: float = 0.95,
    available: ArrayLike | None = None,
    offset: ArrayLike | None = None,
) -> list[CoefficientSummary]:
    r"""Coefficients with standard errors, tests and confidence intervals.

    Call it with the rows that the model was fitted to. Let H be the Hessian of the sum
    of all losses and the penalty, and g_i the gradient of the loss of row i. The
    covariance is :math:`H^{-1}` if the loss is minus the log-likelihood of the correct
    model, and the sandwich :math:`H^{-1} (\sum_i g_i g_i^\top) H^{-1}` for any smooth
    loss. Softmax does not change if the same number is added to the scores of all
    classes, so only differences of coefficients are identified: the table has the
    differences from a reference.

    If rows are correlated within groups, such as the pupils of a school, give `groups`:
    the sandwich then has the sums of g_i over each group. If the sandwich is not
    defined, use ``method="bootstrap"``, which refits the model to resampled rows.

    Parameters
    ----------
    model : estimator
        A fitted linear classifier with ``similarity="dot"``; also a pipeline or a
        search that ends with one, unless a step transforms the rows of its fit in
        another way than new rows, as TargetEncoder does. If `method` is "asymptotic",
        the mapping must have no exact zeros. The model should be fitted without a
        penalty, ``C=np.inf``: a penalty biases the coefficients towards zero, which the
        standard errors ignore.
        If the penalty made coefficients zero (``l1_ratio``), standard errors after this
        selection are not valid; features without a coefficient are not in the table,
        unless `method` is "bootstrap". A noise that the fit estimated counts as known,
        except in the bootstrap.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The training rows.
    y : array-like or sparse matrix
        Their target, of the kind that was fitted.
    sample_weight : array-like of shape (n_samples,), default=None
        As in ``fit``. For the inverse Hessian, a row of weight 2 counts as two rows.
    reference : {"first", "mean"} or class label, default="first"
        The coefficients that are subtracted from those of three or more classes: those
        of the first class, the mean over the classes, or those of the given class. It
        is not used for two classes, which have one row of coefficients, nor for
        mappings that are not shift invariant or give marginals, where the coefficients
        of each class are identified.
    covariance : {"auto", "hessian", "sandwich"}, default="auto"
        The covariance from which z, p and the interval are computed. "auto" is
        "hessian" if the loss is minus the log-likelihood of the labels and there are no
        `groups`, else "sandwich".
    groups : array-like of shape (n_samples,), default=None
        The group of each row, numbers or text. Rows of different groups must be
        independent. The sandwich is multiplied by :math:`\frac{G}{G - 1} \frac{n - 1}{n
        - k}` for G groups, n rows and k free coefficients, as by statsmodels. With few
        groups, less than about 40, it is too small. None stands for independent rows.
    method : {"asymptotic", "bootstrap"}, default="asymptotic"
        "asymptotic" computes the covariance from derivatives of the loss. "bootstrap"
        computes the standard deviation of the coefficients of refits, which start from
        the model, to rows, or to whole groups, that are drawn with replacement. It is
        defined for mappings with exact zeros, too. The transformers of a pipeline and
        the parameters that a search chose do not change, except in classifiers that
        search along a path, which repeat the search.
    n_bootstrap : int, default=200
        Number of refits of the bootstrap. 200 refits determine a standard error to 5 %.
    random_state : int, RandomState instance or None, default=None
        Determines the rows that the bootstrap draws.
    level : float, default=0.95
        The level of the confidence interval, between 0 and 1.
    available, offset : array-like, default=None
        As in ``fit``.

    Returns
    -------
    rows : list of CoefficientSummary
        One for each class and feature. ``pandas.DataFrame(rows)`` makes a table of it.

    Raises
    ------
    ValueError
        If the scores are cosines; if `method` is "asymptotic" and the mapping has exact
        zeros, or the Hessian is singular up to rounding, because features are
        collinear; if more than half of the refits of the bootstrap fail; if an argument
        is not allowed. If classes are separable there are no finite estimates: the fit
        gives a warning, and the standard errors are huge, or this error is raised.

    Warns
    -----
    UserWarning
        If the model has a penalty, with other words if this penalty selected
        coefficients; if the model is not the optimum for these rows; or if refits of
        the bootstrap failed, which are counted and left out. A refit fails if it does
        not converge, or if a class is in none of the rows that were drawn.

    See Also
    --------
    marginal_effects : Effects of the features on the probabilities.

    References
    ----------
    White, "Maximum likelihood estimation of misspecified models", Econometrica 1982.

    Cameron and Miller, "A practitioner's guide to cluster-robust inference", Journal of
    Human Resources 2015.

    Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics,
    1979.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from skprob import SoftmaxClassifier
    >>> from skprob.inspection import coefficient_table
    >>> iris = load_iris(as_frame=True)
    >>> X, y = iris.data[["sepal width (cm)"]], iris.target_names[iris.target]
    >>> model = SoftmaxClassifier(C=np.inf, tol=1e-8).fit(X, y)
    >>> for row in coefficient_table(model, X, y):
    ...     print(
    ...         f"{row.class_name:10} {row.feature:16} {row.estimate:6.2f} "
    ...         f"± {row.standard_error:.2f}, z = {row.z:5.2f}"
    ...     )
    versicolor sepal width (cm)  -6.12 ± 0.99, z = -6.17
    versicolor intercept         18.86 ± 3.06, z =  6.15
    virginica  sepal width (cm)  -4.08 ± 0.84, z = -4.84
    virginica  intercept         13.00 ± 2.69, z =  4.83

    Sparsemax has exact zeros, so its standard errors need the bootstrap:

    >>> from skprob import SparsemaxClassifier
    >>> model = SparsemaxClassifier(C=np.inf, tol=1e-6).fit(X, y)
    >>> rows = coefficient_table(
    ...     model, X, y, method="bootstrap", n_bootstrap=100, random_state=0
    ... )
    >>> print(f"{rows[0].estimate:.1f} ± {rows[0].standard_error:.1f}")
    -1.7 ± 0.3
    """
    check_choices(method, covariance, level)
    names = names_at_last_step(model)
    model, X = at_last_step(model, X)
    check_linear(model)
    if method == "bootstrap":
        warn_of_penalty(model)
        rows = fitted_rows(model, X, names=names)
    else:
        check_no_zeros(model)
        warn_of_penalty(model)
        estimated = covariance_of(
            model,
            X,
            y,
            sample_weight=sample_weight,
            groups=groups,
            available=available,
            offset=offset,
            names=names,
        )
        rows = estimated.rows
    classes, contrast = _contrast(rows, reference)
    estimate = (contrast @ rows.coef).ravel()
    if method == "bootstrap":
        error = standard_error = robust_error = bootstrap_errors(
            lambda refit, _: (contrast @ coefficients_of(refit)).ravel(),
            model,
            X,
            y,
            sample_weight=sample_weight,
            groups=groups,
            n_bootstrap=n_bootstrap,
            random_state=random_state,
            available=available,
            offset=offset,
        )
    else:
        # One row for each feature, in each class of the contrast.
        contrasts = np.kron(contrast, np.eye(rows.coef.shape[1]))
        standard_error, robust_error, error = (
            np.linalg.norm(contrasts @ estimated.root(name), axis=1)
            for name in ("hessian", "sandwich", covariance)
        )
    numbers = np.column_stack(
        [estimate, standard_error, robust_error, *normal_test(estimate, error, level)]
    ).tolist()
    names = [(k, feature) for k in classes for feature in rows.feature_names]
    return [
        CoefficientSummary(*pair, *row)
        for pair, row in zip(names, numbers, strict=True)
    ]


def _contrast(rows, reference):
    """Classes in the table, and their rows as combinations of those of `coef`."""
    classes = rows.classes
    M = len(rows.coef)
    if M == 1:
        return classes[1:], np.eye(1)
    if not rows.is_shift_invariant:
        return classes, np.eye(M)
    if reference in classes:
        at = classes.index(reference)
    elif isinstance(reference, str) and reference == "first":
        at = 0
    elif isinstance(reference, str) and reference == "mean":
        return classes, np.eye(M) - 1 / M
    else:
        names = ["first", "mean", *(name for name in classes if isinstance(name, str))]
        raise ValueError(
            f"reference must be 'first', 'mean' or one of the classes {classes[:10]}; "
            f"got {reference!r}.{did_you_mean(reference, names)}"
        )
    others = np.delete(np.arange(M), at)
    return [classes[k] for k in others], np.eye(M)[others] - np.eye(M)[at]
