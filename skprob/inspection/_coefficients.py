"""Coefficients of a fitted model with their standard errors."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import linalg, sparse, stats
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, gen_batches
from sklearn.utils.validation import check_is_fitted

from .._utils.columns import in_order
from .._utils.last_step import last_step
from .._utils.names import did_you_mean
from .._utils.pair import pair_adjoint, pair_scores
from .._utils.typing import ArrayLike, MatrixLike
from .._utils.validation import check_sample_weight, naming
from .._utils.warnings import warn
from ..targets import (
    check_available,
    check_offset,
    check_target,
    class_weight_factors,
    encode_target,
    smoothed_target,
)
from ._penalty import FittedPenalty

# Most numbers of a block of rows (8 MiB).
_BLOCK_SIZE = 1 << 20
# Largest Newton step, in standard errors, of a model that counts as an optimum.
_NEAR = 0.1
_COVARIANCES = ("auto", "hessian", "sandwich")


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
        correct.
    robust_error : float
        The standard error by the sandwich estimator, which is also valid if the model
        is not correct.
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

    Parameters
    ----------
    model : estimator
        A fitted linear classifier with ``similarity="dot"`` and a mapping without exact
        zeros; also a pipeline or a search that ends with one. It should be fitted
        without a penalty, ``C=np.inf``: a penalty biases the coefficients towards zero,
        which the standard errors ignore. If the penalty made coefficients zero
        (``l1_ratio``), standard errors after this selection are not valid; features
        without a coefficient are not in the table.
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
        "hessian" if the loss is minus the log-likelihood of the labels, else
        "sandwich".
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
        If the mapping has exact zeros, or the scores are cosines; if the Hessian is
        singular up to rounding, because features are collinear; if an argument is not
        allowed. If classes are separable there are no finite estimates: the fit gives a
        warning, and the standard errors are huge, or this error is raised.

    Warns
    -----
    UserWarning
        If the model has a penalty, with other words if this penalty selected
        coefficients; or if the model is not the optimum for these rows.

    References
    ----------
    White, "Maximum likelihood estimation of misspecified models", Econometrica 1982.

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
    """
    if covariance not in _COVARIANCES:
        raise ValueError(
            f"covariance must be one of {_COVARIANCES}; got {covariance!r}."
            f"{did_you_mean(covariance, _COVARIANCES)}"
        )
    if not (isinstance(level, Real) and 0 < level < 1):
        raise ValueError(f"level must be between 0 and 1; got {level!r}.")
    X, model = _features_of(model, X), last_step(model)
    _check_model(model)
    fit = _Fit(model, X, y, sample_weight, available, offset)
    classes, contrast = _contrast(fit, reference)
    inverse, meat = fit.covariances()
    fit.check_optimum(inverse)
    # One row of `to_raw` for each feature, in each class of the contrast.
    to_raw = np.kron(contrast, fit.to_raw)
    by_hessian = np.einsum("ij,jk,ik->i", to_raw, inverse, to_raw)
    # A sum of squares: rounding cannot make it negative.
    values, vectors = np.linalg.eigh(meat)
    root = vectors * np.sqrt(np.maximum(values, 0))
    by_sandwich = np.sum((to_raw @ inverse @ root) ** 2, axis=1)
    standard_error, robust_error = np.sqrt(by_hessian), np.sqrt(by_sandwich)
    if covariance == "auto":
        covariance = "hessian" if fit.is_likelihood() else "sandwich"
    error = standard_error if covariance == "hessian" else robust_error
    estimate = (contrast @ fit.basis.T @ fit.coef).ravel()
    with np.errstate(divide="ignore"):
        z = estimate / error
    half = stats.norm.ppf((1 + level) / 2) * error
    numbers = np.column_stack(
        [
            *(estimate, standard_error, robust_error, z, 2 * stats.norm.sf(np.abs(z))),
            *(estimate - half, estimate + half),
        ]
    ).tolist()
    names = [(k, feature) for k in classes for feature in fit.feature_names]
    return [
        CoefficientSummary(*pair, *row)
        for pair, row in zip(names, numbers, strict=True)
    ]


def _features_of(model, X):
    """Features that the classifier at the end of pipelines and searches gets."""
    while hasattr(model, "best_estimator_"):
        model = model.best_estimator_
    if isinstance(model, Pipeline):
        X = model[:-1].transform(X) if len(model) > 1 else X
        return _features_of(model[-1], X)
    return X


def _check_model(model):
    check_is_fitted(model)
    if not all(hasattr(model, name) for name in ("coef_", "loss_", "mapping_")):
        raise ValueError(
            f"model must be a linear classifier of skprob; got {type(model).__name__}."
        )
    if model.similarity != "dot":
        raise ValueError(
            "model must have the scores W x + b (similarity='dot'); there are no "
            f"standard errors for similarity={model.similarity!r}."
        )
    if model.mapping_.traits.has_zeros:
        raise ValueError(
            f"model must have positive probabilities, but those of {model.mapping_!r} "
            "can be exactly zero: its loss has no second derivative where the support "
            "changes, and rows that are fitted exactly have no gradient. Use the "
            "bootstrap."
        )
    if FittedPenalty.of(model).selects:
        warn(
            f"The penalty (C={model.C_:.3g}, l1_ratio={model.l1_ratio:.3g}) selected "
            "the coefficients that are not zero: standard errors after a selection are "
            "not valid. Fit the selected features with C=np.inf to other rows.",
        )
    elif np.isfinite(model.C_):
        warn(
            f"The penalty (C={model.C_:.3g}) biases the coefficients towards zero, "
            "which the standard errors leave out. Fit with C=np.inf.",
        )


class _Fit:
    """A fitted model near its optimum, in standardised features.

    Attributes
    ----------
    coef : ndarray of shape (M, size)
        Coefficients, and the intercept if there is one.
    feature_names : list of str
    basis : ndarray of shape (M, n_free)
        The directions, in the rows of `coef`, that change predictions.
    to_raw : ndarray of shape (size, size)
        From a row of coefficients of standardised features to one of `coef`.
    """

    def __init__(self, model, X, y, sample_weight, available, offset):
        self._model = model
        with naming("X"):
            X = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
        if X.shape[1] != model.n_features_in_:
            raise ValueError(
                f"X must have {model.n_features_in_} features, as in fit; got "
                f"{X.shape[1]}."
            )
        polytope = self._polytope = model.mapping_.traits.polytope
        are_labels = model.target_type_ == "class"
        y, offset, available = (
            in_order(name, a, model.classes_, are_labels=are_labels)
            for name, a in (("y", y), ("offset", offset), ("available", available))
        )
        y = check_target(y, "y", len_of=X)
        weight = check_sample_weight(sample_weight, X)
        encoded = encode_target(
            y,
            model.target_type_,
            classes=model.classes_,
            polytope=polytope,
            none_class=model.has_none_class_,
        )
        self.n_scores = encoded.n_scores
        #: Names of the classes; None is the class of rows without a label.
        self.classes = encoded.classes.tolist() + [None] * encoded.has_none
        self._add = self._available = None
        n_classes = len(encoded.classes)
        if offset is not None:
            is_pair = self.n_scores == 2 and polytope == "simplex"
            self._add = check_offset(offset, len(weight), n_classes, is_pair, float)
        if available is not None:
            self._available = check_available(available, (len(weight), n_classes))
        if encoded.labelled is not None:
            rows = encoded.labelled
            X, weight = X[rows], weight[rows]
            self._add, self._available = (
                None if a is None else a[rows] for a in (self._add, self._available)
            )
        self._weight = weight * class_weight_factors(
            model.class_weight, encoded, weight
        )
        self._X, self._target = X, encoded.target
        self.feature_names = list(
            getattr(model, "feature_names_in_", [f"x{j}" for j in range(X.shape[1])])
        )
        coef, has_intercept = model.coef_, int(model.fit_intercept)
        coef = coef.toarray() if sparse.issparse(coef) else coef
        self.coef = coef.astype(float)
        self._penalty = FittedPenalty.of(model)
        is_used = np.isfinite(self._penalty.ridge)
        if self._penalty.selects:
            is_used &= self.coef.any(axis=0)
        if not is_used.all():
            features = np.flatnonzero(is_used)
            self._X, self.coef = self._X[:, features], self.coef[:, features]
            self.feature_names = [self.feature_names[j] for j in features]
            self._penalty = self._penalty.of_features(features)
        if has_intercept:
            self.feature_names.append("intercept")
            self.coef = np.column_stack([self.coef, model.intercept_])
        self._standardize(has_intercept)
        M = len(self.coef)
        self.is_relative = M > 1 and model.mapping_.traits.is_shift_invariant
        self.basis = (
            linalg.null_space(np.ones((1, M))) if self.is_relative else np.eye(M)
        )

    def _standardize(self, has_intercept):
        X, weight = self._X, self._weight / self._weight.sum()
        mean = np.asarray(weight @ X).ravel()
        square = X.multiply(X).T @ weight if sparse.issparse(X) else weight @ X**2
        if has_intercept:
            square = np.maximum(square - mean**2, 0)
        else:
            mean = np.zeros_like(mean)
        scale = np.sqrt(square)
        self._mean, self._scale = mean, np.where(scale > 0, scale, 1)
        self.to_raw = np.diag(np.append(1 / self._scale, np.ones(has_intercept)))
        if has_intercept:
            self.to_raw[-1, :-1] = -mean / self._scale

    def covariances(self):
        """The inverse Hessian, and the sum of squares of the rows' gradients."""
        M, size = self.coef.shape
        H, meat = np.zeros((M, size, M, size)), np.zeros((M * size, M * size))
        total = np.zeros((M, size))
        for design, weight, gradient, curvature in self._rows():
            for k in range(M):
                for m in range(k, M):
                    part = (design * (weight * curvature[:, k, m])[:, None]).T @ design
                    H[k, :, m] += part
            each = (gradient * weight[:, None])[:, :, None] * design[:, None, :]
            total += each.sum(axis=0)
            each = each.reshape(len(each), -1)
            meat += each.T @ each
        for k in range(M):
            for m in range(k):
                H[k, :, m] = H[m, :, k].T
        # Add the derivatives of the penalty in standardised features.
        n_features = len(self._scale)
        coef, features = self.coef[:, :n_features], np.arange(n_features)
        curvature = self._penalty.curvature(coef) / self._scale[:, None, None] ** 2
        H[:, features, :, features] += curvature
        gradient = total[:, :n_features] * self._scale
        slope = self._penalty.slope(coef, gradient)
        total[:, :n_features] += slope / self._scale
        project = np.kron(self.basis, np.eye(size))
        H = project.T @ H.reshape(M * size, -1) @ project
        self._gradient = project.T @ total.ravel()
        return self._inverse(H), project.T @ meat @ project

    def _inverse(self, H):
        # Scale the Hessian to a unit diagonal: the result does not depend on units.
        unit = np.sqrt(np.diag(H))
        unit = np.where(unit > 0, unit, 1)
        values, vectors = np.linalg.eigh(H / np.outer(unit, unit))
        if not values[0] > 1e3 * len(H) * np.finfo(float).eps:
            raise ValueError(
                "Some coefficients are not identified for these rows: features are "
                "constant or collinear, or classes separable. Omit features, or fit "
                "with a penalty (C)."
            )
        vectors /= unit[:, None]
        return (vectors / values) @ vectors.T

    def check_optimum(self, inverse):
        """Warn if the model is not the optimum for these rows."""
        step = inverse @ self._gradient
        far = np.sqrt(max(step @ self._gradient, 0) / len(step))
        if far > _NEAR:
            warn(
                "The model is not at the optimum for these rows, which is "
                f"{far:.2g} standard errors away (root mean square): give the training "
                "rows, their weights included, or fit with a smaller tol.",
            )

    def is_likelihood(self):
        """Whether the loss is minus the log-likelihood of the labels."""
        model = self._model
        is_class, is_cube = model.target_type_ == "class", self._polytope == "cube"
        # One-vs-rest has one likelihood for each class, but none for the labels.
        of_labels = is_class != is_cube
        if not of_labels or model.label_smoothing or model.class_weight is not None:
            return False
        rows = slice(0, 10)
        scores, target = self._scores(rows), self._dense_target(rows)
        p = model.mapping_(scores)
        if is_cube:
            p = np.where(target > 0, p, 1 - p)
            target = np.ones_like(p)
        expected = -np.sum(np.log(p, out=np.zeros_like(p), where=target > 0), axis=1)
        return np.allclose(
            model.loss_.value(scores, self._dense_target(rows)), expected
        )

    def _rows(self):
        """Blocks of rows: design, weight, and derivatives in raw predictions."""
        M, size = self.coef.shape
        loss, is_pair = self._model.loss_, M < self.n_scores
        for rows in gen_batches(len(self._weight), max(_BLOCK_SIZE // (M * size), 1)):
            X = self._X[rows]
            X = X.toarray() if sparse.issparse(X) else X
            design = np.ones((len(X), size))
            design[:, : X.shape[1]] = (X - self._mean) / self._scale
            scores, target = self._scores(rows), self._dense_target(rows)
            gradient = loss.value_and_gradient(scores, target)[1]
            gradient = pair_adjoint(gradient) if is_pair else gradient
            curvature = np.empty((len(X), M, M))
            for k in range(M):
                along = np.zeros((len(X), M))
                along[:, k] = 1
                along = pair_scores(along) if is_pair else along
                product = loss.hessian_product(scores, target, along)
                curvature[:, k] = pair_adjoint(product) if is_pair else product
            yield design, self._weight[rows], gradient, curvature

    def _scores(self, rows):
        coef = self.coef[:, : self._X.shape[1]]
        raw = self._X[rows] @ coef.T + self._model.intercept_
        scores = pair_scores(raw) if raw.shape[1] < self.n_scores else raw
        if self._add is not None:
            scores[:, : self._add.shape[1]] += self._add[rows]
        if self._available is not None:
            part = scores[:, : self._available.shape[1]]
            part[~self._available[rows]] = -np.inf
        return scores

    def _dense_target(self, rows):
        target = self._target.block(rows)
        amount, polytope = self._model.label_smoothing, self._polytope
        available = None
        if self._available is not None:
            available = self._available[rows]
            n_more = self.n_scores - available.shape[1]
            padding = [(0, 0), (0, n_more)]
            available = np.pad(available, padding, constant_values=True)
        target = smoothed_target(target, amount, polytope, available)
        return target.to_dense(np.float64)


def _contrast(fit, reference):
    """Classes in the table, and their rows as combinations of the free directions."""
    classes = fit.classes
    M = len(fit.coef)
    if M == 1:
        return classes[1:], np.eye(1)
    if not fit.is_relative:
        return classes, np.eye(M)
    if reference in classes:
        at = classes.index(reference)
    elif isinstance(reference, str) and reference == "first":
        at = 0
    elif isinstance(reference, str) and reference == "mean":
        return classes, fit.basis
    else:
        names = ["first", "mean", *(name for name in classes if isinstance(name, str))]
        raise ValueError(
            f"reference must be 'first', 'mean' or one of the classes {classes[:10]}; "
            f"got {reference!r}.{did_you_mean(reference, names)}"
        )
    rows = np.delete(np.arange(M), at)
    return [classes[k] for k in rows], fit.basis[rows] - fit.basis[at]
