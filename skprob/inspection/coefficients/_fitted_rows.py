"""The coefficients of a fitted linear model, and the scores of rows."""

from __future__ import annotations

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


class FittedRows:
    """A fitted model, and rows with their scores.

    Parameters
    ----------
    model : estimator
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    sample_weight, available, offset : array-like, default=None
        Arguments of a user, not checked.
    names : array-like of shape (n_features,), default=None
        Names of the features; None stands for x0, x1 and so on.

    Attributes
    ----------
    model : estimator
    X : ndarray or CSR array of shape (n_samples, n_features)
    weight : ndarray of shape (n_samples,)
        Weights of the rows, without those of the classes.
    coef : ndarray of shape (M, size)
        Coefficients, and the intercept if there is one.
    classes : list of length n_scores
        Names of the classes; None is the class of rows without a label.
    feature_names : list of length size
        Names of the features, and "intercept".
    """

    def __init__(
        self, model, X, sample_weight=None, available=None, offset=None, names=None
    ):
        self.model, given = model, X
        refuse_dask("X", X)
        with naming("X", X):
            refuse_unreadable_numbers(X)
            X = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
        if X.shape[1] != model.n_features_in_:
            raise ValueError(
                f"X must have {model.n_features_in_} features, as in fit; got "
                f"{X.shape[1]}."
            )
        if hasattr(given, "columns"):
            validate_data(model, given, reset=False, skip_check_array=True)
        self.polytope = model.mapping_.traits.polytope
        self.are_labels = model.target_type_ == "class"
        self.classes = plain_names(model.classes_) + [None] * model.has_none_class_
        self.n_scores, n_classes = len(self.classes), len(model.classes_)
        self.weight = check_sample_weight(sample_weight, X)
        self._offset = self._available = None
        offset, available = (
            in_order(name, a, model.classes_, are_labels=self.are_labels)
            for name, a in (("offset", offset), ("available", available))
        )
        if offset is not None:
            is_pair = self.n_scores == 2 and self.polytope == "simplex"
            self._offset = check_offset(offset, X.shape[0], n_classes, is_pair, float)
        if available is not None:
            self._available = check_available(available, (X.shape[0], n_classes))
        if names is None:
            names = [f"x{j}" for j in range(X.shape[1])]
        self.X, self.has_intercept = X, has_intercept(model)
        self.feature_names = [*names, *["intercept"] * self.has_intercept]
        self.coef = coefficients_of(model)

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

    def keep(self, rows):
        """Leave out all but these rows."""
        self.X, self.weight = self.X[rows], self.weight[rows]
        self._offset, self._available = (
            None if a is None else a[rows] for a in (self._offset, self._available)
        )

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
        if self._offset is not None:
            scores[:, : self._offset.shape[1]] += self._offset[rows]
        if self._available is not None:
            part = scores[:, : self._available.shape[1]]
            part[~self._available[rows]] = -np.inf
        return scores

    def available(self, rows):
        """Which classes some rows have, of shape (n_rows, n_scores); None for all."""
        if self._available is None:
            return None
        available = self._available[rows]
        padding = [(0, 0), (0, self.n_scores - available.shape[1])]
        return np.pad(available, padding, constant_values=True)
