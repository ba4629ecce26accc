"""The number of possible classes in the predictions of many rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ..._utils.checks import are_labels, as_real, in_order, lined_up
from ..._utils.fitted import class_probabilities, predict_by
from ..._utils.typing import Array, ArrayLike, Axes, MatrixLike
from .._matplotlib import POSSIBLE, PREDICTED, axes_for
from ._input import indicator_of


class SupportSizeDisplay:
    """Histogram of the number of possible classes over the rows of a data set.

    A class is possible if its probability is positive. For label sets and distributions
    the same axes have histograms of the number of predicted classes and of true
    classes, if these are given. For labels with given truth, rows with right and with
    wrong predictions have separate histograms: a good model has more possible classes
    in rows with wrong predictions. The title has the share of rows whose true classes
    are all possible.

    Use :meth:`from_estimator` or :meth:`from_predictions` to make one.

    Parameters
    ----------
    sizes : dict of str to ndarray
        The number of classes in each row: "possible" for all rows and, where they are
        known, "predicted" and "true"; for labels, the number of possible classes of the
        rows that are predicted "right" and "wrong".
    coverage : float, default=None
        The proportion of rows whose true classes are all possible, if the truth is
        known.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes with the histograms. This attribute and the next two are set by
        :meth:`plot`.
    figure_ : matplotlib Figure
        The figure of the axes.
    steps_ : list of matplotlib StepPatch
        The histograms, in the order of ``sizes``.

    See Also
    --------
    PredictionDisplay : Which classes are possible in one row.
    skprob.metrics.mean_support_size : The mean.

    Examples
    --------
    >>> from skprob.inspection import SupportSizeDisplay
    >>> display = SupportSizeDisplay.from_predictions(
    ...     [[0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [0.0, 1.0, 0.0]],
    ...     y_true=[[1, 0, 0], [0, 1, 1], [0, 1, 0]],
    ... )
    >>> display.sizes["possible"]
    array([2, 3, 1])
    >>> display.steps_[0].get_data().values.round(2)  # share of the rows by size
    array([0.  , 0.33, 0.33, 0.33])
    >>> display.ax_.get_title()
    'all true classes possible in 100 % of the rows'

    Of labels:

    >>> from sklearn.datasets import load_iris
    >>> from skprob import SparsemaxClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SparsemaxClassifier().fit(X, y)
    >>> display = SupportSizeDisplay.from_estimator(model, X, y)
    >>> {name: round(float(sizes.mean()), 1) for name, sizes in display.sizes.items()}
    {'possible': 1.4, 'right': 1.4, 'wrong': 2.0}
    """

    def __init__(
        self, *, sizes: dict[str, Array], coverage: float | None = None
    ) -> None:
        self.sizes = sizes
        self.coverage = coverage

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: MatrixLike | None = None,
        *,
        ax: Axes | None = None,
        **params: Any,
    ) -> Self:
        """Plot the sizes for the predictions of a fitted classifier.

        Parameters
        ----------
        estimator : estimator
            Fitted to labels, label sets or distributions; also a pipeline or a search.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like or sparse matrix, default=None
            The truth: labels of shape (n_samples,), or an indicator of 0 and 1 or
            distributions of shape (n_samples, n_classes).
        ax : matplotlib Axes, default=None
            The axes to draw on; None makes a new figure.
        **params : dict
            Arguments of the predictions about these rows, such as ``available`` and
            ``offset``.

        Returns
        -------
        display : SupportSizeDisplay

        Raises
        ------
        ValueError
            If X or y are not allowed.
        NotFittedError
            If the estimator is not fitted.
        """
        check_is_fitted(estimator)
        predicted = predict_by("predict", estimator, X, **params)
        given = {}
        if predicted.ndim == 2:
            given = {"predicted": predicted}
        elif are_labels(y, "y"):
            given = {"predicted": predicted, "classes": estimator.classes_}
        # A model that predicts labels only has no support sizes.
        p = class_probabilities(estimator, X, **params)
        y = in_order("y", y, getattr(estimator, "classes_", []))
        return cls.from_predictions(p, y_true=y, ax=ax, **given)

    @classmethod
    def from_predictions(
        cls,
        probabilities: ArrayLike,
        *,
        predicted: MatrixLike | None = None,
        y_true: MatrixLike | None = None,
        classes: ArrayLike | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Plot the sizes for predictions.

        Parameters
        ----------
        probabilities : {array-like, sparse matrix} of shape (n_samples, n_classes)
            The probabilities; non-negative.
        predicted : {array-like, sparse matrix} of that shape, or (n_samples,), \
                default=None
            1 for the predicted classes, 0 for the others; or the predicted labels, if
            ``y_true`` is labels, where None stands for the most probable labels.
        y_true : {array-like, sparse matrix} of that shape, or (n_samples,), \
                default=None
            The truth, as an indicator of 0 and 1, as distributions, or as labels.
        classes : array-like of shape (n_classes,), default=None
            The labels of the columns. None stands for the names of a DataFrame, or for
            the numbers of the columns.
        ax : matplotlib Axes, default=None
            The axes to draw on; None makes a new figure.

        Returns
        -------
        display : SupportSizeDisplay

        Raises
        ------
        ValueError
            If an array has no rows or another shape, or holds anything but non-negative
            numbers.
        """
        is_labels = are_labels(y_true, "y_true")
        classes, (y_true, predicted, probabilities) = lined_up(
            classes,
            are_labels=is_labels,
            y_true=y_true,
            predicted=predicted,
            probabilities=probabilities,
        )
        if not sparse.issparse(probabilities):
            probabilities = np.atleast_2d(as_real("probabilities", probabilities))
        shape = probabilities.shape
        if shape[0] == 0:
            raise ValueError(
                f"probabilities must have one row or more; got shape {shape}."
            )
        possible = _indicator("probabilities", probabilities, shape)
        sizes, coverage = {"possible": _row_sums(possible)}, None
        if is_labels and (predicted is None or are_labels(predicted, "predicted")):
            if classes is None:
                classes = np.arange(shape[1])
            y_true, predicted = _labels(y_true, predicted, probabilities, classes)
            right = y_true == predicted
            true = indicator_of("y_true", y_true, classes) > 0
            sizes["right"] = sizes["possible"][right]
            sizes["wrong"] = sizes["possible"][~right]
        else:
            if predicted is not None:
                indicator = _indicator("predicted", predicted, shape)
                sizes["predicted"] = _row_sums(indicator)
            if y_true is not None:
                true = _indicator("y_true", y_true, shape)
                sizes["true"] = _row_sums(true)
        if y_true is not None:
            is_sparse = sparse.issparse(true)
            both = true.multiply(possible) if is_sparse else possible * true
            both = _row_sums(both)
            coverage = float(np.mean(both == _row_sums(true)))
        return cls(sizes=sizes, coverage=coverage).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Plot the histograms.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw on; None makes a new figure.

        Returns
        -------
        self : object
        """
        self.ax_ = axes_for(type(self).__name__, ax)
        self.figure_ = self.ax_.figure
        n_rows, largest = len(self.sizes["possible"]), 0
        for sizes in self.sizes.values():
            largest = max(largest, sizes.max(initial=0))
        edges = np.arange(largest + 2) - 0.5
        self.steps_ = []
        for name, sizes in self.sizes.items():
            shares = np.bincount(sizes, minlength=largest + 1) / n_rows
            label = f"{name}, {sizes.mean():.1f} on average" if len(sizes) else name
            style = _STYLES[name]
            self.steps_.append(self.ax_.stairs(shares, edges, label=label, **style))
        if self.coverage is not None:
            share = f"{100 * self.coverage:.0f} %"
            title = f"all true classes possible in {share} of the rows"
            self.ax_.set_title(title, fontsize="medium")
        self.ax_.set(xlabel="classes per row", ylabel="share of rows")
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        self.ax_.legend(fontsize="small")
        return self


_STYLES = {
    "possible": {"fill": True, "color": POSSIBLE},
    "predicted": {"color": PREDICTED, "linewidth": 2},
    "true": {"color": "black", "linestyle": "--"},
    "right": {"color": PREDICTED, "linewidth": 2},
    "wrong": {"color": "black", "linestyle": "--"},
}


def _indicator(argument, matrix, shape):
    """Which entries are positive, as booleans of a dense array or a CSR array."""
    if sparse.issparse(matrix):
        matrix = sparse.csr_array(matrix)
        entries = as_real(argument, matrix.data)
    else:
        entries = matrix = as_real(argument, matrix)
    if matrix.shape != shape:
        raise ValueError(
            f"{argument} must be numbers of shape {shape}; got shape {matrix.shape}."
        )
    wrong = entries[~(np.isfinite(entries) & (entries >= 0))]
    if len(wrong):
        raise ValueError(
            f"{argument} must be finite and not negative; got {wrong[0]:.6g}."
        )
    return matrix > 0


def _row_sums(indicator):
    return np.asarray(indicator.sum(axis=1)).ravel()


def _labels(y_true, predicted, probabilities, classes):
    """True and predicted labels; None stands for the most probable ones."""
    if predicted is None:
        predicted = classes[np.asarray(probabilities.argmax(axis=1)).ravel()]
    y_true, predicted = np.asarray(y_true), np.asarray(predicted)
    for name, labels in ("y_true", y_true), ("predicted", predicted):
        if labels.shape != probabilities.shape[:1]:
            raise ValueError(
                f"{name} must be a label for each of the {probabilities.shape[0]} "
                f"rows; got shape {labels.shape}."
            )
    if classes.shape != probabilities.shape[1:]:
        raise ValueError(
            f"classes must be {probabilities.shape[1]} labels, one for each column; "
            f"got shape {classes.shape}."
        )
    return y_true, predicted
