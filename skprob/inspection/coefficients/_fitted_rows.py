"""The coefficients of a fitted linear model, and the scores of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_array, gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from ..._utils.arrays import dense
from ..._utils.checks import (
    check_sample_weight,
    check_target,
    in_order,
    naming,
    refuse_dask,
    refuse_unreadable_numbers,
)
from ..._utils.fitted_params import fitted_params
from ..._utils.labels import plain_names
from ..._utils.scores import pair_adjoint, pair_scores
from ..._utils.warnings import warn
from ...targets import check_available, check_offset, encode_target
from ._fitted_penalty import FittedPenalty, l1_ratio_of

# Most numbers of a block of rows (8 MiB).
_BLOCK_SIZE = 1 << 20


def check_linear(model):
    """Raise unless the model is a fitted linear classifier with scores W x + b."""
    check_is_fitted(model)
    if not all(hasattr(model, name) for name in ("coef_", "loss_", "mapping_")):
        raise ValueError(
            f"model must be a linear classifier of skprob; got {type(model).__name__}."
        )
    if model.similarity_ != "dot":
        raise ValueError(
            "model must have the scores W x + b (similarity='dot'); there are no "
            f"standard errors for similarity={model.similarity_!r}."
        )


def check_no_zeros(model):
    """Raise if the covariance is not defined, because probabilities can be zero."""
    if model.mapping_.traits.has_zeros:
        raise ValueError(
            f"model must have positive probabilities, but those of {model.mapping_!r} "
            "can be exactly zero: its loss has no second derivative where the support "
            "changes, and rows that are fitted exactly have no gradient. Use "
            "method='bootstrap'."
        )


def warn_of_penalty(model):
    """Warn if the coefficients are biased or selected by a penalty."""
    if FittedPenalty.of(model).selects:
        l1_ratio = l1_ratio_of(model)
        warn(
            f"The penalty (C={model.C_:.3g}, l1_ratio={l1_ratio:.3g}) selected the "
            "coefficients that are not zero: standard errors after a selection are not "
            "valid. Fit the selected features with C=np.inf to other rows.",
        )
    elif np.isfinite(model.C_):
        warn(
            f"The penalty (C={model.C_:.3g}) biases the coefficients towards zero, "
            "which the standard errors do not include. Fit with C=np.inf.",
        )


def coefficients_of(model):
    """Coefficients of a model, and its intercept if there is one, as one array."""
    coef = dense(model.coef_).astype(float)
    return np.column_stack([coef, model.intercept_]) if has_intercept(model) else coef


def has_intercept(model):
    """Whether intercepts were fitted."""
    return bool(fitted_params(model)["fit_intercept"])


def encoded_target(model, y, X):
    """The target of rows of X, as it was learnt."""
    are_labels = model.target_type_ == "class"
    y = in_order("y", y, model.classes_, are_labels=are_labels)
    return encode_target(
        check_target(y, "y", len_of=X),
        model.target_type_,
        classes=model.classes_,
        polytope=model.mapping_.traits.polytope,
        none_class=model.has_none_class_,
    )


def fitted_rows(model, X, sample_weight=None, available=None, offset=None, names=None):
    """The :class:`FittedRows` of a user's arguments, after checks.

    Parameters
    ----------
    model : estimator
        A fitted linear classifier.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    sample_weight, available, offset : array-like, default=None
        As in :func:`coefficient_table`.
    names : array-like of shape (n_features,), default=None
        Names of the features; None stands for x0, x1 and so on.
    """
    given = X
    refuse_dask("X", X)
    with naming("X", X):
        refuse_unreadable_numbers(X)
        X = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
    n_samples, n_features = X.shape
    if n_features != model.n_features_in_:
        raise ValueError(
            f"X must have {model.n_features_in_} features, as in fit; got {n_features}."
        )
    if hasattr(given, "columns"):
        validate_data(model, given, reset=False, skip_check_array=True)
    if names is None:
        names = [f"x{j}" for j in range(n_features)]
    are_labels, n_classes = model.target_type_ == "class", len(model.classes_)
    offset, available = (
        in_order(name, array, model.classes_, are_labels=are_labels)
        for name, array in (("offset", offset), ("available", available))
    )
    rows = FittedRows(
        model=model,
        X=X,
        weight=check_sample_weight(sample_weight, X),
        coef=coefficients_of(model),
        feature_names=[*names, *["intercept"] * has_intercept(model)],
    )
    if offset is not None:
        is_pair = rows.n_scores == 2 and rows.polytope == "simplex"
        offset = check_offset(offset, n_samples, n_classes, is_pair, float)
    if available is not None:
        available = check_available(available, (n_samples, n_classes))
    return replace(rows, offset=offset, available=available)


@dataclass(frozen=True)
class FittedRows:
    """A fitted model, and rows with their scores.

    Attributes
    ----------
    model : estimator
    X : ndarray or CSR array of shape (n_samples, n_features)
    weight : ndarray of shape (n_samples,)
        Weights of the rows, without those of the classes.
    coef : ndarray of shape (M, size)
        Coefficients, and the intercept if there is one.
    feature_names : list of length size
        Names of the features, and "intercept".
    offset, available : ndarray of shape (n_samples, n_classes) or None
    """

    model: Any
    X: Any
    weight: np.ndarray
    coef: np.ndarray
    feature_names: list
    offset: np.ndarray | None = None
    available: np.ndarray | None = None

    def with_rows(self, some):
        """The rows that a mask includes, or all if it is None."""
        if some is None:
            return self
        names = "X", "weight", "offset", "available"
        arrays = {name: getattr(self, name) for name in names}
        arrays = {name: a if a is None else a[some] for name, a in arrays.items()}
        return replace(self, **arrays)

    def with_features(self, features):
        """The rows with these features alone, given by their numbers."""
        n_features = self.X.shape[1]
        columns = [*features, *range(n_features, len(self.feature_names))]
        names = [self.feature_names[j] for j in columns]
        X, coef = self.X[:, features], self.coef[:, columns]
        return replace(self, X=X, coef=coef, feature_names=names)

    @property
    def has_intercept(self):
        """Whether `coef` has a column of intercepts."""
        return self.coef.shape[1] > self.X.shape[1]

    @property
    def polytope(self):
        """The polytope of the model's probabilities."""
        return self.model.mapping_.traits.polytope

    @property
    def classes(self):
        """Names of the classes; None is the class of rows without a label."""
        return plain_names(self.model.classes_) + [None] * self.model.has_none_class_

    @property
    def n_scores(self):
        """Number of scores of a row."""
        return len(self.model.classes_) + self.model.has_none_class_

    @property
    def is_pair(self):
        """Whether two classes have one raw prediction, the difference of scores."""
        return len(self.coef) < self.n_scores

    def to_scores(self, raw):
        """Scores of the classes, from raw predictions."""
        return pair_scores(raw) if self.is_pair else raw

    def unit(self, n_rows, m):
        """Change of the scores of rows as raw prediction m increases."""
        raw = np.zeros((n_rows, len(self.coef)))
        raw[:, m] = 1
        return self.to_scores(raw)

    def to_raw(self, array):
        """A derivative in the scores as one in the raw predictions."""
        return pair_adjoint(array) if self.is_pair else array

    @property
    def is_shift_invariant(self):
        """Whether only differences of coefficients between classes are identified."""
        traits = self.model.mapping_.traits
        return len(self.coef) > 1 and traits.is_shift_invariant

    def blocks(self, n_numbers):
        """Slices of rows that fit into memory with this many numbers for each row."""
        return gen_batches(len(self.weight), max(_BLOCK_SIZE // n_numbers, 1))

    def design(self, rows):
        """Copy of the features of some rows, dense, and ones for the intercept."""
        X = dense(self.X[rows])
        return np.column_stack([X, np.ones((len(X), int(self.has_intercept)))])

    def weighted_sums(self, rows, factors):
        """Sums of the features of some rows, and of one, times factors of the rows.

        Parameters
        ----------
        rows : slice
        factors : ndarray of shape (n_rows, M)

        Returns
        -------
        sums : ndarray of shape (M, size)
        """
        sums = factors.T @ self.X[rows]
        if not self.has_intercept:
            return sums
        return np.column_stack([sums, factors.sum(axis=0)])

    def scores(self, rows):
        """Scores of the classes in some rows."""
        coef = self.coef[:, : self.X.shape[1]]
        scores = self.to_scores(self.X[rows] @ coef.T + self.model.intercept_)
        if self.offset is not None:
            scores[:, : self.offset.shape[1]] += self.offset[rows]
        if self.available is not None:
            part = scores[:, : self.available.shape[1]]
            part[~self.available[rows]] = -np.inf
        return scores

    def available_scores(self, rows):
        """Which scores some rows have, of shape (n_rows, n_scores); None for all."""
        if self.available is None:
            return None
        available = self.available[rows]
        padding = [(0, 0), (0, self.n_scores - available.shape[1])]
        return np.pad(available, padding, constant_values=True)
