"""How many classes the predictions of many rows leave possible."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse

from .._typing import Array, ArrayLike, Axes, MatrixLike
from ._matplotlib import POSSIBLE, PREDICTED, axes_for


class SupportSizeDisplay:
    """Distribution of the number of possible classes over the rows of a data set.

    A class is possible where its probability is positive. Beside it stand, where they
    are known, the number of classes that are predicted and of those that are true.

    Use :meth:`from_estimator` or :meth:`from_predictions` to make one.

    Parameters
    ----------
    sizes : dict of str to ndarray of shape (n_samples,)
        For "possible" and, where they are known, "predicted" and "true", the number of
        classes in each row.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the histograms are; after :meth:`plot`, as are the next two.
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
    """

    def __init__(self, *, sizes: dict[str, Array]) -> None:
        self.sizes = sizes

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: MatrixLike | None = None,
        *,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the sizes of a fitted classifier's predictions.

        Parameters
        ----------
        estimator : estimator
            Fitted to labels, label sets or distributions; also a pipeline or a search.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like or sparse matrix of shape (n_samples, n_classes), default=None
            The truth, as an indicator of 0 and 1 or as distributions.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : SupportSizeDisplay

        Raises
        ------
        ValueError
            If X or y are not allowed.
        """
        predicted = estimator.predict(X)
        return cls.from_predictions(
            estimator.predict_proba(X),
            # A single class for each row is nothing to draw.
            predicted=None if predicted.ndim == 1 else predicted,
            y_true=y,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        probabilities: ArrayLike,
        *,
        predicted: MatrixLike | None = None,
        y_true: MatrixLike | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the sizes of predictions.

        Parameters
        ----------
        probabilities : {array-like, sparse matrix} of shape (n_samples, n_classes)
            Rows on the probability simplex.
        predicted : {array-like, sparse matrix} of that shape, default=None
            Which classes are predicted, as 0 and 1.
        y_true : {array-like, sparse matrix} of that shape, default=None
            The truth, as an indicator of 0 and 1 or as distributions.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : SupportSizeDisplay

        Raises
        ------
        ValueError
            If an array has another shape, or holds anything but non-negative numbers.
        """
        if not sparse.issparse(probabilities):
            probabilities = np.atleast_2d(probabilities)
        shape = probabilities.shape
        given = {
            "probabilities": probabilities,
            "predicted": predicted,
            "y_true": y_true,
        }
        sizes = {
            name: _sizes(argument, given[argument], shape)
            for name, argument in _NAMES.items()
            if given[argument] is not None
        }
        return cls(sizes=sizes).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the histograms.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        self : object
        """
        self.ax_ = axes_for(type(self).__name__, ax)
        self.figure_ = self.ax_.figure
        largest = max(sizes.max() for sizes in self.sizes.values())
        edges = np.arange(largest + 2) - 0.5
        self.steps_ = []
        for name, sizes in self.sizes.items():
            shares = np.bincount(sizes, minlength=largest + 1) / len(sizes)
            label = f"{name}, {sizes.mean():.1f} on average"
            look = _LOOKS[name]
            self.steps_.append(self.ax_.stairs(shares, edges, label=label, **look))
        self.ax_.set(xlabel="classes per row", ylabel="share of rows")
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        self.ax_.legend(fontsize="small")
        return self


_NAMES = {"possible": "probabilities", "predicted": "predicted", "true": "y_true"}
_LOOKS = {
    "possible": {"fill": True, "color": POSSIBLE},
    "predicted": {"color": PREDICTED, "linewidth": 2},
    "true": {"color": "black", "linestyle": "--"},
}


def _sizes(argument, matrix, shape):
    """Number of positive entries in each row."""
    matrix = sparse.csr_array(matrix) if sparse.issparse(matrix) else np.asarray(matrix)
    entries = matrix.data if sparse.issparse(matrix) else matrix
    if matrix.shape != shape or entries.dtype.kind not in "biuf":
        raise ValueError(
            f"{argument} must be numbers of shape {shape}; got {matrix.dtype} of "
            f"shape {matrix.shape}."
        )
    if not (np.isfinite(entries) & (entries >= 0)).all():
        raise ValueError(f"{argument} must be finite and not negative.")
    return np.asarray((matrix > 0).sum(axis=1)).ravel()
