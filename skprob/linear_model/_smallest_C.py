"""The largest C at which a lasso makes all coefficients zero."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from .._utils.blas import serial_blas
from .._utils.typing import ArrayLike, MatrixLike
from ._entry_C import entry_C
from ._training_rows import training_rows
from .base import BaseLinearClassifier


def smallest_C(
    estimator: Any,
    X: MatrixLike,
    y: MatrixLike,
    sample_weight: ArrayLike | None = None,
    *,
    available: ArrayLike | None = None,
    offset: ArrayLike | None = None,
) -> float:
    """The largest C at which all penalised coefficients are zero.

    With a larger C the first coefficient, or with ``select="features"`` the first
    feature, enters. The search for C of a classifier with ``l1_ratio`` > 0 starts here:
    below it all models are the same.

    Parameters
    ----------
    estimator : estimator
        A linear classifier with ``l1_ratio`` > 0. All its parameters but ``C`` have an
        effect. It is not fitted.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Training data, as for ``fit``.
    y : array-like or sparse matrix
        Labels, label sets or distributions, as for ``fit``.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights of the rows; 1 if not given.
    available : array-like of bool of shape (n_samples, n_classes), default=None
        The classes that are available to each row; None stands for all classes.
    offset : array-like, default=None
        Known numbers that are added to the scores, as for ``fit``.

    Returns
    -------
    C : float
        Lower than the exact limit by a relative 1e-9, or 1e-5 for an X in single
        precision, so that rounding errors make no coefficient enter. Infinite if no
        coefficient enters at any C.

    Raises
    ------
    ValueError
        If ``l1_ratio`` is 0, so that no coefficient is zero at any C; if the fit has no
        penalty, estimates the noise of the mapping, or has no probabilities at zero
        scores; if an argument is malformed.

    Warns
    -----
    ConvergenceWarning
        If there is no minimum over the features with factor 0, or it was not found.

    See Also
    --------
    sklearn.svm.l1_min_c : For the log loss of two classes and the squared hinge loss.

    Notes
    -----
    Let g be the gradient of the mean loss in W, at the minimum over the intercepts and
    the features with factor 0. W = 0 is the minimum if no entry of g is larger than
    ρ / (C Σs) times the factor of its feature, with the weights s of the rows.
    With groups, "entry" is the norm of the entries of a feature. So C is in proportion
    to ``l1_ratio``. Without offsets and without features of factor 0, the probabilities
    at this minimum are the weighted shares of the classes. So all mappings that can
    have these probabilities have the same C.

    If the loss is not convex, zero is a stationary point at this C and at no larger
    one, for the intercepts that the solver finds.

    References
    ----------
    Friedman, Hastie, Tibshirani, "Regularization paths for generalized linear models
    via coordinate descent", Journal of Statistical Software 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skprob import SparsemaxClassifier
    >>> from skprob.linear_model import smallest_C
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SparsemaxClassifier(l1_ratio=0.9, tol=1e-8)
    >>> C = smallest_C(model, X, y)
    >>> round(C, 6)
    0.00784
    >>> bool(model.set_params(C=C).fit(X, y).coef_.any())
    False
    >>> bool(model.set_params(C=1.001 * C).fit(X, y).coef_.any())
    True
    """
    _check_estimator(estimator)
    estimator = clone(estimator)
    with serial_blas:
        estimator._validate_params()
        spec = estimator._fit_spec()
        if not estimator.l1_ratio > 0:
            raise ValueError(
                "l1_ratio must be positive: with l1_ratio=0 no coefficient is exactly "
                f"zero at any C; got l1_ratio={estimator.l1_ratio!r}."
            )
        _check_spec(spec)
        arguments = X, y, sample_weight, available, offset
        with training_rows(estimator, spec, *arguments) as rows:
            spec = estimator._for_features(spec)
            return estimator.l1_ratio * entry_C(spec, rows)


def _check_estimator(estimator):
    is_classifier = isinstance(estimator, BaseLinearClassifier)
    if not is_classifier or "l1_ratio" not in estimator.get_params(deep=False):
        raise ValueError(
            "estimator must be an instance of a linear classifier of skprob that has "
            f"the parameter l1_ratio, such as SoftmaxClassifier(l1_ratio=1); got "
            f"{estimator!r}."
        )


def _check_spec(spec):
    """Raise where there is no C at which coefficients are zero."""
    mapping = spec.loss.mapping
    if mapping.traits.is_scale_invariant:
        raise ValueError(
            f"estimator must have a penalty; the scores of {mapping!r} may have "
            "any scale, so that it has none."
        )
    if spec.noise is not None:
        raise ValueError(
            "estimator must have a mapping that is given; the noise of "
            f"{mapping!r} is to be learnt."
        )
    if mapping.traits.base_score != 0 and not spec.fit_intercept:
        raise ValueError(
            "fit_intercept must be True for a mapping without probabilities at zero "
            f"scores; got {spec.fit_intercept!r} with {mapping!r}."
        )
