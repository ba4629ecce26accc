"""The covariance of coefficients, from derivatives of the loss at the optimum."""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from ..._utils.fitted_params import fitted_params
from ..._utils.warnings import warn
from ...targets import class_weight_factors, smoothed_target
from ._fitted_penalty import FittedPenalty
from ._fitted_rows import FittedRows, encoded_target
from ._groups import check_groups

# Largest Newton step, in standard errors, of a model that counts as an optimum.
_NEAR = 0.1


class FittedLoss(FittedRows):
    """The loss of a fitted model near its optimum, as a function of the coefficients.

    Derivatives are those in coefficients of standardised features. Features without a
    coefficient because of the penalty are left out.

    Parameters
    ----------
    model : estimator
    X, y, sample_weight, groups, available, offset : array-like
        As in :func:`coefficient_table`.
    """

    def __init__(self, model, X, y, *, sample_weight, groups, available, offset, names):
        super().__init__(model, X, sample_weight, available, offset, names)
        self._params = fitted_params(model)
        encoded = encoded_target(model, y, X)
        self._groups = None
        if groups is not None:
            self._groups = check_groups(groups, len(self.weight))
        if encoded.labelled is not None:
            self.keep(encoded.labelled)
            if groups is not None:
                self._groups = self._groups[encoded.labelled]
        self._target = encoded.target
        self._use_features()
        self._row_weight = self.weight * class_weight_factors(
            self._params["class_weight"], encoded, self.weight
        )
        _check_squares_of_weights(self._row_weight)
        self._standardize()
        M = len(self.coef)
        # Directions in the rows of `coef` that change predictions.
        basis = np.eye(M)
        if self.is_shift_invariant:
            basis = linalg.null_space(np.ones((1, M)))
        self._basis = np.kron(basis, np.eye(self.coef.shape[1]))
        self._differentiate()

    def _use_features(self):
        """Leave out features that have no coefficient because of the penalty."""
        self._penalty = FittedPenalty.of(self.model)
        n_features = self.X.shape[1]
        is_used = np.isfinite(self._penalty.ridge)
        if self._penalty.selects:
            is_used &= self.coef[:, :n_features].any(axis=0)
        if is_used.all():
            return
        features = np.flatnonzero(is_used)
        columns = [*features, *range(n_features, len(self.feature_names))]
        self.X, self.coef = self.X[:, features], self.coef[:, columns]
        self.feature_names = [self.feature_names[j] for j in columns]
        self._penalty = self._penalty.of_features(features)

    def _standardize(self):
        X, weight = self.X, self._row_weight / self._row_weight.sum()
        mean = np.asarray(weight @ X).ravel()
        square = X.multiply(X).T @ weight if sparse.issparse(X) else weight @ X**2
        if self.has_intercept:
            square = np.maximum(square - mean**2, 0)
        else:
            mean = np.zeros_like(mean)
        scale = np.sqrt(square)
        self._mean, self._scale = mean, np.where(scale > 0, scale, 1)
        # From coefficients of standardised features to those of X.
        to_raw = np.diag(np.append(1 / self._scale, np.ones(int(self.has_intercept))))
        if self.has_intercept:
            to_raw[-1, :-1] = -mean / self._scale
        self._to_raw = np.kron(np.eye(len(self.coef)), to_raw)

    def root(self, covariance):
        """A root R of the covariance R Rᵀ of the coefficients, class by class.

        Parameters
        ----------
        covariance : {"hessian", "sandwich"}

        Returns
        -------
        root : ndarray of shape (M * size, n_free)
        """
        root = self._root_of_inverse
        if covariance == "sandwich":
            # A sum of squares: rounding cannot make a variance negative.
            values, vectors = np.linalg.eigh(self._meat)
            meat_root = vectors * np.sqrt(np.maximum(values, 0))
            root = root @ (root.T @ meat_root)
        return self._to_raw @ (self._basis @ root)

    def _differentiate(self):
        """Compute the root of the inverse Hessian, the meat and the gradient."""
        H, gradient, meat = self._sums_over_rows()
        self._add_penalty(H, gradient)
        project = self._basis
        self._gradient = project.T @ gradient.ravel()
        H = project.T @ H.reshape(gradient.size, -1) @ project
        self._root_of_inverse = _root_of_inverse(H)
        if self._groups is not None:
            meat = self._small_sample_factor(len(H)) * meat
        self._meat = project.T @ meat @ project

    def _sums_over_rows(self):
        """Hessian and gradient of the sum of the losses, and the meat.

        Returns
        -------
        H : ndarray of shape (M, size, M, size)
        gradient : ndarray of shape (M, size)
        meat : ndarray of shape (M * size, M * size)
            Sum of the squares of the gradients of rows or, with groups, of groups.
        """
        M, size = self.coef.shape
        H, meat = np.zeros((M, size, M, size)), np.zeros((M * size, M * size))
        total = np.zeros((M, size))
        of_groups = None
        if self._groups is not None:
            of_groups = np.zeros((self._groups.max() + 1, M * size))
        for rows, design, weight, gradient, curvature in self._derivatives():
            for k in range(M):
                for m in range(k, M):
                    part = (design * (weight * curvature[:, k, m])[:, None]).T @ design
                    H[k, :, m] += part
            weighted = gradient * weight[:, None]
            row_gradients = weighted[:, :, None] * design[:, None, :]
            total += row_gradients.sum(axis=0)
            row_gradients = row_gradients.reshape(len(row_gradients), -1)
            if of_groups is None:
                meat += row_gradients.T @ row_gradients
            else:
                np.add.at(of_groups, self._groups[rows], row_gradients)
        for k in range(M):
            for m in range(k):
                H[k, :, m] = H[m, :, k].T
        return H, total, meat if of_groups is None else of_groups.T @ of_groups

    def _add_penalty(self, H, gradient):
        """Add the derivatives of the penalty in standardised features, in place."""
        n_features = len(self._scale)
        coef, features = self.coef[:, :n_features], np.arange(n_features)
        curvature = self._penalty.curvature(coef) / self._scale[:, None, None] ** 2
        H[:, features, :, features] += curvature
        slope = self._penalty.slope(coef, gradient[:, :n_features] * self._scale)
        gradient[:, :n_features] += slope / self._scale

    def _small_sample_factor(self, n_parameters):
        """Factor of the variance of few groups and rows, as in statsmodels."""
        is_used = self._row_weight > 0
        n_rows = np.count_nonzero(is_used)
        n_groups = len(np.unique(self._groups[is_used]))
        if n_groups < 2 or n_rows <= n_parameters:
            raise ValueError(
                "groups need two groups and more rows than coefficients, among rows "
                f"with a label and a positive weight; got {n_groups} group(s) and "
                f"{n_rows} rows for {n_parameters} coefficients."
            )
        return n_groups / (n_groups - 1) * (n_rows - 1) / (n_rows - n_parameters)

    def check_optimum(self):
        """Warn if the model is not the optimum for these rows."""
        step = self._root_of_inverse.T @ self._gradient
        distance = np.sqrt(step @ step / len(step))
        if distance > _NEAR:
            warn(
                "The model is not at the optimum for these rows, which is "
                f"{distance:.2g} standard errors away (root mean square): give the "
                "training rows, their weights included, or fit with a smaller tol. A "
                "step of a pipeline that transforms the rows of its fit in another way "
                "than new rows, such as TargetEncoder, has this effect, too.",
            )

    def chosen(self, covariance):
        """The covariance that the argument of that name chooses.

        Returns
        -------
        covariance : {"hessian", "sandwich"}
        """
        if covariance != "auto":
            return covariance
        is_independent = self._groups is None
        return "hessian" if is_independent and self.is_likelihood() else "sandwich"

    def is_likelihood(self):
        """Whether the loss is minus the log-likelihood of the labels."""
        model, params = self.model, self._params
        is_cube = self.polytope == "cube"
        # One-vs-rest has one likelihood for each class, but none for the labels.
        of_labels = self.are_labels != is_cube
        is_changed = params["label_smoothing"] or params["class_weight"] is not None
        if is_changed or not of_labels:
            return False
        rows = slice(0, 10)
        scores, target = self.scores(rows), self._dense_target(rows)
        p = model.mapping_(scores)
        # A label that is absent from a set has the probability 1 - p.
        is_true = target > 0
        likelihood = np.where(is_true, p, 1 - p)
        log_likelihood = np.log(
            likelihood, out=np.zeros_like(p), where=is_true | is_cube
        )
        value = model.loss_.value(scores, target)
        return np.allclose(value, -log_likelihood.sum(axis=1))

    def _derivatives(self):
        """Blocks of rows: design, weight, and derivatives in raw predictions."""
        M, loss = len(self.coef), self.model.loss_
        for rows in self.blocks(self.coef.size + M * self.n_scores):
            design = self.design(rows)
            n_features = len(self._scale)
            design[:, :n_features] = (design[:, :n_features] - self._mean) / self._scale
            scores, target = self.scores(rows), self._dense_target(rows)
            gradient = self.to_raw(loss.value_and_gradient(scores, target)[1])
            curvature = np.empty((len(design), M, M))
            for k in range(M):
                along = self.unit(len(design), k)
                product = loss.hessian_product(scores, target, along)
                curvature[:, k] = self.to_raw(product)
            yield rows, design, self._row_weight[rows], gradient, curvature

    def _dense_target(self, rows):
        target, amount = self._target.take(rows), self._params["label_smoothing"]
        target = smoothed_target(target, amount, self.polytope, self.available(rows))
        return target.to_dense(np.float64)


def _root_of_inverse(H):
    """A root R of the inverse R Rᵀ of a Hessian."""
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
    return vectors / unit[:, None] / np.sqrt(values)


def _check_squares_of_weights(weight):
    """Raise if the squares of the weights, which are summed in the meat, overflow."""
    with np.errstate(over="ignore"):
        total = float(np.square(weight).sum())
    if not np.finfo(np.float64).tiny < total < np.inf:
        raise ValueError(
            "sample_weight, times the weights of the classes, must be numbers whose "
            "squares neither overflow nor vanish; got weights up to "
            f"{weight.max():.3g}. Fit the model with others."
        )
