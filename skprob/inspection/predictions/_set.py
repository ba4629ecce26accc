"""Coverage against size of predicted sets, by class and by size."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ..._utils.arrays import dense
from ..._utils.checks import (
    are_labels,
    as_dense,
    check_indicator,
    fill_unknown,
    in_order,
    is_number,
    lined_up,
)
from ..._utils.fitted import last_step, predicted_sets
from ..._utils.typing import Array, ArrayLike, Axes, MatrixLike
from .._input import check_count
from .._matplotlib import POSSIBLE, PREDICTED, grid_of_axes, legend_below, text_of
from ._groups import Group, groups_of
from ._input import indicator_of


class SetDisplay:
    """Coverage against size of predicted sets, by class and by size.

    On the left is a point for each class: the mean size of the sets of its rows, and
    the share of these sets that contain the class. On the right are the sizes that
    occur: a bar for the share of the rows, and the share of the sets of this size that
    contain the truth. Lines show 95 % intervals for new rows, and the dashed line the
    requested coverage. A guarantee for all rows holds neither for each class
    nor for each size.

    For label sets, the coverage of a label is the share of its rows whose set has it,
    and the coverage by size is the mean recall of the rows, without intervals.

    Use :meth:`from_estimator` or :meth:`from_predictions` to make one.

    Parameters
    ----------
    by_class : list of Group
        The classes that have rows, in the order of the classes.
    by_size : list of Group
        The sizes that occur, from the smallest.
    coverage : float or None
        The requested coverage.

    Attributes
    ----------
    ax_ : list of two matplotlib Axes
        The axes by class and by size, set by :meth:`plot`.
    figure_ : matplotlib Figure
        The figure of the axes.

    See Also
    --------
    skprob.decision.ConformalSets : Sets with a chosen coverage.
    SupportSizeDisplay : How many classes have a positive probability.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from skprob import SoftmaxClassifier
    >>> from skprob.decision import ConformalSets
    >>> from skprob.inspection import SetDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> X = X / 16
    >>> model = ConformalSets(SoftmaxClassifier(), coverage=0.98).fit(X[:900], y[:900])
    >>> display = SetDisplay.from_estimator(model, X[900:], y[900:])
    >>> for group in display.by_size[:3]:
    ...     print(f"{group.n_rows} sets of {group.name}: {group.coverage:.2f}")
    728 sets of 1: 0.99
    114 sets of 2: 0.91
    40 sets of 3: 0.90
    >>> worst = min(display.by_class, key=lambda group: group.coverage)
    >>> print(f"digit {worst.name}: {worst.coverage:.2f}")
    digit 1: 0.91
    """

    def __init__(
        self, *, by_class: list[Group], by_size: list[Group], coverage: float | None
    ) -> None:
        self.by_class = by_class
        self.by_size = by_size
        self.coverage = coverage

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: MatrixLike,
        *,
        max_names: int = 30,
        ax: Axes | None = None,
        **params: Any,
    ) -> Self:
        """Plot the sets of a fitted classifier.

        Parameters
        ----------
        estimator : estimator
            With ``predict_set``, such as :class:`~skprob.decision.ConformalSets`, or
            fitted to label sets; also in a pipeline or a search.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that were used neither in the fit nor in the calibration.
        y : array-like or sparse matrix
            Their labels or label sets.
        max_names : int, default=30
            Largest number of classes whose names are written next to their points.
        ax : sequence of two matplotlib Axes, default=None
            The axes to draw on; None makes a new figure.
        **params : dict
            Arguments of ``predict_set`` about these rows, such as ``available`` and
            ``offset``.

        Returns
        -------
        display : SetDisplay

        Raises
        ------
        ValueError
            If the estimator has no sets, or X or y are not allowed.
        NotFittedError
            If the estimator is not fitted.
        """
        check_is_fitted(estimator)
        model, classes = last_step(estimator), estimator.classes_
        return cls.from_predictions(
            predicted_sets(estimator, X, **params),
            in_order("y", y, classes),
            # Some classifiers have a list with the values of each label.
            classes=None if isinstance(classes, list) else classes,
            coverage=getattr(model, "coverage_", None),
            max_names=max_names,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        sets: MatrixLike,
        y_true: MatrixLike,
        *,
        classes: ArrayLike | None = None,
        coverage: float | None = None,
        max_names: int = 30,
        ax: Axes | None = None,
    ) -> Self:
        """Plot predicted sets.

        Parameters
        ----------
        sets : array-like or sparse matrix of shape (n_samples, n_classes)
            0/1 indicator of the sets. Columns of DataFrames are matched by name.
        y_true : array-like or sparse matrix
            Labels of shape (n_samples,), or a 0/1 indicator of label sets of the shape
            of `sets`. Labels that are not known, NaN, are left out.
        classes : array-like of shape (n_classes,), default=None
            Names of the columns. None stands for the names of a DataFrame, or for the
            numbers of the columns.
        coverage : float, default=None
            The requested coverage, between 0 and 1.
        max_names : int, default=30
            Largest number of classes whose names are written next to their points.
        ax : sequence of two matplotlib Axes, default=None
            The axes to draw on; None makes a new figure.

        Returns
        -------
        display : SetDisplay

        Raises
        ------
        ValueError
            If an argument is none of the above.
        """
        if coverage is not None and not (is_number(coverage) and 0 < coverage < 1):
            raise ValueError(f"coverage must be between 0 and 1; got {coverage!r}.")
        is_labels = are_labels(y_true, "y_true")
        classes, (y_true, sets) = lined_up(
            classes, are_labels=is_labels, y_true=y_true, sets=sets
        )
        sets = _checked("sets", sets)
        if classes is None:
            classes = np.arange(sets.shape[1])
        if classes.shape != sets.shape[1:]:
            raise ValueError(
                f"classes must be {sets.shape[1]} names, one for each column of sets; "
                f"got shape {classes.shape}."
            )
        if is_labels:
            y_true = indicator_of("y_true", y_true, classes)
        true = _checked("y_true", _known_labels(y_true))
        if true.shape != sets.shape:
            raise ValueError(
                f"y_true must have a row for each of the {len(sets)} sets; got shape "
                f"{true.shape}, for sets of shape {sets.shape}."
            )
        by_class, by_size = groups_of(sets, true, classes, is_labels)
        display = cls(by_class=by_class, by_size=by_size, coverage=coverage)
        return display.plot(ax, max_names=max_names)

    def plot(self, ax: Axes | None = None, *, max_names: int = 30) -> Self:
        """Plot the points and bars.

        Parameters
        ----------
        ax : sequence of two matplotlib Axes, default=None
            The axes to draw on; None makes a new figure.
        max_names : int, default=30
            Largest number of classes whose names are written next to their points.

        Returns
        -------
        self : object
        """
        check_count("max_names", max_names, 0)
        self.ax_ = grid_of_axes(
            type(self).__name__,
            ax,
            2,
            most_columns=2,
            size=(4, 3.4),
            allowed="two axes, by class and by size",
        )
        self.figure_ = self.ax_[0].figure
        left, right = self.ax_
        _draw_coverage(left, self.by_class)
        if len(self.by_class) <= max_names:
            for group in self.by_class:
                left.annotate(
                    text_of(group.name),
                    (group.size, group.coverage),
                    xytext=(4, 3),
                    textcoords="offset points",
                    fontsize="small",
                )
        n_rows = sum(group.n_rows for group in self.by_size)
        sizes = [group.name for group in self.by_size]
        shares = [group.n_rows / n_rows for group in self.by_size]
        right.bar(sizes, shares, color=POSSIBLE, label="share of rows")
        _draw_coverage(right, self.by_size)
        left.set(xlabel="mean size of the sets", ylabel="coverage", title="by class")
        right.set(xlabel="size of the set", ylim=(0, 1.04), title="by size")
        legend_below(right)
        right.xaxis.get_major_locator().set_params(integer=True)
        if self.coverage is not None:
            for panel in self.ax_:
                panel.axhline(self.coverage, color="black", linestyle="--", linewidth=1)
        return self


def _draw_coverage(ax, groups):
    """Points with the interval of each."""
    size, coverage, low, high = np.array([group[2:] for group in groups]).T
    # By rounding, a share may be outside of its interval.
    lengths = np.maximum([coverage - low, high - coverage], 0)
    ax.errorbar(
        size,
        coverage,
        yerr=np.nan_to_num(lengths),
        color=PREDICTED,
        fmt="o",
        markersize=4,
        linewidth=1,
        label="coverage",
    )


def _known_labels(y):
    """Label sets with zeros for labels that are not known, NaN."""
    y = sparse.csr_array(y) if sparse.issparse(y) else as_dense("y_true", y)
    return fill_unknown(y)[0]


def _checked(name, indicator) -> Array:
    """A 0/1 indicator as a dense array of booleans."""
    indicator = as_dense(name, dense(indicator))
    check_indicator(name, indicator)
    return indicator.astype(bool)
