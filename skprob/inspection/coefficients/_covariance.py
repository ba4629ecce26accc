"""The covariance of coefficients, from derivatives of the loss at the optimum.

The derivatives are those in the coefficients of standardised features, so that they do
not depend on the units of the features.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from ..._utils.fitted_params import fitted_params
from ..._utils.warnings import warn
from ...targets import class_weight_factors, smoothed_target
from ._fitted_penalty import FittedPenalty
from ._fitted_rows import FittedRows, encoded_target, fitted_rows
from ._groups import check_groups

# Largest Newton step, in standard errors, of a model that counts as an optimum.
_NEAR = 0.1


class Covariance(NamedTuple):
    """The covariance R Rᵀ of the coefficients of a model, row by row of `coef`.

    Attributes
    ----------
    rows : FittedRows
        The rows with a target, and the features that have coefficients.
    roots : dict
        A root R of shape (M * size, n_free) by the inverse Hessian and by the sandwich:
        "hessian" and "sandwich".
    default : {"hessian", "sandwich"}
        What ``covariance="auto"`` stands for.
    """

    rows: FittedRows
    roots: dict
    default: str

    def root(self, covariance):
        """The root that the argument `covariance` of a table chooses."""
        return self.roots[self.default if covariance == "auto" else covariance]


class LearntRows(NamedTuple):
    """Rows with all that the loss of a model depends on.

    Attributes
    ----------
    rows : FittedRows
    target : Target
    weight : ndarray of shape (n_samples,)
        Weights of the rows, times those of their classes.
    groups : ndarray of int of shape (n_samples,) or None
        Numbers of the groups of the rows; None if rows are independent.
    penalty : FittedPenalty
    params : dict
        Parameters of the model.
    """

    rows: FittedRows
    target: Any
    weight: np.ndarray
    groups: np.ndarray | None
    penalty: FittedPenalty
    params: dict

    def dense_target(self, batch):
        """The target of some rows, as the model learnt it."""
        amount, rows = self.params["label_smoothing"], self.rows
        target = smoothed_target(
            self.target.take(batch), amount, rows.polytope, rows.available_scores(batch)
        )
        return target.to_dense(np.float64)


def covariance_of(model, X, y, *, sample_weight, groups, available, offset, names):
    """The :class:`Covariance` of a model at its optimum for these rows.

    Arguments are those of :func:`coefficient_table`; it warns if the model is not the
    optimum for the rows.
    """
    learnt = _learnt_rows(model, X, y, sample_weight, groups, available, offset, names)
    rows = learnt.rows
    mean, scale = _units_of(learnt)
    hessian, gradient, meat = _sums_over_rows(learnt, mean, scale)
    _add_penalty(learnt, scale, hessian, gradient)

    # Only directions that change predictions have a covariance.
    M, size = rows.coef.shape
    directions = np.eye(M)
    if rows.is_shift_invariant:
        directions = linalg.null_space(np.ones((1, M)))
    basis = np.kron(directions, np.eye(size))
    hessian = basis.T @ hessian.reshape(M * size, M * size) @ basis
    root = _root_of_inverse(hessian)
    if learnt.groups is not None:
        meat = _small_sample_factor(learnt, len(hessian)) * meat
    _check_optimum(root.T @ (basis.T @ gradient.ravel()))

    # A sum of squares: rounding cannot make a variance negative.
    values, vectors = np.linalg.eigh(basis.T @ meat @ basis)
    meat_root = vectors * np.sqrt(np.maximum(values, 0))
    to_coef = np.kron(np.eye(M), _from_units(mean, scale, rows.has_intercept)) @ basis
    roots = {
        "hessian": to_coef @ root,
        "sandwich": to_coef @ (root @ (root.T @ meat_root)),
    }
    is_independent = learnt.groups is None
    by_hessian = is_independent and _is_likelihood(learnt)
    return Covariance(rows, roots, "hessian" if by_hessian else "sandwich")


def _learnt_rows(model, X, y, sample_weight, groups, available, offset, names):
    """The :class:`LearntRows` of a user's arguments.

    Rows without a label are left out, and features that have no coefficient because of
    the penalty.
    """
    rows = fitted_rows(model, X, sample_weight, available, offset, names)
    encoded = encoded_target(model, y, X)
    if groups is not None:
        groups = check_groups(groups, len(rows.weight))
        groups = groups if encoded.labelled is None else groups[encoded.labelled]
    rows = rows.with_rows(encoded.labelled)

    penalty, n_features = FittedPenalty.of(model), rows.X.shape[1]
    is_used = np.isfinite(penalty.ridge)
    if penalty.selects:
        is_used &= rows.coef[:, :n_features].any(axis=0)
    if not is_used.all():
        features = np.flatnonzero(is_used)
        rows, penalty = rows.with_features(features), penalty.of_features(features)

    params = fitted_params(model)
    factors = class_weight_factors(params["class_weight"], encoded, rows.weight)
    weight = rows.weight * factors
    _check_squares_of_weights(weight)
    return LearntRows(rows, encoded.target, weight, groups, penalty, params)


def _units_of(learnt):
    """Weighted means and deviations of the features.

    The mean is zero without an intercept, and the deviation of a constant feature one.
    """
    X, weight = learnt.rows.X, learnt.weight / learnt.weight.sum()
    mean = np.asarray(weight @ X).ravel()
    square = X.multiply(X).T @ weight if sparse.issparse(X) else weight @ X**2
    if learnt.rows.has_intercept:
        square = np.maximum(square - mean**2, 0)
    else:
        mean = np.zeros_like(mean)
    scale = np.sqrt(square)
    return mean, np.where(scale > 0, scale, 1)


def _from_units(mean, scale, has_intercept):
    """Matrix (size, size) from coefficients of standardised features to those of X."""
    matrix = np.diag(np.append(1 / scale, np.ones(int(has_intercept))))
    if has_intercept:
        matrix[-1, :-1] = -mean / scale
    return matrix


def _sums_over_rows(learnt, mean, scale):
    """Hessian and gradient of the sum of the losses, and the meat of the sandwich.

    Returns
    -------
    hessian : ndarray of shape (M, size, M, size)
    gradient : ndarray of shape (M, size)
    meat : ndarray of shape (M * size, M * size)
        Sum of the squares of the gradients of rows or, with groups, of groups.
    """
    M, size = learnt.rows.coef.shape
    hessian, meat = np.zeros((M, size, M, size)), np.zeros((M * size, M * size))
    total, of_groups = np.zeros((M, size)), None
    if learnt.groups is not None:
        of_groups = np.zeros((learnt.groups.max() + 1, M * size))
    for batch, design, gradient, curvature in _derivatives(learnt, mean, scale):
        weight = learnt.weight[batch]
        for k in range(M):
            for m in range(k, M):
                part = (design * (weight * curvature[:, k, m])[:, None]).T @ design
                hessian[k, :, m] += part
        weighted = gradient * weight[:, None]
        row_gradients = weighted[:, :, None] * design[:, None, :]
        total += row_gradients.sum(axis=0)
        row_gradients = row_gradients.reshape(len(row_gradients), -1)
        if of_groups is None:
            meat += row_gradients.T @ row_gradients
        else:
            np.add.at(of_groups, learnt.groups[batch], row_gradients)
    for k in range(M):
        for m in range(k):
            hessian[k, :, m] = hessian[m, :, k].T
    return hessian, total, meat if of_groups is None else of_groups.T @ of_groups


def _derivatives(learnt, mean, scale):
    """Batches of rows: their design, and derivatives in raw predictions."""
    rows, loss = learnt.rows, learnt.rows.model.loss_
    M, n_features = len(rows.coef), rows.X.shape[1]
    for batch in rows.blocks(rows.coef.size + M * rows.n_scores):
        design = rows.design(batch)
        design[:, :n_features] = (design[:, :n_features] - mean) / scale
        scores, target = rows.scores(batch), learnt.dense_target(batch)
        gradient = rows.to_raw(loss.value_and_gradient(scores, target)[1])
        curvature = np.empty((len(design), M, M))
        for k in range(M):
            along = rows.unit(len(design), k)
            product = loss.hessian_product(scores, target, along)
            curvature[:, k] = rows.to_raw(product)
        yield batch, design, gradient, curvature


def _add_penalty(learnt, scale, hessian, gradient):
    """Add the derivatives of the penalty in standardised features, in place."""
    n_features = len(scale)
    coef, features = learnt.rows.coef[:, :n_features], np.arange(n_features)
    curvature = learnt.penalty.curvature(coef) / scale[:, None, None] ** 2
    hessian[:, features, :, features] += curvature
    slope = learnt.penalty.slope(coef, gradient[:, :n_features] * scale)
    gradient[:, :n_features] += slope / scale


def _root_of_inverse(hessian):
    """A root R of the inverse R Rᵀ of a Hessian."""
    # Scale the Hessian to a unit diagonal: the result does not depend on units.
    unit = np.sqrt(np.diag(hessian))
    unit = np.where(unit > 0, unit, 1)
    values, vectors = np.linalg.eigh(hessian / np.outer(unit, unit))
    if not values[0] > 1e3 * len(hessian) * np.finfo(float).eps:
        raise ValueError(
            "Some coefficients are not identified for these rows: features are "
            "constant or collinear, or classes separable. Omit features, or fit "
            "with a penalty (C)."
        )
    return vectors / unit[:, None] / np.sqrt(values)


def _check_optimum(step):
    """Warn if Newton's step, in standard errors, shows that this is no optimum."""
    distance = np.sqrt(step @ step / len(step))
    if distance > _NEAR:
        warn(
            "The model is not at the optimum for these rows, which is "
            f"{distance:.2g} standard errors away (root mean square): give the "
            "training rows, their weights included, or fit with a smaller tol. A "
            "step of a pipeline that transforms the rows of its fit in another way "
            "than new rows, such as TargetEncoder, has this effect, too.",
        )


def _small_sample_factor(learnt, n_parameters):
    """Factor of the variance of few groups and rows, as in statsmodels."""
    is_used = learnt.weight > 0
    n_rows = np.count_nonzero(is_used)
    n_groups = len(np.unique(learnt.groups[is_used]))
    if n_groups < 2 or n_rows <= n_parameters:
        raise ValueError(
            "groups need two groups and more rows than coefficients, among rows "
            f"with a label and a positive weight; got {n_groups} group(s) and "
            f"{n_rows} rows for {n_parameters} coefficients."
        )
    return n_groups / (n_groups - 1) * (n_rows - 1) / (n_rows - n_parameters)


def _is_likelihood(learnt):
    """Whether the loss is minus the log-likelihood of the labels."""
    rows, params = learnt.rows, learnt.params
    model, is_cube = rows.model, rows.polytope == "cube"
    # One-vs-rest has one likelihood for each class, but none for the labels.
    of_labels = (model.target_type_ == "class") != is_cube
    is_changed = params["label_smoothing"] or params["class_weight"] is not None
    if is_changed or not of_labels:
        return False
    batch = slice(0, 10)
    scores, target = rows.scores(batch), learnt.dense_target(batch)
    p = model.mapping_(scores)
    # A label that is absent from a set has the probability 1 - p.
    is_true = target > 0
    likelihood = np.where(is_true, p, 1 - p)
    log_likelihood = np.log(likelihood, out=np.zeros_like(p), where=is_true | is_cube)
    value = model.loss_.value(scores, target)
    return np.allclose(value, -log_likelihood.sum(axis=1))


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
